"""Fields of a study that change the access to the air and the traffic: each changes the result."""

from pathlib import Path

import pytest

from airtoll.errors import StudyError
from airtoll.plan import make_plan
from airtoll.study import parse
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.linux.testbed import Linux
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator


def study(scenario_lines, traffic_lines, grid=""):
    return f"""
[study]
name = "fields"
title = "Fields"
[scenario.s]
beacons = false
{scenario_lines}
[traffic.t]
{traffic_lines}
[grid]
policy = ["open"]
{grid}
"""


UDP = 'transport = "udp"\nduration_s = 0.5\n'
TWO = 'phy = "802.11n"\nstations = [{ name = "A" }, { name = "B" }]\n'


def cells_of(text):
    return make_plan(parse(text, Path("fields.toml")).study, repetitions=1)


def measured(text, number=0):
    plan = cells_of(text)
    cell = plan.cells[number]
    testbed = Simulator()
    assert testbed.check(cell) is None
    return testbed.measure(plan.trial(cell, 1, 1)).rows


def value(rows, metric, flow=None):
    return next(r.value for r in rows if r.metric == metric and r.flow == flow and not r.second)


def both(first, second, metric, flow=None, traffic=UDP):
    """A metric with each of two sets of scenario lines."""
    return [value(measured(study(lines, traffic)), metric, flow) for lines in (first, second)]


def test_a_smaller_window_of_voice_shortens_its_delay_in_a_busy_cell():
    lines = 'phy = "802.11a"\nedca = true\nclients = 3\n'
    traffic = UDP + 'application = "voip"\nwmm = "voice"\n'
    busy = '[[traffic.t.beside]]\nname = "bulk"\ntransport = "udp"\nwmm = "best-effort"\n'
    narrow = lines + "[scenario.s.edca_parameters.voice]\naifsn = 2\ncw_min = 3\ncw_max = 7\n"
    wide = lines + "[scenario.s.edca_parameters.voice]\naifsn = 3\ncw_min = 31\ncw_max = 63\n"
    short, long = both(narrow, wide, "delay_s", "A-up", traffic + busy)
    assert long > 1.3 * short


def test_a_category_without_parameters_keeps_the_standards():
    (plain,) = cells_of(study(TWO, UDP)).cells
    (given,) = cells_of(study(TWO + "edca_parameters.voice.cw_min = 7\n", UDP)).cells
    assert scenario(plain).bss[0].edca_parameters is None
    categories = scenario(given).bss[0].edca_parameters
    assert categories[3].cw_min == 7
    assert {categories[3].aifsn, categories[3].txop_us, categories[1].cw_min} == {None}
    # Values that are the standard's change nothing (table 9-155: AIFSN 3, CWmin 15, CWmax 1023).
    same = TWO + "edca_parameters.best_effort = { aifsn = 3, cw_min = 15, cw_max = 1023 }\n"
    assert measured(study(TWO, UDP)) == measured(study(same, UDP))


def test_a_txop_limit_gives_bursts():
    lines = 'phy = "802.11a"\nedca = true\nclients = 3\n'
    limit = lines + "edca_parameters.best_effort.txop_us = 4096\n"
    single, bursts = both(lines, limit, "throughput_bps")
    assert bursts > 1.05 * single
    one, several = both(lines, limit, "airtime_contention_s")
    assert several < 0.5 * one


def test_a_station_with_parameters_of_its_own_wins_the_air():
    own = 'phy = "802.11a"\nedca = true\n[[scenario.s.stations]]\nname = "A"\n'
    own += "edca_parameters.best_effort = { aifsn = 2, cw_min = 1, cw_max = 1 }\n"
    own += '[[scenario.s.stations]]\nname = "B"\n'
    rows = measured(study(own, UDP))
    first, second = (value(rows, "throughput_bps", f) for f in ("A-up", "B-up"))
    assert first > 3 * second


def test_parameters_of_the_access_point_are_its_own():
    lines = 'phy = "802.11a"\nedca = true\n'
    ap = lines + "ap.edca_parameters.best_effort = { aifsn = 1, cw_min = 0, cw_max = 0 }\n"
    down = UDP + 'direction = "down"\n'
    slow, fast = both(lines, ap, "throughput_bps", None, down)
    assert fast > 1.1 * slow
    up = both(lines, ap, "throughput_bps", None, UDP)
    assert up[0] == up[1]


def test_a_block_ack_window_limits_aggregation():
    lines = 'phy = "802.11ac"\nmcs = 8\n'
    wide, narrow = both(lines, lines + "block_ack_window = 4\n", "throughput_bps")
    assert narrow < 0.85 * wide
    one, off = both(
        lines + "block_ack_window = 1\n", lines + "ampdu_max_octets = 0\n", "throughput_bps"
    )
    assert one == pytest.approx(off, rel=0.05)


def test_poisson_arrivals_wait_longer_than_even_ones():
    even = UDP + "offered_mbps = 20\n"
    lines = 'phy = "802.11a"\n'
    constant = value(measured(study(lines, even)), "delay_s", "A-up")
    poisson = value(measured(study(lines, even + 'arrivals = "poisson"\n')), "delay_s", "A-up")
    assert poisson > 1.3 * constant
    offered = value(measured(study(lines, even + 'arrivals = "poisson"\n')), "offered_bps", "A-up")
    assert offered == pytest.approx(20e6, rel=0.1)


def test_an_mcs_of_a_station_changes_its_rate_alone():
    lines = 'phy = "802.11n"\nmcs = 7\nstations = [{ name = "A"%s }, { name = "B" }]\n'
    for flow, slower in (("A-up", True), ("B-up", False)):
        alone = UDP + f'stations = ["{flow[0]}"]\n'
        fast, slow = both(lines % "", lines % ", mcs = 1", "throughput_bps", flow, alone)
        assert (slow < 0.5 * fast) == slower
        assert slower or slow == fast
    (cell,) = cells_of(study(lines % ", mcs = 3, streams = 2", UDP)).cells
    rate = scenario(cell).nodes[0].rate
    assert (rate.mcs, rate.streams) == (3, 2)


@pytest.mark.parametrize("phy", ["802.11n", "802.11ax", "802.11be"])
def test_at_2_4_ghz_a_beacon_has_the_lowest_basic_rate_of_dsss(phy):
    lines = f'phy = "{phy}"\nband = "2.4"\nmcs = 3\nbeacon_octets = 250\n'
    texts = [lines, lines + "basic_rates_mbps = [1, 2, 5.5, 11]\n"]
    fast, slow = (
        value(measured(study(text, UDP).replace("beacons = false\n", "")), "airtime_management_s")
        for text in texts
    )
    # Long preamble and 250 octets at 1 Mb/s; 20 us and 85 symbols at 6 Mb/s, signal extension.
    assert slow / fast == pytest.approx((192 + 2000) / (20 + 85 * 4 + 6), rel=0.02)


def test_a_basic_rate_sets_the_rate_of_acknowledgements():
    lines = 'phy = "802.11a"\n'
    fast, slow = both(lines, lines + "basic_rates_mbps = [6]\n", "airtime_ack_s")
    per_frame = [
        value(measured(study(text, UDP)), "airtime_ack_s")
        / value(measured(study(text, UDP)), "packets_received", "A-up")
        for text in (lines, lines + "basic_rates_mbps = 6\n")
    ]
    # 14 octets take 28 us at 24 Mb/s and 44 us at 6 Mb/s, SIFS (16 us) comes first.
    assert per_frame[1] - per_frame[0] == pytest.approx(16e-6, abs=0.5e-6)
    assert slow > fast


def test_a_long_slot_costs_throughput():
    lines = 'phy = "802.11g"\n'
    short, long = both(lines, lines + "slot_time_us = 20\n", "throughput_bps")
    assert long < 0.9 * short
    assert both(lines, lines + "slot_time_us = 9\n", "throughput_bps") == [short, short]


MIXED = (
    UDP
    + """
application = "voip"
wmm = "voice"
stations = ["A"]
[[traffic.t.beside]]
name = "video"
transport = "udp"
direction = "down"
wmm = "video"
offered_mbps = 4
payload_bytes = 1200
stations = ["B"]
[[traffic.t.beside]]
name = "download"
transport = "tcp"
direction = "down"
stations = ["B"]
"""
)


def test_stations_have_traffic_of_their_own():
    (cell,) = cells_of(study(TWO, MIXED)).cells
    flows = {flow.name: flow for flow in scenario(cell).flows}
    assert list(flows) == ["A-up", "A-down", "video-B-down", "download-B-down"]
    assert [flow.access_category.value for flow in flows.values()] == [
        *("voice", "voice", "video", "best_effort")
    ]
    assert flows["video-B-down"].pattern.payload_octets == 1200
    rows = measured(study(TWO, MIXED))
    assert value(rows, "throughput_bps", "video-B-down") == pytest.approx(4e6, rel=0.1)
    assert value(rows, "throughput_bps", "download-B-down") > 0.5e6
    total = sum(value(rows, "throughput_bps", flow) for flow in flows)
    assert value(rows, "throughput_bps") == pytest.approx(total)


def test_fields_are_factors_of_a_grid():
    grid = (
        '"scenario.edca_parameters.voice.cw_min" = [3, 15]\n'
        '"scenario.block_ack_window" = [8, 64]\n'
        '"scenario.basic_rates_mbps" = [6, 24]\n'
        '"traffic.arrivals" = ["constant", "poisson"]\n'
    )
    plan = cells_of(study(TWO, UDP + "offered_mbps = 1\n", grid))
    assert len(plan.cells) == 16
    resolved = {scenario(cell).bss[0].edca_parameters[3].cw_min for cell in plan.cells}
    assert resolved == {3, 15}
    assert {scenario(c).bss[0].basic_rates_mbps for c in plan.cells} == {(6.0,), (24.0,)}
    slots = cells_of(study('phy = "802.11g"\n', UDP, '"scenario.slot_time_us" = [9, 20]\n'))
    assert {scenario(c).bss[0].short_slot for c in slots.cells} == {True, False}


@pytest.mark.parametrize(
    ("lines", "traffic", "message"),
    [
        (TWO + "edca_parameters.voice.cw_min = 8\n", "", "scenario.s.edca_parameters.voice.cw_min"),
        (TWO + "edca_parameters.voice.cw_min = 8\n", "", "8: must be a power of two less one"),
        (TWO + "edca_parameters.voice.aifsn = 16\n", "", "less than or equal to 15"),
        (TWO + "edca_parameters.voice.aifsn = 1\n", "", "aifsn of stations is 2 to 15"),
        (TWO + "edca_parameters.video.txop_us = 100\n", "", "a multiple of 32, such as 96 or 128"),
        (TWO + "edca_parameters.video = { cw_min = 15, cw_max = 7 }\n", "", "at least cw_min, 15"),
        (TWO + "edca_parameters.speech.cw_min = 7\n", "", "unknown key"),
        ('phy = "802.11a"\nedca_parameters.voice.cw_min = 7\n', "", "need edca = true"),
        ('phy = "802.11n"\nblock_ack_window = 65\n', "", "block_ack_window of 802.11n is 1 to 64"),
        ('phy = "802.11g"\nblock_ack_window = 8\n', "", "802.11g has no block ack"),
        ('phy = "802.11a"\nbasic_rates_mbps = [6, 11]\n', "", "11 is no rate; allowed: 6, 9, 12"),
        (
            'phy = "802.11ax"\nband = "5"\nbasic_rates_mbps = 1\n',
            "",
            "1 is no rate of 802.11ax at this band; allowed: 6, 9, 12",
        ),
        ('phy = "802.11a"\nslot_time_us = 20\n', "", "802.11a has 9"),
        ('phy = "802.11g"\nslot_time_us = 10\n', "", "9 or 20"),
        (
            'phy = "802.11g"\nslot_time_us = 9\nstations = [{ name = "A", phy = "802.11b" }]\n',
            "",
            "a cell with an 802.11b station has 20",
        ),
        ('phy = "802.11a"\nstations = [{ name = "A", mcs = 3 }]\n', "", "802.11a has no mcs"),
        (
            'phy = "802.11n"\nstations = [{ name = "A", mcs = 3, rate_mbps = 6 }]\n',
            "",
            "mcs and rate_mbps exclude one another",
        ),
        (TWO, 'arrivals = "poisson"\n', "needs offered_mbps"),
        (TWO, 'application = "voip"\narrivals = "poisson"\n', "is for a stream"),
        (TWO, 'arrivals = "uniform"\n', "'constant' or 'poisson'"),
        (TWO, '[[traffic.t.beside]]\ntransport = "udp"\n', "traffic.t.beside[0].name: is missing"),
        (
            TWO,
            '[[traffic.t.beside]]\nname = "x"\ntransport = "udp"\nduration_s = 3\n',
            "traffic.t.beside[0].duration_s: unknown key",
        ),
        (TWO, 2 * '[[traffic.t.beside]]\nname = "x"\ntransport = "udp"\n', "names must differ"),
    ],
)
def test_mistakes_name_key_value_and_range(lines, traffic, message):
    with pytest.raises(StudyError) as raised:
        cells_of(study(lines, UDP + traffic))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_testbeds_skip_with_a_reason():
    poisson = UDP + 'offered_mbps = 1\narrivals = "poisson"\n'
    linux = Linux()
    linux.missing = lambda: None
    linux._version = (2, 11)
    for lines, traffic, reason in (
        (TWO + "block_ack_window = 8\n", UDP, "block_ack_window"),
        (TWO + "edca_parameters.voice.cw_min = 7\n", UDP, "edca_parameters"),
        (TWO + "ap.edca_parameters.voice.cw_min = 7\n", UDP, "edca_parameters"),
        (TWO + "basic_rates_mbps = 6\n", UDP, "basic_rates_mbps"),
        ('phy = "802.11g"\nslot_time_us = 20\n', UDP, "slot_time_us"),
        ('phy = "802.11n"\nstations = [{ name = "A", mcs = 3 }]\n', UDP, "mcs"),
        (TWO, poisson, "arrivals"),
        (TWO, UDP + '[[traffic.t.beside]]\nname = "x"\ntransport = "udp"\n', "beside"),
    ):
        # hostapd always sends beacons.
        (cell,) = cells_of(study(lines, traffic).replace("beacons = false\n", "")).cells
        skip = linux.check(cell)
        assert skip is not None
        assert reason in skip.reason
    (cell,) = cells_of(study(TWO, MIXED)).cells
    assert "beside" in Analytic().check(cell).reason
    (cell,) = cells_of(study(TWO + "edca_parameters.voice.cw_min = 7\n", UDP)).cells
    assert "edca_parameters has no closed form" in Analytic().check(cell).reason
    (cell,) = cells_of(study(TWO + 'txop_protection = "multiple"\n', UDP)).cells
    assert "txop_protection has no closed form" in Analytic().check(cell).reason
    (cell,) = cells_of(study(TWO, UDP + 'stations = ["C"]\n')).cells
    assert "no station 'C'; there are A, B" in Simulator().check(cell).reason


@pytest.mark.parametrize(
    ("profile", "field", "lifetime_ms"),
    [
        ("ideal", "", 500.0),
        ("mt7621-software", "", None),
        ("mt7621-software", "queue_max_delay_ms = 300", 300.0),
        ("ideal", "queue_max_delay_ms = 0", None),
    ],
)
def test_the_lifetime_of_the_study_stands_before_that_of_the_driver(profile, field, lifetime_ms):
    stations = f'phy = "802.11b"\nstations = [{{ name = "A", profile = "{profile}" }}]\n'
    traffic = 'transport = "udp"\ndirection = "up"\nduration_s = 4\n'
    text = study(stations + field, traffic)
    (cell,) = cells_of(text).cells
    nodes = {node.name: node for node in scenario(cell).nodes}
    assert nodes["A"].queue.max_delay_ms == lifetime_ms
