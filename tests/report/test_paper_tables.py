"""Tables for a paper: rows by policy, printed values beside ours, captions that follow the rows."""

from __future__ import annotations

import csv
import io
import json
import re
from math import nan
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airtoll.analyse import Estimate
from airtoll.cli.app import app
from airtoll.errors import UsageError
from airtoll.report.citation import cited
from airtoll.report.paper_tables import as_csv, paper_tables
from airtoll.report.printed_rows import PrintedRow
from airtoll.report.summary import summarise
from airtoll.report.where import Where
from airtoll.run import run

LEVELS = [
    {"policy": "open", "scenario": "home", "scenario.clients": "5"},
    {"policy": "wpa2-psk-ccmp", "scenario": "home", "scenario.clients": "10"},
    {"policy": "wpa3-sae-ccmp", "scenario": "hall, upstairs", "scenario.clients": "2.5"},
]


@pytest.mark.parametrize(
    ("texts", "rows"),
    [
        ((), [0, 1, 2]),
        (("policy=open",), [0]),
        (("policy=open,wpa2-psk-ccmp",), [0, 1]),
        (("policy=open", "policy=wpa3-sae-ccmp"), [0, 2]),
        # Any name of a policy, a number in any form, a level with a comma in it.
        (("policy=wpa3, wpa2",), [1, 2]),
        (("scenario.clients=5.0,2.50",), [0, 2]),
        (("scenario=hall, upstairs",), [2]),
        (("scenario=HOME", "scenario.clients=10"), [1]),
    ],
)
def test_levels_choose_rows(texts: tuple[str, ...], rows: list[int]) -> None:
    assert Where.of(texts).rows(LEVELS) == rows


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (("polcy=open",), "no such key; did you mean policy; keys are policy, scenario,"),
        (("clients=5",), "did you mean scenario.clients;"),
        (("policy=wpa2-psk-cmp",), "did you mean wpa2-psk-ccmp"),
        (("policy=open,wep",), "--where policy=wep: no such policy; there are open, "),
        (("scenario=upstairs",), "did you mean hall, upstairs; "),
        (("scenario.clients=7",), "there are 5, 10, 2.5"),
        (("policy=open,",), "--where policy=: no such policy"),
        (("policy",), "write KEY=VALUE"),
        (("=open",), "write KEY=VALUE"),
        (("policy=open", "scenario.clients=10"), "no row has all of these levels"),
    ],
)
def test_levels_that_no_row_has_are_refused(texts: tuple[str, ...], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        Where.of(texts).rows(LEVELS)


@pytest.fixture(scope="module")
def paper(everything: type, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper") / "run"
    run("tripathi2008", testbed=everything(), out=folder, trials=6, jobs=1)
    return folder


def called(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def body(text: str) -> list[list[str]]:
    """The rows between \\midrule and \\bottomrule, cell by cell."""
    inside = text.split("\\midrule\n")[1].split("\\bottomrule")[0]
    return [
        [cell.strip() for cell in line.removesuffix(" \\\\").split(" & ")]
        for line in inside.splitlines()
        if line.endswith(" \\\\")
    ]


def heads(text: str) -> list[str]:
    """The headings, whose words may be in several lines."""
    lines = text.split("\\toprule\n")[1].split("\\midrule")[0].splitlines()
    cells = [line.removesuffix(" \\\\").split(" & ") for line in lines]
    return [" ".join(filter(None, map(str.strip, of))) for of in zip(*cells, strict=True)]


def test_a_table_of_the_paper_has_a_row_per_policy_with_every_variant(paper: Path) -> None:
    done = called("compare", paper, "tripathi2008", "--table", "3", "--latex")
    assert done.exit_code == 0, done.output
    tables = done.stdout.split("\\begin{table}")[1:]
    assert len(tables) == 2
    for text in tables:
        assert text.count("{") == text.count("}")
    overheads = next(text for text in tables if "tab:tripathi2008-3-overhead" in text)
    rows = body(overheads)
    policies = [row[0] for row in rows]
    assert len(policies) == len(set(policies)) == 5
    assert "WPA2-Personal, CCMP-128" in policies
    # The same number of trials in every row is in the caption.
    assert heads(overheads) == [
        "policy", "printed (\\%)", "the air alone (\\%)", "frame bursts fitted to open TCP (\\%)",
        "a serial card fitted to one client (\\%)",
    ]  # fmt: skip
    summary = summarise(paper)
    for row in rows:
        (printed, one) = next(
            (one.printed, one)
            for one in summary.comparisons
            if one.table == "3" and one.quantity == "overhead" and row[1] == one.printed
        )
        assert row[1] == printed
        assert f"{100 * one.ours.value:.2f}" in "".join(row[2:5])
        assert "\\pm" in row[2] or "^{+" in row[2]


def test_a_caption_says_cells_trials_intervals_and_formula(paper: Path) -> None:
    done = called(
        "compare", paper, "tripathi2008", "--table", "3", "--where", "quantity=overhead",
        "--where", "profile_set=card", "--latex",
    )  # fmt: skip
    (caption,) = re.findall(r"\\caption\{(.*)\}\n", done.stdout)
    keys = {entry.key for entry in cited(str(paper))}
    assert set(re.findall(r"[\w-]+", " ".join(re.findall(r"\\cite\{([^}]*)\}", caption)))) <= keys
    assert "Throughput overhead of table 3" in caption
    assert "A serial card fitted to one client; one client, UDP." in caption
    assert "1 client" in caption
    assert "5 of 6 by the rule closest to mean" in caption
    assert "Intervals: 95\\,\\% over all 6 trials (Fieller)." in caption
    assert "$(T_1 - T_2)/T_2$" in caption
    assert "T_1$: throughput with Open" in caption
    # One variant has its error beside it.
    assert heads(done.stdout) == ["policy", "printed (\\%)", "ours (\\%)", "error (points)"]


def test_notes_are_below_the_table_with_their_letters(paper: Path) -> None:
    done = called(
        "compare", paper, "tripathi2008", "--where", "table=3", "--where", "quantity=throughput",
        "--latex",
    )  # fmt: skip
    below = done.stdout.split("\\end{tabular}")[1]
    notes = dict(re.findall(r"\\textsuperscript\{(\w)\} (.*?)\.\\par", below))
    said = (
        "not predicted: fitted to the overheads of table 3, single client, not to this throughput"
    )
    (fitted,) = [letter for letter, note in notes.items() if note == said]
    for row in body(done.stdout):
        air, _, card = row[2:5]
        # The card alone is fitted to the overheads of this table.
        assert fitted in re.search(r"textsuperscript\{(.*)\}", card)[1].split(",")
        assert fitted not in re.findall(r"\w", "".join(re.findall(r"textsuperscript\{(.*)\}", air)))


@pytest.mark.thorough
def test_notes_of_columns_that_are_left_out_are_left_out(paper: Path) -> None:
    words = ("compare", paper, "tripathi2008", "--where", "table=3", "--where")
    done = called(*words, "quantity=throughput", "--columns", "printed,the air alone", "--latex")
    above, below = done.stdout.split("\\end{tabular}")
    letters = re.findall(r"\\textsuperscript\{(\w)\}", below)
    marks = ",".join(re.findall(r"textsuperscript\{([\w,]*)\}", above)).split(",")
    assert letters
    assert list(dict.fromkeys(marks)) == letters == list("abcdef"[: len(letters)])
    assert "fitted" not in below


def test_clients_of_one_table_are_groups_of_rows(paper: Path) -> None:
    words = ("compare", paper, "tripathi2008", "--table", "5", "--where", "quantity=throughput")
    done = called(*words, "--latex")
    assert re.findall(r"\\multicolumn\{\d\}\{@\{\}l@\{\}\}\{([^}]*)\}", done.stdout) == [
        "two clients, UDP, total", "two clients, UDP, client A", "two clients, UDP, client C",
    ]  # fmt: skip
    one = called(*words, "--where", "client=C,A", "--latex")
    assert one.stdout.count("\\multicolumn") == 2
    assert "Client C, client A." in one.stdout


def test_csv_has_full_values_and_a_row_per_policy_and_client(paper: Path) -> None:
    done = called("compare", paper, "tripathi2008", "--table", "4", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    keys = [(row["quantity"], row["client"], row["policy"]) for row in rows]
    assert len(keys) == len(set(keys)) == 3 * 6 + 5
    summary = summarise(paper)
    for one in summary.comparisons:
        if one.table != "4":
            continue
        row = rows[keys.index((one.quantity.removesuffix("_bps"), one.client, one.policy))]
        variant = summary.names.level(
            "profile_set", dict(summary.cells[one.cell].factors)["profile_set"]
        )
        assert float(row[f"ours_value ({variant})"]) == one.ours.value
        assert float(row[f"ours_low ({variant})"]) == one.ours.low
        assert float(row["printed_value"]) == one.published.value
        assert (row[f"n ({variant})"], row[f"n_all ({variant})"]) == ("5", "6")


def row(policy: str, variant: str, value: float) -> PrintedRow:
    ours = Estimate(value, value - 1.5e-4, value + 1.5e-4, 0.95, 4, "mean, t", "s")
    return PrintedRow(
        dataset="d", table="1", quantity="response_time_s", policy=policy, place="", client="",
        variant=variant, published=Estimate(5e-3, nan, nan, 0.95, 0, "printed", "s"),
        printed="5.0 ms", ours=ours, n="4", note="", cells=(), levels={},
    )  # fmt: skip


def test_readings_as_an_instrument_shows_them_are_a_column_beside_ours() -> None:
    (table,) = paper_tables(
        [row("open", "", 2e-3), row("wep-104", "", 3e-3), row("open", "as qcheck shows it", 4e-3)]
    )
    assert table.columns == ("policy", "printed", "ours", "as qcheck shows it", "n")
    ((_, texts),) = table.texts()
    assert [text[:4] for text in texts] == [
        ["Open", "5.0 ms", "2.00 ± 0.15 ms", "4.00 ± 0.15 ms"],
        ["WEP-104", "5.0 ms", "3.00 ± 0.15 ms", "–"],
    ]
    head, *rows = csv.reader(io.StringIO(as_csv([table])))
    assert [name for name in head if name.startswith("ours_value")] == [
        "ours_value", "ours_value (as qcheck shows it)",
    ]  # fmt: skip
    assert rows[1][head.index("ours_value (as qcheck shows it)")] == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--latex", "--caption", "All"), "--caption and --label go with one table; these are 8"),
        (("--label", "tab:a"), "--caption and --label go with --latex"),
        (("--csv", "--latex"), "exclude one another"),
        (("--csv", "--columns", "policy"), "(policy, printed, ours, error, n): add --latex"),
        (("--latex", "--columns", "price"), "--columns price: columns are policy, printed"),
        (("--where", "table=9"), "there are 2, 3, 4, 5"),
        (("--where", "clint=A"), "did you mean client"),
    ],
)
def test_what_does_not_fit_is_refused(paper: Path, words: tuple[str, ...], said: str) -> None:
    done = called("compare", paper, "tripathi2008", *words)
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_help_names_the_columns_and_the_terminal_has_the_same(paper: Path) -> None:
    told = " ".join(called("compare", "--help").stdout.split())
    assert "policy, printed, ours, error and n (trials)" in told
    one = ("--table", "2", "--where", "profile_set=card")
    shown = called("compare", str(paper), "tripathi2008", *one).stdout
    assert {"printed", "ours", "error"} <= set(re.findall(r"[a-z]+", shown))
    assert "published" not in shown


def test_the_caption_of_a_table_of_costs_follows_its_rows(paper: Path) -> None:
    def caption(*words: str) -> str:
        done = called("show", paper, "costs", "--latex", *words)
        return re.findall(r"\\caption\{(.*)\}\n", done.stdout)[0]

    whole = caption("--layout", "long")
    assert "1 to 2 clients" in whole
    assert "5 to 10 s a trial" in whole
    one = caption("--where", "scenario=single", "--where", "traffic=udp")
    assert "One client; UDP." in one
    assert "1 client, 5 s a trial" in one
    assert "Overhead: $(T_1 - T_2)/T_2$" in one
    assert "Intervals: 95\\,\\% over all 6 trials (t, Fieller)." in one


def test_the_caption_of_printed_overheads_names_their_method(paper: Path) -> None:
    words = ("--where", "table=3", "--where", "quantity=overhead", "--latex")
    captions = re.findall(r"\\caption\{(.*)\}\n", called("show", paper, "printed", *words).stdout)
    assert captions
    assert all("over all 6 trials (Fieller)." in one for one in captions)


def test_the_terminal_and_json_show_the_chosen_rows(paper: Path) -> None:
    words = ("compare", paper, "tripathi2008", "--where", "policy=wep-40,wep-104", "--where")
    done = called(*words, "quantity=overhead", "--json")
    rows = json.loads(done.stdout)
    assert {row["quantity"] for row in rows} == {"overhead"}
    assert {row["cell"].split("/")[1] for row in rows} == {"wep-40", "wep-104"}
    assert len(rows) == 2 * 3 * 4
    text = called(*words, "quantity=overhead", "--table", "2").stdout
    assert "WEP-104" in text
    assert "TKIP" not in text


@pytest.mark.thorough
def test_a_report_as_text_has_the_chosen_rows(paper: Path) -> None:
    words = ("report", paper, "--out", "-", "--where", "traffic=udp", "--where", "scenario=single")
    done = called(*words, "--where", "policy=open,wep-104", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["policy"] for row in rows} == {"open", "wep-104"}
    assert {row["traffic"] for row in rows} == {"udp"}
    text = called(*words, "--format", "markdown").stdout
    assert "| Open |" in text
    assert "client, TCP" not in text
    assert "| two clients" not in text
    latex = called(*words, "--format", "latex").stdout
    assert "One client; UDP." in latex
    for form in ("html", "json"):
        refused = called(*words, "--format", form)
        assert f"{form} is about the whole run" in str(refused.exception)


def test_advise_decides_on_the_chosen_places(paper: Path) -> None:
    words = ("advise", "--run", paper, "--where", "traffic=udp", "--where", "scenario=single")
    done = called(*words, "--where", "profile_set=card", "--json")
    assert done.exit_code == 0, done.output
    whole = json.loads(done.stdout)
    assert {(row["scenario"], row["traffic"]) for row in whole["advice"]} == {("single", "udp")}
    refused = called("advise", "--run", paper, "--where", "policy=open")
    assert "--policy names the candidates" in str(refused.exception)
    explained = called("explain", paper, "--phy", "802.11g")
    assert "is the folder of a run" in str(explained.exception)


OFFICE = """
[study]
name = "office"
title = "An office"
answers = ["delay_s", "throughput_bps"]
[trials]
repetitions = 5
[scenario.office]
phy = "802.11ax"
stations = [{ name = "A" }, { name = "B" }]
[traffic.udp]
transport = "udp"
offered_mbps = 5
duration_s = 1
[traffic.tcp]
transport = "tcp"
duration_s = 1
[grid]
policy = ["open", "wpa2-psk-ccmp", "wpa3-sae-ccmp", "wpa3-sae-gcmp-256"]
traffic = ["udp", "tcp"]
"""


@pytest.fixture(scope="module")
def office(everything: type, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office")
    (folder / "office.toml").write_text(OFFICE)
    run(folder / "office.toml", testbed=everything(), out=folder / "run", jobs=1)
    return folder / "run"


def test_every_measured_metric_has_its_sentences(office: Path) -> None:
    done = called("show", office, "answers")
    assert done.exit_code == 0, done.output
    names = re.findall(r"^\S.*\((\w+)\)$", done.stdout, re.MULTILINE)
    assert names[:2] == ["delay_s", "throughput_bps"]
    assert {"loss_ratio", "jitter_s", "negotiation_time_s"} <= set(names)
    told = done.stdout.split("throughput (throughput_bps)\n")[1]
    # No one moves from WPA2 to an open network: WPA2 is the policy of today.
    assert told.startswith("  From WPA2-Personal to WPA3-Personal")
    one = called("show", office, "answers", "--metric", "throughput_bps")
    assert one.stdout == "throughput (throughput_bps)\n" + told[: len(one.stdout) - 28]


@pytest.mark.thorough
def test_answers_are_a_table_too_and_levels_choose_it(office: Path) -> None:
    def rows(*words: str) -> list[dict[str, str]]:
        words = ("answers", "--metric", "delay_s", *words, "--csv")
        return list(csv.DictReader(io.StringIO(called("show", office, *words).stdout)))

    whole = rows()
    assert {row["metric"] for row in whole} == {"mean delay"}
    # To two candidates from WPA2, and from open to WPA2, over TCP and UDP.
    assert len(whole) == 2 * 3
    assert {row["from"] for row in whole} == {"WPA2-Personal, CCMP-128", "Open"}
    one = rows("--where", "policy=wpa3-sae-ccmp,wpa3-sae-gcmp-256", "--where", "traffic=udp")
    assert [row["to"] for row in one] == ["WPA3-Personal, CCMP-128", "WPA3-Personal, GCMP-256"]
    assert {row["where"] for row in one} == {"udp"}
    assert [row for row in whole if row in one] == one
    text = called("show", office, "answers", "--where", "policy=wpa3-sae-ccmp").stdout
    assert "CCMP" in text
    assert "GCMP" not in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("answers", "--metric", "throughput"), "no such metric; did you mean throughput_bps"),
        (("answers", "--metric", "battery_days"), "measured none"),
        (("costs", "--metric", "throughput_bps"), "--metric goes with answers"),
        (("answers", "--where", "polcy=open"), "did you mean policy"),
        (("--metric", "throughput_bps"), "name a table for --where, --metric"),
    ],
)
def test_answers_about_nothing_are_refused(office: Path, words: tuple[str, ...], said: str) -> None:
    done = called("show", office, *words)
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_policies_with_a_comma_between_are_two_though_the_text_names_a_mixed_network():
    levels = [{"policy": name} for name in ("open", "wpa-psk-ccmp", "wpa2-psk-ccmp")]
    assert Where.of(["policy=wpa-psk-ccmp,wpa2-psk-ccmp"]).rows(levels) == [1, 2]
    assert Where.of(["place=here, there"]).rows([{"place": "here, there"}, {"place": "x"}]) == [0]
