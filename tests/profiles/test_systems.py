"""The operating system of a device profile, which decides its TCP."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.errors import ProfileError
from airtoll.profiles import load, load_file

CLOCK = 'clock_hz = { value = 1e9, source = "a test" }\n'


def test_an_unknown_operating_system_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "device.toml"
    path.write_text(f'about = "a device"\n{CLOCK}tcp = "beos"\n')
    with pytest.raises(ProfileError, match=r"device.toml: tcp: .*'windows-xp'"):
        load_file(path)


def test_a_known_operating_system_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "device.toml"
    path.write_text(f'about = "a device"\n{CLOCK}tcp = "linux-2.6"\n')
    assert load_file(path).tcp == "linux-2.6"


def test_a_name_is_known_in_any_case_of_letters() -> None:
    assert load("MT7621").name == "mt7621"
    with pytest.raises(ProfileError, match=r"did you mean .mt762"):
        load("MT762X")
