"""Wrong study files: each gives one line with file, key, value and what is allowed."""

from __future__ import annotations

import re
import time
import tracemalloc

import pytest

from airtoll.errors import StudyError
from airtoll.plan import make_plan
from airtoll.study import load, shipped, with_values

TEXT = shipped()["quickstart"].read_text("utf-8")
GRID = "[grid]"
LEVELS = ", ".join(map(str, range(1, 3001)))


def changed(old, new):
    assert old in TEXT
    return TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (changed("Open, WPA2", "Öffnen, WPA2").encode("latin-1"), r"line \d+: octet 0xd6 is not"),
        (TEXT.encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        (TEXT + "\nx = " + "[" * 5000 + "]" * 5000, "nested too deep; at most 32 levels"),
        (".".join("a" * 5000) + " = 1\n" + TEXT, "a dotted key has more than 32 parts"),
        (
            TEXT + "\nx = " + "[" * 40 + "]" * 40,
            r"question\[1\]\.x.*nested too deep; at most 32 levels",
        ),
        (TEXT + "\nx = 1" + "0" * 5000, "a number is out of range"),
        (changed("payload_bytes = 1472", "payload_bytes = 0x" + "f" * 9999), "out of range"),
        (TEXT + "#" * (1 << 20), "is too large; a study file has at most 1048576 octets"),
        (
            changed("scenario.home", "scenario." + "h" * 5000),
            "at most 100 characters, this .* 5000",
        ),
        (changed("scenario.home", 'scenario."=cmd()"'), r"scenario\.'=cmd\(\)': .* does not start"),
        (changed('name = "A"', 'name = "@A"'), r"stations\[0\]\.name: '@A': .* does not start"),
        (changed('title = "', r'title = "\u001b[31m'), r"study\.title: .* no control characters"),
        (changed('title = "', 'title = "' + "x" * 400), "at most 300 characters"),
        (
            changed(
                "payload_bytes = 1472", 'application = "request-response"\nresponse_bytes = 65508'
            ),
            "response_bytes: 65508 octets do not fit into one UDP datagram; at most 65507",
        ),
        (changed("duration_s = 5", "duration_s = true"), "duration_s: true is not a number"),
        (changed("duration_s = 5", 'duration_s = "5"'), "duration_s: '5' is a text, not a number"),
        (changed(GRID, f'{GRID}\n"scenario.beacons" = [1]'), "beacons: 1 is not true or false"),
        (changed("duration_s = 5", "duration_s = inf"), r"duration_s: inf: must be a finite"),
        (changed("duration_s = 5", "duration_s = 1e9"), r"duration_s: .* less than or equal to"),
        (changed('[{ name = "A", position_m = [5.0, 0.0] }]', "[]"), r"stations: \[\]: .* 1 entry"),
        (changed(GRID, f'{GRID}\n"scenario.rssi_dbm" = [nan]'), r"rssi_dbm\[0\]: nan: must be"),
        (changed(GRID, f'{GRID}\n"scenario.clients" = []'), r"grid\.scenario\.clients: is empty"),
        (
            changed(GRID, f'{GRID}\n"scenario.queue_packets" = [{LEVELS}]'),
            "grid: 27000 cells; a study has at most 20000",
        ),
    ],
)
def test_a_wrong_study_is_refused_in_one_line(tmp_path, text, expected):
    file = tmp_path / "study.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(StudyError) as caught:
        load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert re.search(expected, message)
    assert message.isprintable()
    assert len(message) < 400 + len(str(file))


def test_a_byte_order_mark_is_removed(tmp_path):
    file = tmp_path / "study.toml"
    file.write_bytes(TEXT.encode("utf-8-sig"))
    assert load(file).text == TEXT


def test_a_key_of_a_traffic_that_does_not_exist_is_refused():
    with pytest.raises(StudyError, match="no traffic 'nope'; defined: udp, tcp, small"):
        with_values(load("quickstart"), {"traffic.nope.duration_s": 5})


def test_values_of_options_are_checked_like_the_file():
    with pytest.raises(StudyError, match="must be a finite number"):
        with_values(load("quickstart"), {"traffic.udp.duration_s": float("nan")})


def test_a_grid_of_fifty_million_cells_is_refused_at_once(tmp_path):
    file = tmp_path / "study.toml"
    levels = ", ".join(map(str, range(1, 2400)))
    file.write_text(
        changed(
            GRID, f'{GRID}\n"scenario.queue_packets" = [{levels}]\n"scenario.ssids" = [{levels}]'
        )
    )
    tracemalloc.start()
    before = time.process_time()
    try:
        with pytest.raises(StudyError, match="51796809 cells"):
            load(file)
        assert tracemalloc.get_traced_memory()[1] < 50e6
        assert time.process_time() - before < 5
    finally:
        tracemalloc.stop()


def test_too_many_trials_are_refused():
    with pytest.raises(StudyError, match="100000 trials of 9 cells; a run has at most 500000"):
        make_plan(load("quickstart").study, repetitions=100_000)


def test_a_grid_without_cells_is_refused():
    study = with_values(load("quickstart"), {"exclude": [{"scenario": ["home"]}]}).study
    with pytest.raises(StudyError, match="exclude: leaves no cell"):
        make_plan(study)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("streams = 2", "streams: 802.11g has one spatial stream"),
        ("ampdu_max_octets = 65535", "ampdu_max_octets: 802.11g has no A-MPDUs"),
        ("amsdu_max_octets = 3839", "amsdu_max_octets: 802.11g has no A-MSDUs"),
    ],
)
def test_a_setting_of_mcs_phys_is_refused_where_no_node_has_one(tmp_path, given, expected):
    file = tmp_path / "study.toml"
    text = re.sub(r'phy = "[^"]+"', f'phy = "802.11g"\n{given}', TEXT, count=1)
    file.write_text(text)
    with pytest.raises(StudyError, match=expected):
        load(file)
    off = text.replace(given, f"{given.split(' =')[0]} = {int('streams' in given)}")
    file.write_text(off)
    assert load(file).study.scenario


def test_an_access_category_needs_a_cell_with_edca(tmp_path):
    file = tmp_path / "study.toml"
    text = changed("payload_bytes = 1472", 'payload_bytes = 1472\nwmm = "voice"')
    text = re.sub(r'phy = "[^"]+"', 'phy = "802.11g"', text, count=1)
    file.write_text(text)
    with pytest.raises(StudyError, match=r"traffic\.\w+\.wmm: no cell of this traffic has access"):
        make_plan(load(file).study)
    both = text.replace(GRID, f'{GRID}\n"scenario.edca" = [false, true]')
    file.write_text(both)
    assert make_plan(load(file).study).cells
