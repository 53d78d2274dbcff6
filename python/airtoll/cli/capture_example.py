"""``airtoll capture example POLICY``: one station joins and sends a few datagrams, as a capture.

Takes a policy; writes the frames on the air, the packets on the wire and the keys into a folder.
The simulator composes them; the files are a few dozen kilobytes.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from airtoll.cli.output import err, out
from airtoll.errors import UsageError
from airtoll.plan import make_plan
from airtoll.policies import resolve
from airtoll.study import parse
from airtoll.testbeds.simulator import Simulator

#: One station that joins, and a datagram every 10 ms for 0.1 s.
_STUDY = """
[study]
name = "capture-example"
title = "One station joins and sends ten datagrams"
baseline = "{policy}"

[trials]
repetitions = 1

[scenario.home]
phy = "802.11{phy}"
authenticate = true
stations = [{{ name = "A", position_m = [5.0, 0.0] }}]

[traffic.few]
transport = "udp"
offered_mbps = 1.2
duration_s = 0.1

[grid]
policy = ["{policy}"]
traffic = ["few"]
"""


def example(
    policy: Annotated[str, typer.Argument(help="Policy or alias, see `airtoll policies list`.")],
    folder: Annotated[
        Path | None, typer.Option("--out", help="New folder for the files; default: the policy.")
    ] = None,
    phy: Annotated[str, typer.Option(help="Generation: a, b, g, n, ac, ax or be.")] = "a",
    seed: Annotated[int, typer.Option(help="Seed of keys, nonces and random waits.")] = 1,
) -> None:
    """Compose a small capture with a handshake, its keys beside it."""
    name = resolve(policy).name
    target = folder or Path(name)
    if target.exists():
        raise UsageError(f"{target}: exists; name a new folder with --out")
    study = parse(_STUDY.format(policy=name, phy=phy), Path("capture example")).study
    plan = make_plan(study, seed=seed)
    testbed = Simulator()
    reason = testbed.check(plan.cells[0])
    if reason is not None:
        raise UsageError(f"{name}: the simulator cannot compose its join: {reason}")
    with tempfile.TemporaryDirectory() as scratch:
        testbed.measure(plan.trial(plan.cells[0], 1, 1), Path(scratch))
        (made,) = Path(scratch).iterdir()
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, target)
    octets = sum(path.stat().st_size for path in target.iterdir())
    err().print(f"wrote {target}: {octets / 1000:.0f} kB", markup=False, soft_wrap=True)
    read = f"airtoll capture report {target / 'air.pcapng'} --keys {target / 'keys.json'}"
    out().print(read, markup=False, soft_wrap=True)
