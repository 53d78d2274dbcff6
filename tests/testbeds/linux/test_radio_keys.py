"""The place of encryption as mac80211 shows it, read by the commands that run on a router."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from airtoll.cli.doctoring import checks_of_radios
from airtoll.cli.watching import encryption
from airtoll.observe.journal import Journal, Record
from airtoll.observe.keys import in_columns
from airtoll.observe.tables import CellLabels, write_tables
from airtoll.testbeds.linux.hosts import crypto
from airtoll.testbeds.linux.hosts.host import LocalHost

#: The forms of net/mac80211/debugfs_key.c: "%.2x-%.2x-%.2x:%d", "0x%x", an interface's name.
STATION = "../../netdev:{interface}/stations/{address}"


def radio(root: Path, phy: str, driver: str | None, keys: list[tuple[str, int, str, str]]) -> None:
    """A radio in a copy of sysfs: selector, flags, interface and station of each key."""
    device = root / "class" / "ieee80211" / phy / "device"
    device.mkdir(parents=True)
    if driver:
        (device / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
    folder = root / "kernel" / "debug" / "ieee80211" / phy / "keys"
    folder.mkdir(parents=True)
    for number, (selector, flags, interface, address) in enumerate(keys):
        key = folder / str(number)
        key.mkdir()
        (key / "algorithm").write_text(f"{selector}\n")
        (key / "flags").write_text(f"{flags:#x}\n")
        (key / "ifindex").write_text(f"{interface}\n")
        (key / "key").write_text("00112233445566778899aabbccddeeff\n")
        if address:
            (key / "station").symlink_to(STATION.format(interface=interface, address=address))


def look(root: Path) -> list[crypto.Radio]:
    async def ask() -> list[crypto.Radio]:
        async with LocalHost("here", "none") as host:
            return await crypto.radios(host, str(root))

    return asyncio.run(ask())


def test_a_router_with_two_radios_says_cipher_and_engine_of_each_link(tmp_path: Path) -> None:
    # ath9k's key cache takes WEP, TKIP and CCMP (drivers/net/wireless/ath/key.c): GCMP is software.
    radio(
        tmp_path,
        "phy0",
        "ath9k",
        [
            ("00-0f-ac:9", 0x0, "wlan0", "02:00:00:00:01:00"),
            ("00-0f-ac:9", 0x0, "wlan0", "02:00:00:00:02:00"),
            ("00-0f-ac:9", 0x0, "wlan0", ""),
            ("00-0f-ac:6", 0x0, "wlan0", ""),
        ],
    )
    radio(
        tmp_path,
        "phy1",
        "mt7915e",
        [
            ("00-0f-ac:4", 0x1, "wlan1", "02:00:00:00:03:00"),
            ("00-0f-ac:4", 0x1, "wlan1", ""),
            ("00-0f-ac:6", 0x0, "wlan1", ""),
        ],
    )
    found = look(tmp_path)
    assert [(r.phy, r.driver) for r in found] == [("phy0", "ath9k"), ("phy1", "mt7915e")]
    assert [crypto.links(r) for r in found] == [
        [("wlan0", "GCMP-256", False, 2)],
        [("wlan1", "CCMP-128", True, 1)],
    ]
    soft, hard = checks_of_radios(found)
    assert (soft.name, soft.state) == ("phy0 (ath9k) wlan0", "note")
    assert soft.found == "GCMP-256 in software, 2 stations: the CPU encrypts"
    assert "ciphers bench" in soft.mend
    assert (hard.name, hard.state) == ("phy1 (mt7915e) wlan1", "ok")
    assert hard.found == "CCMP-128 in hardware, 1 station"
    assert "001122" not in repr(found), "key material is never read"


def test_what_cannot_be_known_is_said_to_be_unknown(tmp_path: Path) -> None:
    radio(tmp_path, "phy0", None, [])
    (idle,) = checks_of_radios(look(tmp_path))
    assert (idle.name, idle.found) == ("phy0 (unknown)", "no encrypted link now")
    keys = tmp_path / "kernel" / "debug" / "ieee80211" / "phy0" / "keys"
    keys.rmdir()
    (firmware,) = checks_of_radios(look(tmp_path))
    assert firmware.found.startswith("unknown: mac80211 has no keys of this driver")
    keys.parent.rmdir()
    keys.parent.parent.rmdir()
    (unreadable,) = checks_of_radios(look(tmp_path))
    assert unreadable.found == "unknown: debugfs is not readable"
    assert "mount -t debugfs" in unreadable.mend


def test_a_machine_without_a_radio_is_a_problem(tmp_path: Path) -> None:
    (check,) = checks_of_radios(look(tmp_path))
    assert check.state == "problem"


def test_a_watch_counts_the_trials_by_place_of_encryption(tmp_path: Path) -> None:
    soft, hard = "A: GCMP-256 runs on the CPU, not in the radio", "A: CCMP-128 runs in the radio"
    sentences = [f"{soft} {crypto.SOFTWARE}", f"{hard} {crypto.HARDWARE}"]
    rounds = [tmp_path / "round-00001", tmp_path / "round-00002"]
    for place in rounds:
        place.mkdir()
        with Journal(place / "journal.jsonl") as journal:
            for number, text in enumerate(sentences, 1):
                row = ("throughput_bps", None, None, None, 1e6, "bit/s")
                said = (text, "delays contain what the CPU needs, not the air alone")
                journal.append(
                    Record("home/p/udp", number, 1, 0, "ok", None, said, *in_columns([row]))
                )
        write_tables(
            place / "journal.jsonl",
            place,
            study="s",
            testbed="linux",
            cells={"home/p/udp": CellLabels("home", "p", "udp", "{}")},
        )
    assert encryption(rounds) == dict.fromkeys(sentences, 2)


@pytest.mark.parametrize("text", ["", "00-0f-ac:4\n", "00-0f-ac:4 x wlan0 \n"])
def test_a_key_that_went_away_while_it_was_read_is_left_out(text: str) -> None:
    assert crypto.parse_keys(text) == []


def test_a_kernel_without_keys_in_debugfs_is_not_taken_for_firmware(tmp_path: Path) -> None:
    radio(tmp_path, "phy0", "ath9k", [])
    (tmp_path / "kernel" / "debug" / "ieee80211" / "phy0" / "keys").rmdir()
    (unknown,) = checks_of_radios(look(tmp_path))
    assert "firmware" in unknown.found
    # ath9k is a module that uses mac80211: this kernel lacks the folder, not the driver.
    (tmp_path / "module" / "mac80211" / "holders" / "ath9k").mkdir(parents=True)
    (told,) = checks_of_radios(look(tmp_path))
    assert "CONFIG_MAC80211_DEBUGFS" in told.found
