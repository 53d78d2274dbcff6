"""``airtoll capture example POLICY``: one station joins and sends a few datagrams, as a capture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from airtoll.cli.output import err, out
from airtoll.errors import UsageError
from airtoll.policies import resolve
from airtoll.study.generations import phy_name
from airtoll.testbeds.example import AIR, KEYS, compose, wireshark_keys


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
    compose(name, target, phy=phy_name(phy).removeprefix("802.11"), seed=seed)
    octets = sum(path.stat().st_size for path in target.iterdir())
    err().print(f"wrote {target}: {octets / 1000:.0f} kB", markup=False, soft_wrap=True)
    read = f"airtoll capture report {target / AIR} --keys {target / KEYS}"
    out().print(read, markup=False, soft_wrap=True)
    if name != "open":
        compare = f"airtoll capture example open && airtoll capture compare open {target}"
        err().print(f"beside an open network: {compare}", markup=False, soft_wrap=True)
    for key in wireshark_keys(target / KEYS):
        err().print(f"Wireshark: decryption key {key}", markup=False, soft_wrap=True)
