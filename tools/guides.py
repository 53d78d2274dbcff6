"""Write the outputs that the guides show, or with --check compare them.

A block of commands (indented, each beginning with ``airtoll``) that stands before a fenced block
without a language is run, in one temporary folder for each page, and its output is written into the
fenced block. Comments in a page say more:

    <!-- file: NAME -->     the fenced block after it is written to that file
    <!-- shown: PARTS -->   parts of the output: ``first 3``, or beginnings of lines with | between
    <!-- table: NAME -->    a table of ``TABLES`` below, up to <!-- end of table -->

A block that no command gives is introduced by a sentence with the word "example". With --check the
pages stay as they are, and those out of date are named. Names of pages limit both.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import polars as pl

from airtoll.analyse.quantities import show_overhead
from airtoll.analyse.symbols import full_frame
from airtoll.observe.metrics import OVERHEAD
from airtoll.report.answer import readings
from airtoll.report.summary import RunSummary, summarise
from airtoll.run import run

ROOT = Path(__file__).resolve().parents[1]
GUIDES = ROOT / "docs" / "guides"
_COMMAND = re.compile(r"^    airtoll .+$")
_DIRECTIVE = re.compile(r"^<!-- (file|shown): (.+) -->$")
_TABLE = re.compile(r"^<!-- table: ([a-z0-9-]+) -->\n.*?^<!-- end of table -->\n", re.M | re.S)
#: The expected durations depend on the machine.
_VARIES = re.compile(r"about .* on simulator$|up to [0-9.]+ (?:s|min|h);", re.MULTILINE)


def pages(names: Sequence[str] = ()) -> list[Path]:
    """The guides with these names; all without names."""
    return [page for page in sorted(GUIDES.glob("*.md")) if not names or page.stem in names]


def updated(text: str, folder: Path, *, slow: bool = True) -> str:
    """The page with the outputs that its commands give in ``folder``, and with its tables.

    Without ``slow`` the tables of ``SLOW`` stay as they are.
    """
    lines: list[str] = []
    commands: list[str] = []
    directive = ("", "")
    source = iter(text.splitlines())
    for line in source:
        if _COMMAND.match(line):
            commands = [*_commands(line, source, lines)]
            continue
        if found := _DIRECTIVE.match(line):
            directive = (found[1], found[2])
        elif line.startswith("```"):
            content = list(_until_fence(source))
            if directive[0] == "file":
                (folder / directive[1]).write_text("\n".join(content) + "\n", "utf-8")
            elif line == "```" and commands:
                content = _shown(_printed(commands, folder), directive).splitlines()
                commands = []
            directive = ("", "")
            lines += [line, *content]
            line = "```"
        lines.append(line)
    return _TABLE.sub(partial(_with_table, slow=slow), "\n".join(lines) + "\n")


def unexplained(text: str) -> list[str]:
    """Blocks without a command and without the word "example" before them; tables of figures that
    no tool writes.
    """
    found, commands, before = [], False, ""
    source = iter(text.splitlines())
    for line in source:
        if _COMMAND.match(line):
            commands = True
        elif line.startswith("```"):
            content = list(_until_fence(source))
            if line == "```" and not commands and "example" not in before.lower():
                found.append(content[0])
            commands = commands and line != "```"
        elif line and not _DIRECTIVE.match(line):
            before = line
    return found + _tables_of_figures(text)


def _tables_of_figures(text: str) -> list[str]:
    """Tables with a measured figure (a number with a unit) outside of a tool's markers."""
    outside = re.sub(r"<!-- (table|identified): .*?<!-- end of \w+ -->", "", text, flags=re.S)
    figure = re.compile(r"\|[^|]*?\d(?:\.\d+)? (?:%|s|ms|us|MB|Mb/s)[ |]")
    found, before, examples = [], "", False
    for line in outside.splitlines():
        if not line.startswith("|"):
            before, examples = line or before, False
            continue
        examples = examples or "example" in before.lower()
        if figure.search(line) and not examples:
            found.append(line)
    return found


def same(one: str, other: str) -> bool:
    """Whether two versions of a page are equal, apart from what varies between machines."""
    return _VARIES.sub("", one) == _VARIES.sub("", other)


def _commands(first: str, source: Iterator[str], lines: list[str]) -> Iterator[str]:
    """The commands of an indented block; its lines, and the one after them, go to ``lines``."""
    whole = ""
    for line in chain([first], source):
        lines.append(line)
        if not line.startswith("    "):
            return
        whole += line.strip().removesuffix("\\")
        if not line.endswith("\\"):
            yield whole
            whole = ""


def _until_fence(source: Iterator[str]) -> Iterator[str]:
    for line in source:
        if line.startswith("```"):
            return
        yield line


def _printed(commands: Sequence[str], folder: Path) -> str:
    """The output of the last of the commands."""
    return [_run(shlex.split(command, comments=True)[1:], folder) for command in commands][-1]


def _run(arguments: list[str], folder: Path) -> str:
    if arguments[0] == "report":
        arguments = [*arguments, "--format", "markdown"]
    done = subprocess.run(
        [sys.executable, "-m", "airtoll.cli", *arguments],
        cwd=folder,
        # A page is read in a window that scrolls: lines are as long as their tables.
        env={**os.environ, "COLUMNS": "1000", "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"airtoll {shlex.join(arguments)}: {done.stderr}")
    text = done.stdout
    if arguments[0] in ("check", "plan"):
        text += done.stderr
    elif arguments[0] == "report":
        # The page of a comparison opens with these sentences.
        page = (folder / arguments[1] / "comparison.md").read_text("utf-8")
        text = page.partition("\n|")[0].strip()
    return "\n".join(line.rstrip() for line in text.splitlines())


def _shown(text: str, directive: tuple[str, str]) -> str:
    kind, parts = directive
    if kind != "shown":
        return text
    if number := re.fullmatch(r"first (\d+)", parts):
        return "\n".join(text.splitlines()[: int(number[1])])
    starts = tuple(part.strip() for part in parts.split("|"))
    return "\n".join(line for line in text.splitlines() if line.startswith(starts))


def _with_table(found: re.Match[str], *, slow: bool) -> str:
    make = TABLES.get(found[1])
    if make is None or (found[1] in SLOW and not slow):
        return found[0]  # another's: tools/wifi7_pages.py
    return f"<!-- table: {found[1]} -->\n{make()}<!-- end of table -->\n"


def _summary(study: str, values: dict[str, object]) -> RunSummary:
    with tempfile.TemporaryDirectory(prefix="airtoll-guides-") as folder:
        return summarise(run(study, out=Path(folder) / "run", values=values).path)  # type: ignore[arg-type]


def _server() -> str:
    """The time until the last client is on again, by the server's requests per second."""
    summary = _summary("enterprise-move", {"grid.policy": ["wpa2-psk-ccmp", "wpa3-eap-tls-ccmp"]})
    times = {r.cell.name: r.estimate for r in readings(summary, "join_all_time_s")}
    shares = {r.cell.name: r.estimate for r in readings(summary, "joined_ratio")}

    def shown(policy: str, resumed: bool, rate: int) -> str:
        (name,) = (
            cell.name
            for cell in summary.plan.cells
            if cell.policy == policy
            and cell.settings.join.tls_resumption == resumed
            and cell.settings.radius.requests_per_s == rate
        )
        if shares[name].value < 1:
            return f"never: {100 * shares[name].value:.0f} % of the clients join"
        return f"{times[name].value:.1f} s"

    lines = [
        "| requests per second for this cell | WPA2-Personal | WPA3-Enterprise with EAP-TLS "
        "| with remembered TLS sessions |",
        "|---|---|---|---|",
    ]
    for rate in (100, 50, 10):
        cells = [
            shown("wpa2-psk-ccmp", False, rate),
            shown("wpa3-eap-tls-ccmp", False, rate),
            shown("wpa3-eap-tls-ccmp", True, rate),
        ]
        lines.append(f"| {rate} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _symbols() -> str:
    """Section "Why" of quickstart: both ciphers on full frames."""
    summary = _summary("quickstart", {"grid.traffic": ["udp"]})
    columns = ("airtime_security_s", "airtime_mac_phy_s", "airtime_contention_s")
    lines = [
        "| cell | security octets | preambles, padding | medium access | sum |",
        "|---|---|---|---|---|",
    ]
    for policy in ("wpa2-psk-ccmp", "wpa3-sae-gcmp-256"):
        rows = summary.decomposition.filter(pl.col("cell") == f"home/{policy}/udp")
        parts = dict(rows.select("part", "value").iter_rows())
        cells = [f"{100 * parts[name]:+.2f}" for name in columns]
        total = f"{100 * sum(parts.values()):+.2f}"
        lines.append(f"| home/{policy}/udp | {' | '.join(cells)} | {total} |")
    return "\n".join(lines) + "\n"


def _today() -> str:
    """Overheads of the study `today`, in percent, and of the parts of its composed policies."""
    summary = _summary("today", {})
    of_cell = {r.cell.name: r.estimate for r in readings(summary, OVERHEAD)}
    places = [(s, t) for s in ("office", "peers", "abroad") for t in ("udp", "tcp")]
    lines = [
        f"| policy | {' | '.join(f'{scenario}, {traffic}' for scenario, traffic in places)} |",
        "|---|" + "---|" * len(places),
    ]
    for policy in summary.study.grid["policy"]:
        if policy == summary.study.study.baseline:
            continue
        cells = [show_overhead(of_cell[f"{s}/{policy}/{t}"]) for s, t in places]
        lines.append(f"| `{policy}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


#: Links of 802.11n and 802.11ac with two streams: PHY, width in MHz, and settings of the scenario.
_OLDER = (
    ("802.11n", 20, {"mcs": 15}),
    ("802.11n", 40, {"mcs": 15}),
    ("802.11ac", 80, {"mcs": 9, "streams": 2}),
)
_CIPHERS = ("open", "wpa3-sae-ccmp", "wpa3-sae-gcmp-256")


def _older() -> str:
    """Losses of throughput on 802.11n and 802.11ac against WPA2-Personal, by stations."""
    counts = (1, 10)
    columns = " | ".join(f"{n} station{'s' if n > 1 else ''}" for n in counts)
    lines = [f"| PHY | policy | {columns} |", "|---|---|" + "---|" * len(counts)]
    for phy, width, settings in _OLDER:
        # Collisions of stations that send at once would hide differences of 1 %.
        radio = {"phy": phy, "width_mhz": width, "topology": "downlink", **settings}
        values: dict[str, object] = {
            f"scenario.office.{key}": value for key, value in radio.items()
        }
        grid = {
            "grid.scenario": ["office"],
            "grid.traffic": ["udp"],
            "grid.policy": ["wpa2-psk-ccmp", *_CIPHERS],
            "grid.scenario.clients": list(counts),
        }
        summary = _summary("today", {**values, **grid, "question": []})
        of_cell = {r.cell.name: r.estimate for r in readings(summary, OVERHEAD)}
        for policy in _CIPHERS:
            cells = [
                show_overhead(of_cell[cell.name])
                for n in counts
                for cell in summary.plan.cells
                if cell.policy == policy and cell.settings.clients == n
            ]
            lines.append(f"| {phy}, {width} MHz | {policy} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _one_cost() -> str:
    """The cost of WPA2 on one link at 54 Mb/s, with the time that each figure counts against."""
    policies = {"grid.policy": ["open", "wpa2-psk-ccmp"]}
    demo = {
        **policies,
        "grid.scenario": ["single"],
        "grid.profile_set": ["datasheet"],
        "trials.repetitions": 8,
    }
    costs: dict[str, list[str]] = {"udp": [], "tcp": []}
    alone: list[str] = []
    for study, values in (("quickstart", policies), ("tripathi2008", demo)):
        for one in readings(_summary(study, values | {"question": []}), OVERHEAD):
            if one.cell.traffic in costs:
                costs[one.cell.traffic].append(show_overhead(one.estimate))
            if one.cell.traffic == "udp" and (frame := full_frame(one.cell)) is not None:
                security = one.cell.security
                added = frame.step_us(security.octets_per_mpdu + security.octets_per_msdu)
                alone.append(f"{100 * added / frame.airtime_us:.1f} %")
    data = (("the air of the data frames alone", "UDP", alone),)
    whole = (
        ("a whole exchange, with contention and acknowledgement, 388 us", "UDP", costs["udp"]),
        ("the same, with acknowledgements of TCP, which have 16 more octets, too", "TCP",
         costs["tcp"]),
    )  # fmt: skip
    rows = [f"| {what} | {traffic} | {' | '.join(of)} |" for what, traffic, of in (*data, *whole)]
    head = "| 4 us against | traffic | `quickstart` | `make demo`, the air alone |"
    return "\n".join([head, "|---|---|---|---|", *rows]) + "\n"


def _planted() -> str:
    """How often explanations named the mechanism that was planted, as the benchmark recorded it."""
    found = json.loads((ROOT / "benchmarks" / "results" / "explain.json").read_text("utf-8"))
    rows = (
        ("the planted mechanism is first", "first", "80 %"),
        ("first, and the answer says that it fits", "first_and_fits", ""),
        ("among the first two", "first_two", "95 %"),
        ("nothing fits, without the planted mechanism", "nothing_fits_when_left_out", "80 %"),
        (
            "the same, of owners with a capture",
            "nothing_fits_when_left_out_with_capture",
            "",
        ),
        (
            "nothing fits, or several that cannot be told apart",
            "nothing_fits_or_open_when_left_out",
            "",
        ),
        (
            "nothing fits, after two of the measurements that it asks for",
            "nothing_fits_when_left_out_after_asked",
            "",
        ),
    )
    lines = ["| networks | share | goal |", "|---|---|---|"]
    lines += [f"| {words} | {100 * found[key]:.0f} % | {goal} |" for words, key, goal in rows]
    return "\n".join(lines) + "\n"


#: Marker -> the rows of its table.
TABLES: dict[str, Callable[[], str]] = {
    "older": _older,
    "one-cost": _one_cost,
    "planted": _planted,
    "server": _server,
    "symbols": _symbols,
    "today": _today,
}
#: Tables that take ten seconds or more.
SLOW = frozenset({"older", "today"})


def main() -> int:
    """Write the pages, or compare them; 1 if one is out of date."""
    check = "--check" in sys.argv[1:]
    old_ones = []
    for page in pages([name for name in sys.argv[1:] if not name.startswith("-")]):
        old = page.read_text("utf-8")
        with tempfile.TemporaryDirectory(prefix="airtoll-guides-") as folder:
            new = updated(old, Path(folder))
        if same(old, new):
            continue
        old_ones.append(page.name)
        if not check:
            page.write_text(new, "utf-8")
    if check and old_ones:
        sys.stderr.write(f"out of date: {', '.join(old_ones)}; run python tools/guides.py\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
