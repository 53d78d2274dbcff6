"""A report replaces and removes what airtoll wrote, and nothing else."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from airtoll.errors import StorageError, UsageError
from airtoll.observe.replacing import put_text, replacing, sweep
from airtoll.report import FORMATS, browser, write_report
from airtoll.report.playground import write_playground
from airtoll.run import run
from airtoll.run.lessons import lessons

MINE = "year,cost\n2026,12\n"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    values = {"traffic.udp.duration_s": 0.05, "grid.traffic": ["udp"]}
    return run(
        "quickstart", out=tmp_path_factory.mktemp("own") / "run", trials=2, values=values
    ).path


def test_a_page_elsewhere_leaves_the_users_tables_alone(finished: Path, tmp_path: Path) -> None:
    for name in ("costs.csv", "decomposition.csv", "page-costs.csv", "page-decomposition.csv"):
        (tmp_path / name).write_text(MINE)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "overhead.svg").write_text("<svg/>")
    page = write_report([finished], out=tmp_path / "page.html")
    for name in ("costs.csv", "decomposition.csv", "page-costs.csv", "page-decomposition.csv"):
        assert (tmp_path / name).read_text() == MINE
    assert (tmp_path / "figures" / "overhead.svg").read_text() == "<svg/>"
    assert (tmp_path / "page-figures" / "overhead.svg").is_file()
    assert "page-figures/" in page.read_text("utf-8")


def test_two_pages_of_a_folder_share_no_figure(finished: Path, tmp_path: Path) -> None:
    write_report([finished], out=tmp_path / "a.html")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "a-figures").iterdir()}
    write_report([finished], out=tmp_path / "b.html")
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "a-figures").iterdir()}
    assert {p.name for p in (tmp_path / "b-figures").iterdir()} == {p.name for p in before}


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(form, marks=[pytest.mark.thorough] * (form not in ("html", "csv")))
        for form in FORMATS
    ],
)
def test_a_file_of_the_user_is_not_replaced(finished: Path, tmp_path: Path, form: str) -> None:
    target = tmp_path / f"notes.{form}"
    target.write_text(MINE)
    with pytest.raises(UsageError, match=r"airtoll did not write it.*--force"):
        write_report([finished], form=form, out=target)
    assert target.read_text() == MINE
    assert list(tmp_path.iterdir()) == [target]
    write_report([finished], form=form, out=target, force=True)
    assert target.read_text("utf-8") != MINE
    # airtoll writes its own files again without being told to.
    once = target.read_bytes()
    assert write_report([finished], form=form, out=target).read_bytes() == once


def test_several_runs_and_the_playground_ask_as_well(finished: Path, tmp_path: Path) -> None:
    target = tmp_path / "notes.html"
    target.write_text(MINE)
    with pytest.raises(UsageError, match="--force"):
        write_report([finished, finished], out=target)
    with pytest.raises(UsageError, match="--force"):
        write_playground(lessons(), target)
    assert target.read_text() == MINE


def test_tables_of_an_older_page_go_and_others_stay(finished: Path) -> None:
    write_report([finished])
    from airtoll.report.costs import cost_table
    from airtoll.report.summary import summarise

    cost_table(summarise(finished)).write_csv(finished / "costs.csv")
    (finished / "decomposition.csv").write_text(MINE)
    write_report([finished])
    assert not (finished / "costs.csv").exists()
    assert (finished / "decomposition.csv").read_text() == MINE
    (finished / "decomposition.csv").unlink()


def test_a_folder_is_no_file_to_write(finished: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        write_report([finished], out=tmp_path)


def test_a_device_is_written_to_and_stays_one(finished: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_report([finished], form="markdown", out=pipe)
    assert os.read(reader, 100).startswith(b"# ")
    os.close(reader)
    assert pipe.is_fifo()


def test_a_link_keeps_its_place(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    put_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_an_error_leaves_the_old_file_and_no_scratch(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")

    def broken() -> None:
        with replacing(target) as scratch:
            scratch.write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(StorageError, match="No space left on device; make room") as caught:
        broken()
    assert "--resume" not in str(caught.value)
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_text() == "old"


@pytest.mark.parametrize(
    "command",
    [
        "report RUN --out DIR/page.html",
        pytest.param(
            "playground --out DIR/p.html",
            marks=pytest.mark.skipif(browser.module() is None, reason=browser.NOT_BUILT),
        ),
    ],
)
def test_a_full_disk_leaves_nothing_and_names_no_resume(
    finished: Path, tmp_path: Path, command: str
) -> None:
    words = [w.replace("RUN", str(finished)).replace("DIR", str(tmp_path)) for w in command.split()]
    done = subprocess.run(
        [sys.executable, "-m", "airtoll.cli", *words],
        capture_output=True,
        text=True,
        check=False,
        # A file longer than this fails as on a full disk, whatever the file system.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000)),
    )
    assert done.returncode == 3, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"airtoll: {tmp_path}/p")
    assert "File too large" in last
    assert "--resume" not in last
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_scratch_of_a_process_that_is_gone_is_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    ours = tmp_path / f".airtoll-{os.getpid()}-7.tmp"
    for path in (tmp_path / f".airtoll-{gone.pid}-0.tmp", tmp_path / ".run-ab12.json", ours):
        path.write_text("half")
    (tmp_path / ".compact-x").mkdir()
    (tmp_path / ".mine.tmp").write_text("kept")
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([ours.name, ".mine.tmp"])
