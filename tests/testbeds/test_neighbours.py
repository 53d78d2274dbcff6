"""Neighbour cells: they take their share, results are of the own cell, nonsense is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from airtoll import border
from airtoll.capture import capture_report
from airtoll.plan import make_plan
from airtoll.run.what_if import what_if
from airtoll.study import Study
from airtoll.testbeds import neighbours
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

TWO: dict[str, Any] = {"cells": 2, "level_dbm": -75.0, "stations": 3}
LAX: dict[str, Any] = {"phy": "802.11ax", "width_mhz": 80, "mcs": 7}


def plan_of(given: dict[str, Any] | None, policy: str = "open", **more: Any) -> Any:
    own = {"rssi_dbm": -50.0, "clients": 3, "phy": "802.11a"} | more
    if given is not None:
        own["neighbours"] = given
    data = {
        "study": {"name": "neighbours", "title": "Neighbours", "baseline": policy},
        "scenario": {"one": own},
        "traffic": {"load": {"transport": "udp", "duration_s": own.pop("duration_s", 1)}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(data), repetitions=1)


def cell_of(given: dict[str, Any] | None, policy: str = "open", **more: Any) -> Any:
    (cell,) = plan_of(given, policy, **more).cells
    return cell


def rows(given: dict[str, Any] | None, policy: str = "open", **more: Any) -> dict[str, float]:
    """Sums of the whole cell."""
    plan = plan_of(given, policy, **more)
    (cell,) = plan.cells
    testbed = Simulator()
    assert testbed.check(cell) is None
    measured = testbed.measure(plan.trial(cell, 1, 1))
    assert measured.failure is None
    sums: dict[str, float] = {}
    for row in measured.rows:
        assert not str(row.flow).startswith("neighbour")
        assert not str(row.station).startswith("neighbour")
        if row.second is None and row.flow is None and row.station is None:
            sums[row.metric] = row.value
    return sums


def ledger(sums: dict[str, float]) -> float:
    return sum(v for m, v in sums.items() if m.startswith("airtime_") and m.endswith("_s"))


def test_neighbours_take_the_share_of_their_stations() -> None:
    alone, beside = rows(None), rows(TWO | {"direction": "up"})
    # Three of nine saturated senders.
    assert beside["throughput_bps"] / alone["throughput_bps"] == pytest.approx(0.32, abs=0.04)
    assert "airtime_neighbours_s" not in alone
    assert 0.4 < beside["airtime_neighbours_s"] < 0.62
    assert ledger(beside) == pytest.approx(1.0, abs=1e-6)


def test_none_of_them_change_nothing() -> None:
    assert rows(TWO | {"cells": 0}) == rows(None)


def test_more_neighbours_and_more_load_never_help() -> None:
    found = [
        rows(TWO | {"cells": cells, "offered_mbps": load})["throughput_bps"]
        for cells, load in [(1, 0.1), (1, 2.0), (3, 2.0), (3, 20.0)]
    ]
    assert found == sorted(found, reverse=True)


def test_a_far_neighbour_is_not_there() -> None:
    far, alone = rows(TWO | {"level_dbm": -150.0}), rows(None)
    assert far.pop("airtime_neighbours_s") == 0.0
    assert far == alone


def test_below_carrier_sense_they_interfere() -> None:
    alone, hidden = rows(None), rows(TWO | {"level_dbm": -83.0})
    # 33 dB below: both transmit, and frames arrive.
    assert hidden["airtime_neighbours_s"] == 0.0
    assert hidden["throughput_bps"] == pytest.approx(alone["throughput_bps"], rel=0.02)
    # Three sending stations are near their level.
    near = rows(TWO | {"level_dbm": -83.0}, rssi_dbm=-72.0)
    assert near["throughput_bps"] < 0.5 * alone["throughput_bps"]


def test_places_decide_who_senses_whom() -> None:
    own = {"stations": [{"name": "A", "position_m": [3.0, 0.0]}], "clients": 1, "rssi_dbm": None}
    near = {"positions_m": [[12.0, 0.0]], "stations": 2}
    far = {"positions_m": [[400.0, 0.0]], "stations": 2}
    alone = rows(None, **own)["throughput_bps"]
    assert rows(near, **own)["throughput_bps"] < 0.6 * alone
    assert rows(far, **own)["throughput_bps"] > 0.95 * alone
    assert neighbours.words(cell_of(far, **own)).endswith("they interfere and do not contend")
    said = neighbours.words(cell_of(near, **own))
    # 15 dBm less 46.7 dB and 30 lg 12.
    assert "1 neighbour with 2 active stations each (wpa2-psk-ccmp) at -64.1 dBm" in said


def test_each_has_its_policy_and_its_color() -> None:
    given = TWO | {"policy": ["same", "wpa3-sae-gcmp-256"]}
    cell = cell_of(given, "wpa2-psk-tkip", radio={"obss_pd_dbm": -74.0}, **LAX)
    resolved = scenario(cell)
    ciphers = {node.bss: node.cipher.value for node in resolved.nodes if node.bss}
    assert ciphers == {"cell": "tkip", "neighbour1": "tkip", "neighbour2": "gcmp-256"}
    assert [bss.color for bss in resolved.bss] == [1, 2, 3]
    assert [bss.obss_pd_dbm for bss in resolved.bss] == [-74.0] * 3
    offsets = [bss.beacons.offset_us for bss in resolved.bss if bss.beacons]
    assert len(set(offsets)) == 3


def test_the_octets_of_neighbours_cost_the_own_cell() -> None:
    small = TWO | {"payload_bytes": 100, "rate_mbps": 6, "direction": "up"}
    plain, secured = (
        rows(small | {"policy": policy}, duration_s=20)["throughput_bps"]
        for policy in ("open", "wpa3-sae-gcmp-256")
    )
    # 24 octets take 32 of some 400 us.
    assert 0.88 < secured / plain < 0.98


def test_spatial_reuse_transmits_beside_them() -> None:
    given = TWO | {"level_dbm": -75.0}
    shared = rows(given, **LAX)["throughput_bps"]
    both = rows(given, radio={"obss_pd_dbm": -74.0}, **LAX)["throughput_bps"]
    assert both > 1.5 * shared
    said = neighbours.words(cell_of(given, radio={"obss_pd_dbm": -74.0}, **LAX))
    assert said.endswith("this cell transmits beside them once it has read their colors")


def test_the_rate_suits_the_power_of_spatial_reuse() -> None:
    given = TWO | {"level_dbm": -75.0}
    plain, reuse = (
        scenario(cell_of(given, rssi_dbm=-64.0, phy="802.11ax", width_mhz=80, radio=radio))
        for radio in ({}, {"obss_pd_dbm": -62.0})
    )
    # Powers and levels stay: a node lowers them itself while it reuses the channel.
    assert {node.tx_power_dbm for node in reuse.nodes if node.bss} == {15.0}
    assert reuse.radio == plain.radio
    before, after = (
        [rate.mcs for rate in _rates(one) if isinstance(rate, border.RateFixedMcs)]
        for one in (plain, reuse)
    )
    # -62 dBm asks for 20 dB less than 21 dBm: 14 dB below the stated power.
    assert min(before) >= max(after) + 3


def _rates(one: border.Scenario) -> list[border.Rate | None]:
    own = [node for node in one.nodes if node.bss == "cell"]
    return [one.bss[0].rate, *(node.rate for node in own)]


def test_stations_join_on_a_busy_channel() -> None:
    given = TWO | {"direction": "up"}
    times = [
        rows(one, "wpa2-psk-ccmp", authenticate=True, clients=1)["join_all_time_s"]
        for one in (None, given)
    ]
    assert times[1] > 1.5 * times[0]


def test_their_frames_are_in_the_capture(tmp_path: Path) -> None:
    plan = plan_of(TWO | {"offered_mbps": 0.2}, "wpa2-psk-ccmp")
    (cell,) = plan.cells
    measured = Simulator().measure(plan.trial(cell, 1, 1), tmp_path)
    air = next(path for path in measured.files if path.name == "air.pcapng")
    report = capture_report([air])
    assert len(report.ledger["access_points"]) == 3


@pytest.mark.parametrize(
    ("given", "more", "word"),
    [
        ({"cells": 2}, {}, "level_dbm or positions_m"),
        ({"level_dbm": -70.0, "positions_m": [[1.0, 2.0]]}, {}, "level_dbm or positions_m"),
        ({"cells": 3, "positions_m": [[1.0, 2.0]]}, {}, "positions_m: 1 for 3 cells"),
        ({"cells": 3, "level_dbm": -70.0, "policy": ["open", "open"]}, {}, "policy: 2 for 3"),
        ({"level_dbm": -70.0, "policy": "wpa9"}, {}, "wpa9"),
        ({"level_dbm": -70.0, "station_m": 2.0}, {}, "station_m goes with positions_m"),
        ({"positions_m": [[9.0, 2.0]], "station_dbm": -60.0}, {}, "station_dbm goes with"),
        ({"positions_m": [[9.0, 2.0]]}, {}, "needs its position_m"),
        ({"level_dbm": -70.0, "stations": 101}, {}, "stations"),
        (TWO | {"mcs": 3}, {}, "neighbours.mcs"),
        (TWO | {"rate_mbps": 6}, {"phy": "802.11n"}, "neighbours.rate_mbps"),
    ],
)
def test_nonsense_is_refused(given: dict[str, Any], more: dict[str, Any], word: str) -> None:
    with pytest.raises(ValidationError, match=word):
        plan_of(given, **more)


@pytest.mark.parametrize(
    ("given", "more", "word"),
    [
        (None, {"radio": {"obss_pd_dbm": -70.0}}, "needs neighbours"),
        (TWO, {"radio": {"obss_pd_dbm": -70.0}}, "needs 802.11ax"),
        (TWO, {"topology": "n1", "clients": None}, "neighbours are not simulated with topology"),
        (TWO, {"address_resolution": "dynamic"}, "address_resolution"),
        (TWO | {"channel": "secondary-20"}, {}, '"secondary-20" does not overlap a channel of 20'),
        (TWO | {"channel": "secondary-80"}, LAX, "does not overlap a channel of 80 MHz"),
        (
            TWO | {"width_mhz": 20},
            LAX | {"radio": {"obss_pd_dbm": -70.0}},
            "needs neighbours with the width",
        ),
        (TWO | {"width_mhz": 20}, LAX | {"ofdma": "downlink"}, "not simulated with OFDMA"),
        (
            TWO | {"policy": "wpa2-psk-ccmp"},
            {"phy": "802.11ax", "band": "6"},
            "neighbours.policy: wpa2-psk-ccmp",
        ),
    ],
)
def test_what_is_not_simulated_is_skipped_with_the_reason(
    given: dict[str, Any] | None, more: dict[str, Any], word: str
) -> None:
    policy = "wpa3-sae-ccmp" if more.get("band") == "6" else "open"
    skip = Simulator().check(cell_of(given, policy, **more))
    assert skip is not None
    assert word in skip.reason


def test_a_channel_that_does_not_overlap_changes_nothing() -> None:
    for width in (20, 80):
        outside = rows(TWO | {"channel": "outside", "width_mhz": width}, **LAX)
        assert outside.pop("airtime_neighbours_s") == 0.0
        assert outside == rows(None, **LAX)


def test_a_narrow_neighbour_costs_what_it_takes_of_the_channel() -> None:
    one = {"cells": 1, "level_dbm": -65.0, "stations": 2, "width_mhz": 20}
    places = ("primary", "secondary-20", "secondary-40", "outside")
    found = {at: rows(one | {"channel": at}, **LAX)["throughput_bps"] for at in places}
    # On the primary channel it takes turns; elsewhere the cell is narrower while it sends.
    outside = found.pop("outside")
    assert all(0.1 * outside < beside < 0.95 * outside for beside in found.values())


@pytest.mark.parametrize(
    ("own", "theirs", "channel", "level", "width", "primary", "said"),
    [
        (80, 20, "primary", -75, 20, 0, "on its primary channel, sensed from -82 dBm on: they con"),
        (80, 20, "secondary-20", -65, 20, 1, "20 MHz channel, which they make busy from -72 dBm"),
        (80, 40, "secondary-40", -75, 40, 2, "from -72 dBm on: they interfere"),
        (160, 80, "secondary-80", -65, 80, 4, "from -69 dBm on: this cell transmits beside them"),
        (20, 80, "secondary-40", -80, 80, 2, "they interfere and do not contend"),
        (20, 80, "secondary-40", -75, 80, 2, "sensed from -82 dBm on: they contend"),
        (80, 160, "outside", -40, 160, 8, "outside its channel: they change nothing"),
        (80, None, "primary", -75, 80, 0, "at -75 dBm, sensed from -82 dBm on: they contend"),
    ],
)
def test_the_channel_of_a_neighbour(
    own: int, theirs: int | None, channel: str, level: int, width: int, primary: int, said: str
) -> None:
    given = {"cells": 1, "level_dbm": level, "channel": channel, "width_mhz": theirs}
    cell = cell_of(given, phy="802.11ax", width_mhz=own)
    assert Simulator().check(cell) is None
    first, second = scenario(cell).bss
    assert (first.width_mhz, first.primary) == (own, 0)
    assert (second.width_mhz, second.primary) == (width, primary)
    assert said in (neighbours.words(cell) or "")


def test_check_warns_of_a_rate_that_frames_beside_it_destroy() -> None:
    beside = {"cells": 1, "level_dbm": -75, "width_mhz": 20, "channel": "secondary-40"}
    wide = {"phy": "802.11ax", "width_mhz": 80, "rssi_dbm": -55.0}

    def warning(given: dict[str, Any], **more: Any) -> str:
        said = Simulator().cautions(cell_of(given, **wide | more))
        assert all(one.is_grave for one in said)
        return "; ".join(one.text for one in said)

    found = warning(beside, mcs=9)
    assert "does not wait for" in found
    lacks = float(found.split("needs ")[1].split(" dB more")[0])
    # The rate that needs no more than the 20 dB between the two is not warned of, nor is one at
    # which a station is as much stronger.
    assert 3 <= lacks <= 15
    assert warning(beside, mcs=4) == ""
    assert warning(beside, mcs=9, rssi_dbm=-55 + lacks + 1) == ""
    # Frames that the cell waits for destroy nothing, and a rate that adapts needs no warning.
    assert warning(beside | {"level_dbm": -70}, mcs=9) == ""
    assert warning(beside | {"channel": "primary"}, mcs=9) == ""
    assert warning(beside | {"channel": "outside"}, mcs=9) == ""
    assert warning(beside, rate_control="minstrel") == ""
    # Below carrier sense the same holds on the whole channel, and without MCSs.
    hidden = {"cells": 1, "level_dbm": -84}
    assert "does not wait for" in warning(hidden, rssi_dbm=-70, phy="802.11a", width_mhz=20)
    assert warning(hidden, rssi_dbm=-50, phy="802.11a", width_mhz=20) == ""


def test_closed_forms_have_no_neighbours() -> None:
    skip = Analytic().check(cell_of(TWO))
    assert skip is not None
    assert "no neighbours" in skip.reason


def test_a_panel_has_no_neighbours() -> None:
    assert what_if(plan_of(None)) is not None
    assert what_if(plan_of(TWO)) is None


def test_messages_to_groups_are_for_the_own_stations() -> None:
    quiet = TWO | {"offered_mbps": 0.01}
    load: dict[str, Any] = {
        "group_load": {"mdns_per_min": 600.0, "mdns_bytes": 200},
        "duration_s": 5,
    }
    ratio = "group_delivered_ratio"
    alone = rows(None, **load)[ratio]
    passing: dict[str, Any] = {"passers_by": {"per_s": 5}}
    for more in ({}, passing):
        # Three stations of nine would be a third.
        assert rows(quiet, **load, **more)[ratio] == pytest.approx(alone, abs=0.1)
