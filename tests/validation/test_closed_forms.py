"""Closed forms through the native module: columns, refusals, and the thesis's Table 4-2."""

from __future__ import annotations

import json
import re

import pytest

from airtoll import _native


def scenario(stations: int = 1, **bss: object) -> str:
    cell = {
        "name": "c",
        "standard": "802.11a",
        "rate": {"control": "fixed", "mbps": 54},
    } | bss
    names = [f"s{i}" for i in range(stations)]
    return json.dumps(
        {
            "duration_s": 10,
            "bss": [cell],
            "nodes": [{"name": n, "role": "station", "bss": "c"} for n in names]
            + [{"name": "ap", "role": "access_point", "bss": "c"}],
            "flows": [
                {
                    "name": f"up-{n}",
                    "station": n,
                    "source": n,
                    "destination": "ap",
                    "transport": {"protocol": "udp"},
                    "pattern": {"type": "saturated", "payload_octets": 1472},
                }
                for n in names
            ],
        }
    )


def test_columns_have_one_row_per_flow_and_one_for_the_cell() -> None:
    columns = _native.Scenario(scenario(3)).analytic()
    assert columns["flow"] == ["up-s0", "up-s1", "up-s2", None]
    assert columns["method"] == ["bianchi"] * 3 + ["sum"]
    values = columns["value"]
    assert values[3] == pytest.approx(sum(values[:3]))
    assert _native.Scenario(scenario(3)).check_analytic() is None


def test_one_station_meets_theory_and_simulator() -> None:
    [theory, _] = _native.Scenario(scenario()).analytic()["value"]
    assert theory == pytest.approx(1472 * 8 / 393.5e-6)
    rows = _native.Scenario(scenario()).simulate([1])
    [simulated] = [
        value
        for metric, flow, second, value in zip(
            rows["metric"], rows["flow"], rows["second"], rows["value"], strict=True
        )
        if metric == "throughput_bps" and flow == "up-s0" and second is None
    ]
    assert simulated == pytest.approx(theory, rel=0.005)


def test_refusals_name_flow_and_reason() -> None:
    aarf = scenario(rate={"control": "aarf"})
    assert _native.Scenario(aarf).check_analytic() == (
        "no closed form for flow up-s0: rate control has no closed form"
    )
    with pytest.raises(ValueError, match="rate control"):
        _native.Scenario(aarf).analytic()
    with pytest.raises(_native.InvalidScenario, match=re.escape("bss[0].rate.mbps")):
        _native.Scenario(scenario(rate={"control": "fixed", "mbps": 7}))


def test_the_thesis_table_is_compared_with_ours() -> None:
    lines = {line["phy"]: line for line in _native.published_maxima()}
    assert list(lines) == ["802.11b", "802.11b/g", "802.11g", "802.11a"]
    for line in lines.values():
        assert line["udp_as_printed_bps"] == pytest.approx(line["printed_udp_bps"], abs=0.05e6)
        assert line["tcp_lower_bps"] < line["tcp_upper_bps"] < line["udp_bps"]
