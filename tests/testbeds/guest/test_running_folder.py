"""The folder of running guests belongs to the user who runs them, or there is no guest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from airtoll.errors import EnvironmentProblem
from airtoll.testbeds.guest import contract


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like the system's temporary one, in which every user may make names."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(contract.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path / f"airtoll-{os.getuid()}"


def test_a_fresh_folder_is_the_users_own(base: Path) -> None:
    assert contract.clean() == []
    assert not base.exists()


def refused(words: str) -> None:
    with pytest.raises(EnvironmentProblem, match=words) as caught:
        contract.clean()
    assert "set XDG_RUNTIME_DIR" in str(caught.value)
    with pytest.raises(EnvironmentProblem, match=words):
        contract._fresh_folder()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_refused(base: Path) -> None:
    base.mkdir(mode=0o755)
    os.chown(base, 65534, 65534)
    refused("belongs to user 65534, not to you")


def test_a_folder_that_others_can_write_is_refused(base: Path) -> None:
    base.mkdir()
    base.chmod(0o777)
    refused("can be written by others")


def test_a_link_is_refused_wherever_it_leads(base: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    base.symlink_to(tmp_path / "elsewhere")
    refused("is no folder")


def test_a_file_is_refused(base: Path) -> None:
    base.write_text("")
    refused("is no folder")


def test_a_process_that_another_user_names_is_not_killed(base: Path) -> None:
    """Its folder is refused before a file in it is read."""
    base.mkdir()
    guest = base / "guest-x"
    guest.mkdir()
    (guest / "owner").write_text("1 x 0")
    (guest / "machine.pid").write_text(contract.identity(os.getpid()))
    base.chmod(0o777)
    with pytest.raises(EnvironmentProblem):
        contract.clean()
    assert guest.is_dir()
