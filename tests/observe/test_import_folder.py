"""Folders of imported readings: each reading counts once, whatever interrupts the import."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import DatasetError, StorageError
from airtoll.observe.imported import MANIFEST, read_manifest
from airtoll.observe.imports.files import Place, read_file
from airtoll.observe.imports.folder import JOURNAL, opened
from airtoll.observe.tables import read_observations, read_trials
from airtoll.report.imported import read_imported

SAMPLES = Path(__file__).parent / "samples"
HEAD = "policy,trial,metric,value,unit\n"


_LOOP = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from airtoll.observe.imports.files import Place, read_file
    from airtoll.observe.imports.folder import opened
    sources = [read_file(Path(name), "csv", Place()) for name in sys.argv[2:]]
    print("ready", flush=True)
    for source in sources:
        with opened(Path(sys.argv[1])) as store:
            store.add([source])
            store.write(baseline="open", against=None, readings={})
    """
)


def called(*words):
    return CliRunner().invoke(app, ["import", *map(str, words)])


def table(path, rows, start=1):
    lines = [f"open,{n},throughput,{n % 97 + 1},Mbps" for n in range(start, start + rows)]
    path.write_text(HEAD + "\n".join(lines) + "\n")
    return path


def added(folder, *files, fmt="csv"):
    with opened(folder) as store:
        found = store.add([read_file(file, fmt, Place()) for file in files])
        store.write(baseline="open", against=None, readings={})
    return found


def test_a_file_that_is_named_twice_counts_once(tmp_path):
    file = SAMPLES / "iperf3-tcp.json"
    done = called(file, file, "--format", "iperf3", "--out", tmp_path / "o", "--json")
    assert done.exit_code == 0, done.output
    estimates = json.loads(done.stdout)["estimates"]
    assert {row["n"] for row in estimates} == {1}
    assert "imported before" in done.stderr


def test_a_copy_of_a_test_counts_once(tmp_path):
    text = (SAMPLES / "iperf3" / "made_twice.json").read_text()
    (tmp_path / "copy.json").write_bytes(b"\xff\xfe" + text.encode("utf-16-le"))
    done = called(SAMPLES / "iperf3" / "made_twice.json", tmp_path / "copy.json",
                  "--format", "iperf3", "--out", tmp_path / "o")  # fmt: skip
    assert "copy.json: has the same test as made_twice.json; left out" in done.stderr
    assert read_trials(tmp_path / "o").height == 1


def test_of_both_ends_of_a_test_the_one_that_knows_more_counts(tmp_path):
    names = ("320_srv_bidir_stream", "320_bidir_stream")
    files = [SAMPLES / "iperf3" / f"{name}.json" for name in names]
    found = added(tmp_path, *files, fmt="iperf3")
    assert found.files == (files[1],)
    assert "has the same test as 320_bidir_stream.json" in found.notes[0]
    rows = read_observations(tmp_path).filter(metric="throughput_bps", flow="reverse")
    assert rows.filter(pl.col("second").is_null()).height == 1


def test_a_trial_of_a_table_that_the_folder_has_is_refused(tmp_path):
    one, two = table(tmp_path / "a.csv", 3), table(tmp_path / "b.csv", 3, start=3)
    added(tmp_path / "o", one)
    with pytest.raises(
        DatasetError, match="trial 3 in imported/open/none is in the folder already"
    ):
        added(tmp_path / "o", two)
    assert read_observations(tmp_path / "o").height == 3


def test_other_metrics_of_a_trial_join_it(tmp_path):
    added(tmp_path / "o", table(tmp_path / "a.csv", 2))
    (tmp_path / "b.csv").write_text(HEAD + "open,1,delay,3,ms\nopen,2,delay,4,ms\n")
    added(tmp_path / "o", tmp_path / "b.csv")
    assert read_trials(tmp_path / "o").height == 2
    assert read_observations(tmp_path / "o").height == 4


def test_rows_without_a_number_are_the_next_trial_of_their_cell(tmp_path):
    for value in (7, 8):
        (tmp_path / "a.csv").write_text(
            f"policy,metric,value,unit\nopen,throughput,{value},Mbps\nwep-40,throughput,1,Mbps\n"
        )
        added(tmp_path / "o", tmp_path / "a.csv")
    assert read_observations(tmp_path / "o").filter(policy="open")["trial"].to_list() == [1, 2]


@pytest.mark.thorough
def test_three_imports_at_once_lose_no_reading(tmp_path):
    files = [table(tmp_path / f"{n}.csv", 250, start=1 + 250 * n) for n in range(12)]
    words = [sys.executable, "-c", _LOOP, str(tmp_path / "o")]
    running = [
        subprocess.Popen([*words, *map(str, files[n::3])], stdout=subprocess.DEVNULL)
        for n in range(3)
    ]
    assert [process.wait() for process in running] == [0] * 3
    assert read_observations(tmp_path / "o").height == 3000
    assert len(read_manifest(tmp_path / "o").files) == 12


def killed_imports(tmp_path, kills):
    """Kill a process that imports file after file, at random instants; then import the rest."""
    instants = random.Random(kills)
    files = [table(tmp_path / f"{n}.csv", 200, start=1 + 200 * n) for n in range(60)]
    folder = tmp_path / "o"
    for _ in range(kills):
        process = subprocess.Popen(
            [sys.executable, "-c", _LOOP, str(folder), *map(str, files)], stdout=subprocess.PIPE
        )
        assert process.stdout.readline() == b"ready\n"
        time.sleep(instants.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if (folder / MANIFEST).exists():
            read_imported(folder)  # the old state or the new one
    before = read_manifest(folder).files if (folder / MANIFEST).exists() else {}
    added(folder, *files)
    observations = read_observations(folder)
    assert observations["trial"].to_list() == list(range(1, 12_001))
    assert read_trials(folder).height == 12_000
    assert before.items() <= read_manifest(folder).files.items()
    assert not list(folder.glob(".*.tmp"))


def test_a_killed_import_loses_and_doubles_no_reading(tmp_path):
    killed_imports(tmp_path, 2)


@pytest.mark.slow
def test_forty_killed_imports_lose_and_double_no_reading(tmp_path):
    killed_imports(tmp_path, 40)


def test_a_torn_last_line_is_no_import(tmp_path):
    one, two = table(tmp_path / "a.csv", 3), table(tmp_path / "b.csv", 3, start=4)
    added(tmp_path / "o", one)
    with (tmp_path / "o" / JOURNAL).open("ab") as file:
        file.write(b'{"files":{"0')
    added(tmp_path / "o", two)
    assert read_observations(tmp_path / "o").height == 6


def test_a_damaged_line_is_named(tmp_path):
    added(tmp_path / "o", table(tmp_path / "a.csv", 3))
    journal = tmp_path / "o" / JOURNAL
    for damage in (b"{}\n", b"[]\n", b"nan\n", b'{"files":{"a":1}}\n', b"\xff\n"):
        journal.write_bytes(damage + journal.read_bytes()[-1:])
        with pytest.raises(StorageError, match=r"imported\.jsonl: line 1 is damaged"):
            added(tmp_path / "o", table(tmp_path / "b.csv", 3, start=4))


@pytest.mark.thorough
@pytest.mark.parametrize("room", [1000, 20_000])
def test_a_full_disk_leaves_what_was_there(tmp_path, room):
    folder = tmp_path / "o"
    added(folder, table(tmp_path / "a.csv", 50))
    before = (folder / "observations.parquet").read_bytes()
    large = table(tmp_path / "b.csv", 400, start=100)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    words = [sys.executable, "-m", "airtoll.cli", "import", "--format", "csv", "--out", str(folder)]
    full = subprocess.run(
        [*words, str(large)], capture_output=True, text=True, preexec_fn=limit, check=False
    )
    assert full.returncode == 3, full.stderr
    assert full.stderr.splitlines()[-1].startswith(f"airtoll: {folder}/")
    assert "Traceback" not in full.stderr
    assert read_observations(folder).height in (50, 450)
    if room == 1000:
        assert (folder / "observations.parquet").read_bytes() == before
    added(folder, large)
    assert read_observations(folder).height == 450
    assert read_trials(folder).height == 450


def test_a_folder_without_a_journal_keeps_its_readings(tmp_path):
    folder, file = tmp_path / "o", table(tmp_path / "a.csv", 3)
    added(folder, file)
    (folder / JOURNAL).unlink()
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["format"] = manifest.pop("formats")[0]
    (folder / MANIFEST).write_text(json.dumps(manifest))
    found = added(folder, file, table(tmp_path / "b.csv", 3, start=4))
    assert [path.name for path in found.files] == ["b.csv"]
    assert read_observations(folder)["trial"].to_list() == [1, 2, 3, 4, 5, 6]


def test_tables_that_no_import_wrote_are_not_replaced(tmp_path):
    (tmp_path / "observations.parquet").write_bytes(b"mine")
    with pytest.raises(StorageError, match="holds tables that no import wrote"):
        added(tmp_path, table(tmp_path / "a.csv", 3))
    assert (tmp_path / "observations.parquet").read_bytes() == b"mine"


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"files": []}', '{"files": {"a": 1}}', '{"files": {}, "baseline": 7}',
     '{"files": {}, "readings": {"a": []}}', '{"files": {}, "against": 1}', "[" * 5000],
)  # fmt: skip
def test_a_damaged_manifest_is_one_line(tmp_path, text):
    added(tmp_path / "o", table(tmp_path / "a.csv", 3))
    (tmp_path / "o" / MANIFEST).write_text(text)
    with pytest.raises(StorageError) as caught:
        read_imported(tmp_path / "o")
    assert str(caught.value).isprintable()
    assert "import.json: cannot be read" in str(caught.value)


def test_a_wrong_option_writes_nothing(tmp_path):
    file = table(tmp_path / "a.csv", 3)
    for words, said in (
        (["--baseline", "nosuch"], "nosuch"),
        (["--against", "nosuch", "--readings", "table=2"], "nosuch"),
        (["--readings", "table=2"], "name it with --against"),
        (["--scenario", "\x1b[31m"], "no control characters"),
        (["--traffic", "=cmd()"], "does not start with ="),
        (["--policy", "wpa9"], "wpa9"),
        (["--format", "netperf"], "allowed are"),
    ):
        done = called(file, "--format", "csv", "--out", tmp_path / "o", *words)
        assert done.exit_code != 0, words
        assert said in str(done.exception), words
        assert not (tmp_path / "o").exists()


def test_a_baseline_without_readings_is_said_and_kept(tmp_path):
    file = table(tmp_path / "a.csv", 3)
    words = ("--format", "csv", "--out", tmp_path / "o")
    first = called(file, *words, "--baseline", "WPA2")
    assert first.exit_code == 0, first.output
    assert "has no reading of it yet" in first.stderr
    assert read_manifest(tmp_path / "o").baseline == "wpa2-psk-ccmp"
    (tmp_path / "b.csv").write_text(HEAD + "WPA2,1,throughput,3,Mbps\n")
    again = called(tmp_path / "b.csv", *words)
    assert "no reading" not in again.stderr
    assert read_manifest(tmp_path / "o").baseline == "wpa2-psk-ccmp"


def test_what_is_unknown_is_on_the_page_in_the_tables_and_said(tmp_path):
    file = SAMPLES / "iperf3" / "321_srv_tcp_R.json"
    done = called(file, "--format", "iperf3", "--out", tmp_path / "o", "--json")
    sentence = "what the client received is unknown and left out"
    assert sentence in done.stderr
    assert sentence in json.loads(done.stdout)["caveats"][0]["says"]
    assert sentence in (tmp_path / "o" / "report.html").read_text()
    assert sentence in read_trials(tmp_path / "o")["caveats"][0][0]
