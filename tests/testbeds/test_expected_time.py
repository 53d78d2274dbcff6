"""The expected time of ``airtoll check`` against the CPU time of trials."""

import math
import time
from pathlib import Path

from airtoll.plan import make_plan
from airtoll.study import parse
from airtoll.testbeds.simulator import Simulator

#: The estimate is rough, and so is the machine that runs the tests.
_WITHIN = 12.0

UDP = 'transport = "udp"\nduration_s = {}\n'
CELLS = {
    "saturated": ('phy = "802.11a"', UDP.format(20), "open"),
    "paced": ('phy = "802.11a"', UDP.format(20) + "offered_mbps = 1\n", "open"),
    "short": ('phy = "802.11a"', UDP.format(1), "open"),
    "many": ('phy = "802.11a"\nclients = 50', UDP.format(10), "open"),
    "aggregated": ('phy = "802.11ac"\nmcs = 9\nwidth_mhz = 80', UDP.format(5), "open"),
    "passphrases": ('phy = "802.11a"\nclients = 50', UDP.format(0.1), "wpa2-psk-ccmp"),
    "certificates": ('phy = "802.11a"\nclients = 30', UDP.format(0.1), "wpa2-eap-tls-ccmp"),
}


def spent(lines, traffic, policy):
    """Expected seconds of a trial, and the least CPU seconds of three."""
    joins = "authenticate = true\n" if policy != "open" else ""
    text = (
        f'[study]\nname = "x"\ntitle = "x"\nbaseline = "{policy}"\n[scenario.s]\n{lines}\n{joins}'
        f'[traffic.t]\n{traffic}[grid]\npolicy = ["{policy}"]\n'
    )
    plan = make_plan(parse(text, Path("x.toml")).study, repetitions=1)
    (cell,) = plan.cells
    testbed = Simulator()
    assert testbed.check(cell) is None
    times = []
    for _ in range(3):
        begin = time.process_time()
        testbed.measure(plan.trial(cell, 1, 1))
        times.append(time.process_time() - begin)
    return testbed.expected_s(cell), min(times)


def test_the_expected_time_is_that_of_runs():
    found = {name: spent(*cell) for name, cell in CELLS.items()}
    for name, (expected, measured) in found.items():
        assert abs(math.log(measured / expected)) < math.log(_WITHIN), (name, expected, measured)
    # Long trials are told from short ones, whatever the machine.
    for slow, fast in (
        ("saturated", "paced"),
        ("saturated", "short"),
        ("many", "short"),
        ("certificates", "passphrases"),
    ):
        assert found[slow][0] > 2 * found[fast][0], (slow, fast)
        assert found[slow][1] > found[fast][1], (slow, fast)
