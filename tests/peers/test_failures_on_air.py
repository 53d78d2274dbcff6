"""Failures of `docs/studies/failures.md` on hostapd and wpa_supplicant, beside the simulator's.

Both daemons are on virtual radios in a guest in virtual time, where `failing.py` plays the scenes
and a third radio hears every frame.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from airtoll.plan import Cell, Trial
from airtoll.policies import resolve
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.simulator import Simulator

pytestmark = pytest.mark.guest

FOLDER: Final = "/run/airtoll-modes"
PASSWORD: Final = "correct horse"
SSID: Final = "airtoll"
ACCESS_POINT, STATION = "02:00:00:00:00:00", "02:00:00:00:01:00"
SIGSTOP, SIGCONT = 19, 18
SAE: Final = (
    "wpa=2",
    "wpa_key_mgmt=SAE",
    "rsn_pairwise=CCMP",
    "ieee80211w=2",
    f"sae_password={PASSWORD}",
)
PSK: Final = (
    "wpa=2",
    "wpa_key_mgmt=WPA-PSK",
    "rsn_pairwise=CCMP",
    f"wpa_passphrase={PASSWORD}",
)
TKIP: Final = (
    "wpa=1",
    "wpa_key_mgmt=WPA-PSK",
    "wpa_pairwise=TKIP",
    f"wpa_passphrase={PASSWORD}",
)
HT: Final = ("ieee80211n=1", "wmm_enabled=1")
STATION_SAE: Final = ("key_mgmt=SAE", "ieee80211w=2", f'sae_password="{PASSWORD}"')
STATION_PSK: Final = ("key_mgmt=WPA-PSK", f'psk="{PASSWORD}"')
STATION_TKIP: Final = (*STATION_PSK, "proto=WPA", "pairwise=TKIP", "group=TKIP")
JOINED: Final = (
    ("start", "hostapd"),
    ("wait", "hostapd", "AP-ENABLED"),
    ("start", "wpa_supplicant"),
    ("wait", "wpa_supplicant", "CTRL-EVENT-CONNECTED"),
)
#: Subtypes of management frames (802.11-2020, table 9-1), and SA Query (9.6.9) and ADDBA (9.6.4.2).
ASSOCIATION, RESPONSE, AUTHENTICATION, DEAUTHENTICATION, ACTION = 0x00, 0x10, 0xB0, 0xC0, 0xD0
REFUSED_PMKID, TOKEN_REQUIRED = 53, 76
SAE_ALGORITHM: Final = 3
BLOCK_ACK: Final = 3
GROUP_TIMEOUT: Final = 16


class Frame(NamedTuple):
    """A frame that the third radio heard, without FCS; ``at``: seconds."""

    at: float
    octets: bytes

    @property
    def kind(self) -> int:
        return self.octets[0]

    @property
    def protected(self) -> bool:
        return bool(self.octets[1] & 0x40)

    @property
    def receiver(self) -> str:
        return self.octets[4:10].hex(":")

    @property
    def sender(self) -> str:
        return self.octets[10:16].hex(":")

    def word(self, number: int) -> int:
        """A field of two octets of the body of a management frame."""
        return int.from_bytes(self.octets[24 + 2 * number : 26 + 2 * number], "little")


class Seen(NamedTuple):
    """Frames, logs and answers of a scene."""

    frames: list[Frame]
    logs: dict[str, str]
    asked: list[str]
    marks: list[float]

    def of(self, *kinds: int, sender: str | None = None, since: float = 0.0) -> list[Frame]:
        """Frames of some kinds."""
        return [
            one
            for one in self.frames
            if one.kind in kinds and one.at >= since and sender in (None, one.sender)
        ]


def access_point(*lines: str) -> str:
    head = ("interface=wlan0", "driver=nl80211", f"ctrl_interface={FOLDER}/hostapd")
    return "\n".join([*head, f"ssid={SSID}", "channel=1", "hw_mode=g", *lines, ""])


def station(*lines: str) -> str:
    head = (f"ctrl_interface={FOLDER}/wpa_supplicant", "network={", f'ssid="{SSID}"')
    return "\n".join([*head, "scan_freq=2412", *lines, "}", ""])


@pytest.fixture
def play(peers: Any, in_virtual_time: Callable[..., Any]) -> Callable[..., Seen]:
    """Plays a scene in a guest of its own."""
    peers.needs("hostapd", "wpa_supplicant", "iw", "modprobe")

    def run(ap: Sequence[str], own: Sequence[str], *steps: Sequence[object]) -> Seen:
        given = {"access_point": access_point(*ap), "station": station(*own), "steps": steps}
        seen = in_virtual_time("failing:scene", given)
        frames = [Frame(at, bytes.fromhex(octets)) for at, octets in seen["frames"]]
        return Seen(frames, seen["logs"], seen["asked"], seen["marks"])

    return run


def simulated(
    policy: str,
    duration_s: float = 0.2,
    mbps: float = 0.5,
    *,
    joins: bool = True,
    **settings: object,
) -> dict[str, float]:
    """The simulator's values of station A and of the cell."""
    load = {"transport": "udp", "offered_mbps": mbps, "payload_bytes": 500}
    cell = Cell(
        scenario="s",
        policy=resolve(policy).name,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate({"authenticate": True, "phy": "802.11g", **settings}),
        load=Traffic.model_validate({**load, "duration_s": duration_s}),
    )
    skip = Simulator().check(cell)
    assert skip is None, skip
    trial = Simulator().measure(Trial(cell=cell, number=1, attempt=1, seed=1))
    assert (trial.failure is None) == joins, trial.failure
    return {row.metric: row.value for row in trial.rows if row.flow is None}


def commits(seen: Seen, sender: str) -> list[Frame]:
    """SAE commits of a sender: transaction 1."""
    own = seen.of(AUTHENTICATION, sender=sender)
    return [one for one in own if (one.word(0), one.word(1)) == (SAE_ALGORITHM, 1)]


def test_hostapd_throws_a_deaf_station_out_after_four_group_keys(play: Any) -> None:
    deaf = ("send", "wpa_supplicant", SIGSTOP)
    gone = ("wait", "hostapd", "AP-STA-DISCONNECTED")
    steps = [("sleep", 0.5), deaf, ("mark",), ("ask", "hostapd", "REKEY_GTK"), gone]
    seen = play(PSK, STATION_PSK, *JOINED, *steps)
    (goodbye,) = [
        one
        for one in seen.of(DEAUTHENTICATION, sender=ACCESS_POINT, since=seen.marks[0])
        if one.receiver == STATION
    ]
    assert goodbye.word(0) == GROUP_TIMEOUT
    # Message 1 of the group key handshake is longer than the access point's other frames for it.
    data = [
        one.at
        for one in seen.of(0x08, sender=ACCESS_POINT, since=seen.marks[0])
        if one.protected and one.receiver == STATION and len(one.octets) > 150
    ]
    offsets = [at - data[0] for at in [*data, goodbye.at]]
    assert offsets == pytest.approx([0, 0.5, 1.5, 2.5, 3.5], abs=0.03)
    sleeps = [{"name": "A", "profile": "esp32", "listen_interval": 60}]
    found = simulated("wpa2-psk-ccmp", 13.0, 1e-4, stations=sleeps, join={"group_rekey_s": 7})
    # The fifth message is the deauthentication.
    assert (found["associations_lost"], found["group_rekey_messages"]) == (1, len(data) + 1)


def test_more_transmissions_of_the_group_key_are_the_cure(play: Any) -> None:
    steps = [
        ("sleep", 0.5),
        ("send", "wpa_supplicant", SIGSTOP),
        ("ask", "hostapd", "REKEY_GTK"),
        ("sleep", 6),
        ("send", "wpa_supplicant", SIGCONT),
        ("wait", "hostapd", "group key handshake completed"),
        ("ask", "hostapd", f"STA {STATION}"),
    ]
    seen = play((*PSK, "wpa_group_update_count=10"), STATION_PSK, *JOINED, *steps)
    assert "[AUTHORIZED]" in seen.asked[-1]
    assert "AP-STA-DISCONNECTED" not in seen.logs["hostapd"].split("REKEY_GTK")[-1].split("STA ")[0]


@pytest.fixture(scope="module")
def kept() -> dict[str, Seen]:
    """Scenes that several tests look at."""
    return {}


@pytest.fixture
def restarted(play: Any, kept: dict[str, Seen]) -> Seen:
    """An access point with protected management frames that restarts without a frame."""
    if "restarted" not in kept:
        again = JOINED[:2]
        steps = [("end", "hostapd"), *again, ("sleep", 0.5), ("mark",), ("datagram",)]
        back = ("wait", "wpa_supplicant", "CTRL-EVENT-CONNECTED", 2)
        kept["restarted"] = play(
            (*SAE, "broadcast_deauth=0"), STATION_SAE, *JOINED, *steps, back, ("mark",)
        )
    return kept["restarted"]


def test_a_protected_station_asks_before_it_believes_a_restart(restarted: Seen) -> None:
    told = restarted.of(DEAUTHENTICATION, sender=ACCESS_POINT)
    refused = next(one for one in told if one.receiver == STATION)
    assert not refused.protected
    # Both frames may be heard at the same instant.
    asked = restarted.of(ACTION, sender=STATION, since=refused.at - 0.01)
    # Every 201 TU for 1000 TU.
    assert len(asked) == 5
    gaps = [after.at - before.at for before, after in pairwise(asked)]
    assert gaps == pytest.approx([0.206] * 4, abs=0.01)
    gone = restarted.of(DEAUTHENTICATION, sender=STATION, since=refused.at)[0]
    assert gone.at - refused.at == pytest.approx(1.024, abs=0.04)
    found = simulated("wpa3-sae-ccmp", 3.0, ap={"restart_at_s": 0.5})
    # The pause of 0.1 s is a scan of one channel here; then both join again.
    assert found["rejoin_gap_s"] == pytest.approx(1.024 + 0.1, abs=0.06)
    assert 1.1 < restarted.marks[1] - refused.at < 1.6


def test_a_stale_pmksa_is_refused_and_dropped(restarted: Seen) -> None:
    again = restarted.of(DEAUTHENTICATION, sender=STATION)[0].at
    frames = restarted.of(AUTHENTICATION, ASSOCIATION, RESPONSE, since=again)
    algorithms = [one.word(0) for one in frames if one.kind == AUTHENTICATION]
    # Open System with the PMKID, then SAE.
    assert algorithms == [0, 0, *[SAE_ALGORITHM] * 4]
    statuses = [one.word(1) for one in frames if one.kind == RESPONSE]
    assert statuses == [REFUSED_PMKID, 0]
    found = simulated("wpa3-sae-ccmp", join={"pmksa": "stale", "tries_again": True})
    assert found["messages_ieee80211"] == len(frames)


def test_hostapd_waits_for_a_slow_confirm(play: Any) -> None:
    stopped = [
        ("hear", "b0", STATION.replace(":", ""), "03000100"),
        ("send", "wpa_supplicant", SIGSTOP),
        ("sleep", 3),
        ("send", "wpa_supplicant", SIGCONT),
    ]
    seen = play(SAE, STATION_SAE, *JOINED[:3], *stopped, JOINED[3])
    own = commits(seen, STATION)
    # mac80211 repeats the commit after 2 s, and hostapd answers both.
    assert len(own) == len(commits(seen, ACCESS_POINT)) == 2
    assert own[1].at - own[0].at == pytest.approx(2.0, abs=0.05)
    first = own[0].at
    (confirm,) = [
        one for one in seen.of(AUTHENTICATION, sender=STATION, since=first) if one.word(1) == 2
    ]
    assert confirm.at - first > 2.9
    # Two multiplications are between the access point's commit and the station's confirm.
    found = simulated("wpa3-sae-ccmp", join={"multiplication_ms": 1500})
    assert found["join_time_s"] > 3
    # The simulator's station has taken the answer, and repeats nothing.
    frames = seen.of(AUTHENTICATION, ASSOCIATION, RESPONSE)
    assert found["messages_ieee80211"] == len(frames) - 2


@pytest.mark.parametrize(
    ("ap", "own", "policy", "aggregates"),
    [
        (PSK, STATION_PSK, "wpa2-psk-ccmp", True),
        (TKIP, STATION_TKIP, "wpa-psk-tkip", False),
    ],
)
def test_under_tkip_there_is_no_ht_and_no_block_ack_session(
    play: Any, ap: Sequence[str], own: Sequence[str], policy: str, aggregates: bool
) -> None:
    seen = play((*ap, *HT), own, *JOINED, ("sleep", 0.3), ("ask", "hostapd", f"STA {STATION}"))
    flags = next(line for line in seen.asked[0].splitlines() if line.startswith("flags="))
    assert ("[HT]" in flags) == aggregates
    sessions = [one for one in seen.of(ACTION) if one.octets[24] == BLOCK_ACK]
    assert bool(sessions) == aggregates
    found = simulated(policy, phy="802.11n", mcs=7)
    assert ("rate_forbidden_bps" in found) != aggregates


def test_a_passphrase_is_4096_rounds_for_each_half_of_the_key(play: Any) -> None:
    seen = play(PSK, STATION_PSK, *JOINED)
    key = hashlib.pbkdf2_hmac("sha1", PASSWORD.encode(), SSID.encode(), 4096, 32)
    told = "PSK (from passphrase) - hexdump(len=32): " + key.hex(" ")
    assert told in seen.logs["wpa_supplicant"]
    # The digits of the key take no rounds.
    ready = play(PSK, ("key_mgmt=WPA-PSK", f"psk={key.hex()}"), *JOINED)
    assert "from passphrase" not in ready.logs["wpa_supplicant"]
    stations = [{"name": "A", "profile": "esp32", "caches_psk": kept} for kept in (False, True)]
    slow, fast = (simulated("wpa2-psk-ccmp", stations=[one])["join_time_s"] for one in stations)
    # 8192 HMACs of two blocks each, at 138 ms on an ESP32.
    assert slow - fast == pytest.approx(0.138, abs=0.002)


def forged() -> str:
    """The body of a commit of group 19 with an element that is a point of the curve."""
    point = ec.generate_private_key(ec.SECP256R1()).public_key().public_numbers()
    scalar = (1 << 200) + 1
    numbers = b"".join(one.to_bytes(32, "big") for one in (scalar, point.x, point.y))
    head = SAE_ALGORITHM.to_bytes(2, "little") + b"\x01\0\0\0" + (19).to_bytes(2, "little")
    return (head + numbers).hex()


def test_a_flood_makes_hostapd_compute_for_five_commits(play: Any) -> None:
    flood = [("mark",), ("forge", forged(), 40, 100.0), ("mark",)]
    seen = play(SAE, STATION_SAE, *JOINED[:2], *flood, *JOINED[2:])
    began, over = seen.marks
    answers = [
        one
        for one in seen.of(AUTHENTICATION, sender=ACCESS_POINT, since=began)
        if one.at < over and one.receiver != STATION
    ]
    statuses = [one.word(2) for one in answers]
    assert statuses.count(0) == 5
    assert set(statuses[5:]) == {TOKEN_REQUIRED}
    # An honest station has to show a token, too: two frames more.
    honest = seen.of(AUTHENTICATION, sender=STATION, since=over)
    honest += [one for one in seen.of(AUTHENTICATION, since=over) if one.receiver == STATION]
    assert len(honest) == 6
    found = simulated(
        "wpa3-sae-ccmp",
        stations=[{"name": "A", "joins_at_s": 0.4}],
        join={"flood_per_s": 100},
        duration_s=2.0,
    )
    assert found["sae_commits_computed"] == 5
    assert found["messages_ieee80211"] == len(honest) + 2


def test_hostapd_takes_one_commit_after_the_other(play: Any) -> None:
    seen = play(SAE, STATION_SAE, *JOINED[:2], ("forge", forged(), 100, 0), *JOINED[2:])
    log = seen.logs["hostapd"]
    # Its queue for 15 commits holds one at most, and none is lost there.
    assert "(queue_len 0)" in log
    assert "(queue_len 1)" not in log
    assert "No more room in message queue" not in log
    answers = [one for one in seen.of(AUTHENTICATION, sender=ACCESS_POINT)
               if one.receiver != STATION]  # fmt: skip
    assert len({one.receiver for one in answers}) == 100
    assert len({one.receiver for one in answers if one.word(2) == 0}) == 5


def test_the_socket_of_a_busy_hostapd_holds_as_many_commits_as_the_simulator_s(play: Any) -> None:
    stop, on = ("send", "hostapd", SIGSTOP), ("send", "hostapd", SIGCONT)
    steps = [stop, ("forge", forged(), 1500, 0), ("sleep", 0.5), on, ("sleep", 5)]
    seen = play(SAE, STATION_SAE, *JOINED[:2], *steps)
    taken = seen.logs["hostapd"].count("SAE: Queue Authentication message")
    # An access point that asks for no token computes 80 ms for each commit.
    found = simulated(
        "wpa3-sae-ccmp",
        stations=[{"name": "A", "joins_at_s": 4.0}],
        ap={"multiplication_ms": 20},
        join={"flood_per_s": 200, "anti_clogging_threshold": 1000},
        duration_s=4.5,
        joins=False,
    )
    held = found["sae_commits_forged"] - found["sae_frames_dropped"]
    # Those that arrive meanwhile wait for the CPU before they are in the socket.
    assert held - found["sae_commits_computed"] == pytest.approx(taken, abs=30)
