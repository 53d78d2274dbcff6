"""Trials in virtual time on devices whose processors take time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from airtoll import _native, border
from airtoll.plan import Plan, make_plan
from airtoll.policies import resolve
from airtoll.study import Study
from airtoll.testbeds.contract import Measured
from airtoll.testbeds.guest import uml_kernel
from airtoll.testbeds.linux.air import medium
from airtoll.testbeds.linux.hosts import environment
from airtoll.testbeds.linux.job import ACCESS_POINTS, Flow, Job
from airtoll.testbeds.linux.testbed import Linux
from airtoll.testbeds.simulator import Simulator

pytestmark = [
    pytest.mark.guest,
    pytest.mark.skipif(
        uml_kernel.find() is None
        or medium.find() is None
        or any(shutil.which(tool) is None for tool in environment.TOOLS),
        reason="needs the daemons, `make build` and `airtoll guest build --driver uml`",
    ),
]

JOIN = Flow(transport="udp", offered_bps=1e6, payload_octets=200, duration_s=0.2)
#: A router at 400 MHz without an engine for CCMP.
ROUTER = (
    'base = "qca9531-software"\nabout = "a router at 400 MHz"\n'
    'clock_hz = { value = 400e6, source = "chosen" }\n'
)
#: Costs of operations that a handshake message can be told by, ns.
PRICES = {"p-256-scalar-mul": 10e6, "rsa-2048-sign": 40e6, "rsa-2048-verify": 3e6}


@pytest.fixture(scope="module")
def testbed() -> Iterator[Linux]:
    one = Linux(vm="uml")
    try:
        yield one
    finally:
        one.close()


def rows(measured: Measured) -> dict[str, float]:
    assert measured.failure is None, measured.failure
    return {row.metric: row.value for row in measured.rows}


def devices(policy: str, host: border.Host) -> str:
    """Two devices with radios, a wired host and an authentication server with the same costs."""
    link = resolve(policy).link
    return border.to_json(
        border.MediumDevices(
            radios=(
                border.MediumDevice(radios=("A",), host=host),
                border.MediumDevice(radios=(ACCESS_POINTS,), host=host),
            ),
            wired=host,
            authentication_server=host,
            cipher=border.CipherSuite(link.cipher.value),
            policy=resolve(policy).native(),
        )
    )


@pytest.mark.slow
def test_devices_that_cost_nothing_change_no_octet(testbed: Linux, tmp_path: Path) -> None:
    policy = "wpa2-psk-ccmp"
    job = Job(
        "free", policy, phy="802.11g", rate_mbps=54.0, flow=JOIN, seed=7, capture_traffic=True
    )
    without = testbed.carry_out(job, tmp_path / "without")
    free = evolve(job, devices=devices(policy, border.Host()))
    assert rows(testbed.carry_out(free, tmp_path / "free")) == rows(without)
    for name in ("air.pcap", "wire.pcap"):
        one, other = ((tmp_path / run / name).read_bytes() for run in ("without", "free"))
        assert one == other


@pytest.mark.parametrize(
    "policy", ["wpa3-sae-ccmp", pytest.param("wpa2-eap-tls-ccmp", marks=pytest.mark.slow)]
)
def test_a_join_grows_by_the_price_of_its_operations(testbed: Linux, policy: str) -> None:
    job = Job("join", policy, phy="802.11g", rate_mbps=54.0, flow=None, seed=7)
    slow = evolve(job, devices=devices(policy, border.Host(operations_ns=PRICES)))
    took = [rows(testbed.carry_out(one))["negotiation_time_s"] for one in (job, slow)]
    totals = _native.negotiate(border.to_json(resolve(policy).native()), 7)["totals"]
    price_s = sum(
        PRICES[name] * count * 1e-9
        for party in totals["by_party"]
        for name, count in priced(party["operations"])
        if name in PRICES
    )
    assert price_s > 0.06
    # Back-offs differ.
    assert took[1] - took[0] == pytest.approx(price_s, abs=0.005)


def priced(operations: list[dict[str, object]]) -> Iterator[tuple[str, int]]:
    """Names and units of the operations that have a price here."""
    for operation in operations:
        count = operation.get("count")
        if not isinstance(count, int):
            continue
        if operation["operation"] == "ec_scalar_mul":
            yield f"{operation['curve']}-scalar-mul", count
        elif operation["operation"] in ("sign", "verify"):
            yield f"{operation['algorithm']}-{operation['operation']}", count


def plan(router: Path, direction: str) -> Plan:
    data = {
        "study": {"name": "router", "title": "A slow router", "baseline": "open"},
        "scenario": {
            "cell": {
                "phy": "802.11a",
                "stations": [{"name": "A"}],
                "ap": {"profile": str(router)},
                "device_costs": "everywhere",
            }
        },
        "traffic": {
            "udp": {
                "transport": "udp",
                "direction": direction,
                "duration_s": 1.0,
                "warm_up_s": 0.3,
            }
        },
        "grid": {
            "scenario": ["cell"],
            "traffic": ["udp"],
            "policy": ["open", "wpa2-psk-ccmp"],
        },
    }
    return make_plan(Study.model_validate(data))


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["down", "up"])
def test_a_slow_router_carries_what_the_simulators_does(
    testbed: Linux, tmp_path: Path, direction: str
) -> None:
    router = tmp_path / "router.toml"
    router.write_text(ROUTER)
    planned = plan(router, direction)
    one = next(cell for cell in planned.cells if cell.policy == "wpa2-psk-ccmp")
    trial = planned.trial(one, 1, 1)
    assert testbed.check(one) is None
    simulated = rows(Simulator().measure(trial))["throughput_bps"]
    # 137.1 cycles for each of 1508 octets at 400 MHz, for 1472 octets of payload.
    assert simulated == pytest.approx(8 * 1472 / (1508 * 137.1 / 400e6), rel=0.01)
    assert rows(testbed.measure(trial))["throughput_bps"] == pytest.approx(simulated, rel=0.03)
