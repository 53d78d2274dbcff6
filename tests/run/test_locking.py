"""One process writes a run folder at a time; what it leaves behind locks nothing."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from airtoll.errors import RunError, StorageError
from airtoll.observe.locking import LOCK, Held, locked
from airtoll.run import run
from airtoll.testbeds.contract import Skip

HOLD = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from airtoll.observe.locking import locked
    with locked(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(60)
    """
)


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of ``tmp_path / "run"``."""
    (tmp_path / "run").mkdir()
    started = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "run")], stdout=subprocess.PIPE
    )
    assert started.stdout is not None
    assert started.stdout.readline() == b"held\n"
    yield started
    started.kill()
    started.wait()
    started.stdout.close()


def test_a_second_run_into_a_folder_is_refused_and_changes_nothing(
    small_study, fake, tmp_path, holder
):
    before = sorted((tmp_path / "run").iterdir())
    with pytest.raises(Held, match=rf"another airtoll \(process {holder.pid} on "):
        run(small_study(), testbed=fake(), out=tmp_path / "run")
    assert sorted((tmp_path / "run").iterdir()) == before


def test_a_killed_process_locks_nothing(small_study, fake, tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "run" / LOCK).exists()
    run(small_study(), testbed=fake(), out=tmp_path / "run")
    assert not (tmp_path / "run" / LOCK).exists()


def test_a_refused_resume_leaves_the_live_run_alone(small_study, fake, tmp_path):
    study = small_study()
    going, let_go = threading.Event(), threading.Event()

    class Waiting(fake):
        def measure(self, trial, captures=None):
            going.set()
            assert let_go.wait(30)
            return super().measure(trial, captures)

    begin = partial(run, study, testbed=Waiting(), out=tmp_path / "run", jobs=2)
    live = threading.Thread(target=begin)
    live.start()
    assert going.wait(30)
    manifest = tmp_path / "run" / "run.json"
    before = manifest.read_bytes()
    for resume in (True, False):
        with pytest.raises(StorageError, match="another airtoll"):
            run(study, testbed=fake(), out=tmp_path / "run", resume=resume)
        assert manifest.read_bytes() == before
        assert json.loads(before)["state"] == "running"
    let_go.set()
    live.join()
    assert json.loads(manifest.read_text())["state"] == "finished"
    assert not (tmp_path / "run" / LOCK).exists()


def test_runs_that_begin_at_once_never_share_a_folder(small_study, fake, tmp_path, monkeypatch):
    """With --out one of them wins; without, each takes a place of its own."""
    monkeypatch.chdir(tmp_path)
    study = small_study()
    refused: list[Exception] = []
    seeds: list[int] = []

    def begin(seed: int, out: Path | None) -> None:
        try:
            seeds.append(run(study, testbed=fake(), out=out, seed=seed).folder.manifest()["seed"])
        except StorageError as error:
            refused.append(error)

    for out, winners in ((tmp_path / "one", 1), (None, 6)):
        seeds.clear()
        threads = [threading.Thread(target=begin, args=(seed, out)) for seed in range(1, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seeds) == winners
    assert len(refused) == 5
    for folder in [tmp_path / "one", *(tmp_path / "runs").iterdir()]:
        seed = json.loads((folder / "run.json").read_text())["seed"]
        fresh = run(study, testbed=fake(), out=tmp_path / f"again-{folder.name}", seed=seed)
        assert (folder / "trials.parquet").read_bytes() == (
            fresh.path / "trials.parquet"
        ).read_bytes()


def test_the_lock_is_for_the_file_that_has_the_name(tmp_path):
    """A process that opened the file before its holder removed it looks again."""
    order: list[str] = []

    def second() -> None:
        while order != ["first", "second"]:
            with contextlib.suppress(Held), locked(tmp_path):
                order.append("second")
            time.sleep(0.001)

    with locked(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.02)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert not list(tmp_path.iterdir())


def test_a_run_without_any_cell_leaves_no_folder(small_study, fake, tmp_path):
    class Refusing(fake):
        def check(self, cell):
            return Skip("no radio here")

    with pytest.raises(RunError, match="all 4 cells are skipped; first, home/open/udp: no radio"):
        run(small_study(), testbed=Refusing(), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["trials.parquet", "report.html", "figures/answer.svg"])
def test_files_of_the_user_in_a_new_folder_are_not_written_over(small_study, fake, tmp_path, name):
    own = tmp_path / "mine" / name
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    with pytest.raises(StorageError, match=rf"{name}: is there already; choose another --out"):
        run(small_study(), testbed=fake(), out=tmp_path / "mine")
    assert own.read_text() == "mine"
    assert [path for path in (tmp_path / "mine").rglob("*") if path.is_file()] == [own]


def test_a_run_that_never_began_leaves_no_folder(small_study, fake, tmp_path):
    class Broken(fake):
        def environment(self):
            raise StorageError("no tools")

    with pytest.raises(StorageError, match="no tools"):
        run(small_study(), testbed=Broken(), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    (tmp_path / "mine").mkdir()
    with pytest.raises(StorageError, match="no tools"):
        run(small_study(), testbed=Broken(), out=tmp_path / "mine")
    assert (tmp_path / "mine").is_dir()


def test_a_folder_that_cannot_be_written_is_one_line(small_study, fake, tmp_path):
    if os.geteuid() == 0:
        (tmp_path / "file").write_text("")
        place = tmp_path / "file" / "run"
    else:
        (tmp_path / "closed").mkdir(mode=0o500)
        place = tmp_path / "closed" / "run"
    with pytest.raises(StorageError, match="run"):
        run(small_study(), testbed=fake(), out=place)
