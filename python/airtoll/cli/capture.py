"""``airtoll capture report FILE...``: the cost of security on a captured network.

Takes pcap and pcapng files and keys; gives a summary, JSON, CSV or an HTML page on stdout, and
Parquet rows in the observation schema. Of a damaged file the part before the damage is read; the
place is printed on stderr. ``watch`` prints the joins of a capture that is being written.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from attrs import frozen

from airtoll.analyse.captured import take_apart
from airtoll.border.answers import Damage, SessionReport, SkippedKey
from airtoll.capture import (
    CaptureReport,
    Selection,
    Window,
    capture_report,
    observations,
    page,
    wanted_keys,
    watch_capture,
    write_capture_report,
)
from airtoll.capture.networks import access_points
from airtoll.cli import streams
from airtoll.cli.capture_example import example
from airtoll.cli.capture_text import leave_in_words, summarise, time_of_day, told
from airtoll.cli.options import command
from airtoll.cli.output import emit_json, err, json_text, out, table
from airtoll.cli.places import named
from airtoll.errors import CaptureError, UsageError
from airtoll.observe.spreadsheet import cell
from airtoll.observe.tables import is_observations, put_table
from airtoll.present.captured import compared, part_label, security_label
from airtoll.testbeds.example import AIR, KEYS

app = typer.Typer(help="Read captures of real networks.", no_args_is_help=True)
app.command("example")(example)

_CSV = (
    "station",
    "bssid",
    "ssid",
    "akm",
    "cipher",
    "group_cipher",
    "pmf",
    "eap_method",
    "tls_version",
    "outcome",
    "reason",
    "seen",
    "at_s",
    "time_utc",
    "file",
    "frame",
    "last_frame",
    "join_time_s",
    "time_to_data_s",
    "time_to_answer_s",
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "four_way_time_s",
    "negotiation_time_s",
    "messages",
    "messages_by_kind",
)
#: Sessions in the text and on the page, unless `--top` says otherwise.
_SHOWN_SESSIONS = 40


@app.callback()
def root() -> None:
    """Read captures of real networks."""


@frozen(kw_only=True)
class ReportOptions:
    """Options of ``airtoll capture report``."""

    files: Annotated[
        list[str], typer.Argument(help="pcap or pcapng, plain, gzip or zstd; - is stdin.")
    ]
    key: Annotated[
        list[str] | None,
        typer.Option(
            help="wpa-pwd:PASS:SSID (percent-escapes allowed), wpa-psk:HEX, pmk:HEX, msk:HEX, "
            "tk:HEX or wep:HEX; may be repeated."
        ),
    ] = None
    keys: Annotated[
        list[Path] | None,
        typer.Option(parser=named("--keys"), help="File with one key a line; may be repeated."),
    ] = None
    station: Annotated[
        list[str] | None, typer.Option(help="Only this station (MAC address); may be repeated.")
    ] = None
    ap: Annotated[list[str] | None, typer.Option(help="Only this AP (BSSID); may be repeated.")] = (
        None
    )
    ssid: Annotated[list[str] | None, typer.Option(help="Only this network; may be repeated.")] = (
        None
    )
    slowest: Annotated[
        bool, typer.Option("--slowest", help="The longest joins first, not the first ones.")
    ] = False
    top: Annotated[
        int | None,
        typer.Option(min=0, help="List so many sessions; 40 in text and page by default."),
    ] = None
    since: Annotated[
        float | None, typer.Option(help="Count from so many seconds into the capture on.")
    ] = None
    until: Annotated[
        float | None, typer.Option(help="Count up to so many seconds into the capture.")
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False
    csv_: Annotated[bool, typer.Option("--csv", help="Print one line a session.")] = False
    html: Annotated[bool, typer.Option("--html", help="Print a page with pictures.")] = False
    parquet: Annotated[
        Path | None,
        typer.Option(parser=named("--parquet"), help="Write rows in the observation schema there."),
    ] = None


@app.command("report")
@command
def report_command(options: ReportOptions) -> None:
    """The cost of security on a captured network, and how long its clients took to get in."""
    if options.json + options.csv_ + options.html > 1:
        raise UsageError("--json, --csv and --html exclude each other: give one")
    if options.files.count("-") > 1:
        raise UsageError("-: standard input can be read once")
    _refuse_mixed(options.files)
    given = (options.files, options.key or [], options.keys or [])
    window = Window(options.since, options.until, relative=True)
    chosen = Selection(
        options.station or (), options.ap or (), options.ssid or (), options.slowest, options.top
    )
    if options.json and options.parquet is None:
        said = write_capture_report(sys.stdout.buffer, *given, window=window, selection=chosen)
        sys.stdout.buffer.write(b"\n")
        say_damage(said.damages)
        say_skipped(said.skipped_keys)
        return
    if not options.html:
        chosen = replace(chosen, steps=False)
    if options.parquet is None and not (options.csv_ or options.top is not None):
        chosen = replace(chosen, most=_SHOWN_SESSIONS)
    if (
        options.parquet is not None
        and options.parquet.exists()
        and not is_observations(options.parquet)
    ):
        raise UsageError(
            f"{options.parquet}: exists, and is no table of observations; name another file"
        )
    report = capture_report(*given, window=window, selection=chosen)
    if options.parquet is not None:
        put_table(observations(report), options.parquet)
    if options.json:
        sys.stdout.write(json_text(report.data) + "\n")
    elif options.csv_:
        _write_csv(report)
    elif options.html:
        sys.stdout.write(page(report))
    else:
        summarise(report)
    say_damage(report.data["damages"])
    say_skipped(report.data["skipped_keys"])


def _refuse_mixed(files: list[str]) -> None:
    """Refuse captures of one time that show one AP with different security: joins would mix."""
    if len(files) < 2 or "-" in files:
        return
    seen: list[tuple[str, float, float, dict[str, set[str]]]] = []
    for file in files:
        try:
            report = capture_report([file], selection=Selection(steps=False))
        except CaptureError:
            # The report of all files says why this one is not read.
            continue
        start, security = report.data["start_s"], _security(report)
        if start is None or not security:
            continue
        end = start + report.data["duration_s"]
        for other, began, ended, before in seen:
            for bssid in sorted(set(security) & set(before)):
                if began < end and start < ended and not security[bssid] & before[bssid]:
                    raise UsageError(
                        f"{other} and {file} overlap in time, and {bssid} has "
                        f"{'/'.join(sorted(before[bssid]))} in one and "
                        f"{'/'.join(sorted(security[bssid]))} in the other: as one capture their "
                        "joins would mix; report each alone, or use airtoll capture compare"
                    )
        seen.append((file, start, end, security))


def _security(report: CaptureReport) -> dict[str, set[str]]:
    """AP -> AKMs of its beacons and sessions; ``open`` for a network without one."""
    found: dict[str, set[str]] = {}
    for ap in report.data["access_points"]:
        akms = set(ap["akms"]) or ({"open"} if "open" in ap["ciphers"] else set())
        if akms:
            found.setdefault(ap["bssid"], set()).update(akms)
    for session in report.sessions:
        if session["akm"] is not None:
            found.setdefault(session["bssid"], set()).add(session["akm"])
    return found


@app.command("watch")
def watch_command(
    file: Annotated[
        str, typer.Argument(help="A capture that is being written; - is standard input.")
    ] = "-",
    key: Annotated[list[str] | None, typer.Option(help="As for `report`.")] = None,
    keys: Annotated[
        list[Path] | None, typer.Option(parser=named("--keys"), help="As for `report`.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """One line for each join, when it ends: `ssh ap tcpdump -U -w - ... | airtoll capture watch -`.

    The capture is read once, so that frames before their key stay closed.
    """

    def tell(session: SessionReport) -> None:
        line = json_text(session) if json else told(session)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        if streams.reader_gone():
            raise BrokenPipeError

    try:
        report = watch_capture(file, tell, key or [], keys or [])
    except BrokenPipeError:
        return
    say_damage(report.data["damages"])
    say_skipped(report.data["skipped_keys"])
    for leave in report.data["leaves"]:
        if leave["to_all"]:
            err().print(leave_in_words(leave), markup=False)


@frozen(kw_only=True)
class CompareOptions:
    """Options of ``airtoll capture compare``."""

    baseline: Annotated[
        str, typer.Argument(help="Capture without security, or a folder of `capture example`.")
    ]
    secured: Annotated[str, typer.Argument(help="Capture of the same traffic with it.")]
    key: Annotated[list[str] | None, typer.Option(help="As for `report`.")] = None
    keys: Annotated[
        list[Path] | None, typer.Option(parser=named("--keys"), help="As for `report`.")
    ] = None
    definition: Annotated[str, typer.Option(help="of_baseline or of_secured.")] = "of_baseline"
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False


@app.command("compare")
@command
def compare_command(options: CompareOptions) -> None:
    """Take the difference between two captures apart: where the air went, per bit of payload.

    Time that no frame carries (back-off, spaces, hosts) is one remainder. Both captures should hold
    the traffic and little else. Where protected frames stay closed, both captures are compared by
    the octets of plaintext, which follow from the cipher that beacons or associations name.
    """
    if options.definition not in ("of_baseline", "of_secured"):
        raise UsageError(f"--definition {options.definition}: of_baseline or of_secured")
    folders = [Path(one) for one in (options.baseline, options.secured) if Path(one).is_dir()]
    keys = [folder / KEYS for folder in folders if (folder / KEYS).is_file()]
    given = options.key or [], [*(options.keys or []), *keys]
    if Path(options.baseline).resolve() == Path(options.secured).resolve():
        raise UsageError(f"{options.baseline} is named twice: name two captures")
    first, second = (
        capture_report([_air(one)], *given) for one in (options.baseline, options.secured)
    )
    found = take_apart(
        first, second, "of_baseline" if options.definition == "of_baseline" else "of_secured"
    )
    for report in (first, second):
        say_damage(report.data["damages"])
    say_skipped(second.data["skipped_keys"])
    answer = compared(found, _announced(first), _announced(second))
    if options.json:
        fields = ("baseline_bps", "secured_bps", "overhead", "definition", "compared_by", "closed")
        plain = {name: getattr(found, name) for name in fields}
        emit_json({**plain, "answer": answer, "parts": found.parts.to_dicts()})
        return
    console = out()
    for line in answer:
        console.print(line, markup=False)
    for path, report in ((options.baseline, first), (options.secured, second)):
        for line in _closed(path, report):
            console.print(line, markup=False)
    of = "first" if found.definition == "of_baseline" else "second"
    title = f"where it goes, in points of the {of} capture's rate"
    view = table(title, ["part", "points", "what it is"], right=["points"])
    for row in found.parts.iter_rows(named=True):
        view.add_row(part_label(row["part"]), f"{100 * row['value']:+.2f}", row["meaning"])
    console.print(view)


def _air(path: str) -> str:
    """The capture of the air in a folder of `capture example`; of a file, the file."""
    inside = Path(path) / AIR
    return str(inside) if inside.is_file() else path


def _announced(report: CaptureReport) -> str | None:
    """Security of the access point with most frames, among those that announce it."""
    announced = [ap for ap in access_points(report) if ap.security is not None]
    return security_label(announced[0].security) if announced else None


def _closed(path: str, report: CaptureReport) -> list[str]:
    """Sentences on the frames that stay closed, and on the keys that open them."""
    ciphers = report.data["closed_ciphers"]
    if not ciphers:
        return []
    frames = ", ".join(f"{count} {cipher}" for cipher, count in ciphers.items())
    line = (
        f"{path}: protected frames that stay closed are counted by their octets without those of "
        f"their cipher ({frames}); LLC, IP and transport headers count as plaintext on both sides"
    )
    return [line, *wanted_keys(report.data)]


def say_skipped(skipped: list[SkippedKey]) -> None:
    """Print the rows of key logs that were left out."""
    for row in skipped:
        err().print(f"{row['file']}: line {row['line']} is left out: {row['what']}", markup=False)


def say_damage(damages: list[Damage]) -> None:
    """Print where files broke."""
    for damage in damages:
        err().print(
            f"{damage['file']}: broken at octet {damage['offset']}, after "
            f"{damage['after_frames']} frames: {damage['what']}",
            markup=False,
        )


def _write_csv(report: CaptureReport) -> None:
    writer = csv.DictWriter(sys.stdout, _CSV, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for session in report.sessions:
        counts = session["messages"]
        row = {
            **session,
            "time_utc": time_of_day(session["unix_s"], date=True),
            "messages": sum(counts.values()),
            "messages_by_kind": "; ".join(f"{kind} {n}" for kind, n in counts.items()),
        }
        writer.writerow({key: cell(value) for key, value in row.items()})
