"""Write the tables of the page on RADIUS proxies.

Measures the cells of the study `eduroam` and writes each table between its markers. With --check it
fails where a table differs. It changes no word outside the markers.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from airtoll.plan import Cell, Trial, make_plan
from airtoll.study import load
from airtoll.testbeds.simulator import Simulator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/studies/eduroam.md"
_MARK = re.compile(r"<!-- table: ([a-z0-9-]+) -->\n.*?<!-- end of table -->\n", re.DOTALL)
PLACES = ("at-home", "country", "abroad")
METHODS = {"EAP-TLS": "wpa2-eap-tls-ccmp", "PEAP": "wpa2-eap-peap-ccmp"}
CHAINS = ("p256", "ml-dsa-44", "ml-dsa-65")
#: Joins behind a median.
JOINS = 41


@cache
def cells() -> tuple[Cell, ...]:
    """The cells of the study."""
    return tuple(make_plan(load(ROOT / "studies/eduroam.toml").study, seed=1).cells)


def cell_of(place: str, policy: str, chain: str, transport: str, loss: float) -> Cell:
    """The one cell with these factors."""
    wanted = {
        "scenario.join.chain": chain,
        "scenario.radius.transport": transport,
        "scenario.radius.loss_ratio": loss,
    }
    (found,) = (
        cell
        for cell in cells()
        if (cell.scenario, cell.policy) == (place, policy) and dict(cell.factors) == wanted
    )
    return found


def value(cell: Cell, metric: str, seed: int = 1) -> float | None:
    """A metric of the station in one trial; None where it did not join."""
    trial = Simulator().measure(Trial(cell=cell, number=1, attempt=1, seed=seed))
    if trial.failure is not None:
        return None
    return next(r.value for r in trial.rows if (r.metric, r.station) == (metric, "A"))


def seconds(time: float | None) -> str:
    """A time in seconds with two digits after the point."""
    return "-" if time is None else f"{time:.2f}"


def median(place: str, policy: str, chain: str, transport: str) -> str:
    """Median of joins with loss; a join that failed is longer than all others."""
    cell = cell_of(place, policy, chain, transport, 0.05)
    times = [value(cell, "join_time_s", seed) for seed in range(1, JOINS + 1)]
    middle = statistics.median(float("inf") if time is None else time for time in times)
    return "-" if middle == float("inf") else f"{middle:.1f}"


def joins() -> Iterator[str]:
    """Join times without loss."""
    yield "| method | chain | messages | home, s | country, s | abroad, s | abroad over TLS, s |"
    yield "|---|---|---|---|---|---|---|"
    for method, policy in METHODS.items():
        for chain in CHAINS:
            near = cell_of("at-home", policy, chain, "udp", 0.0)
            messages = value(near, "authentication_messages")
            assert messages is not None
            times = [
                value(cell_of(place, policy, chain, "udp", 0.0), "join_time_s") for place in PLACES
            ]
            times.append(value(cell_of("abroad", policy, chain, "tls", 0.0), "join_time_s"))
            shown = " | ".join(map(seconds, times))
            yield f"| {method} | {chain} | {messages:.0f} | {shown} |"


def lossy() -> Iterator[str]:
    """Medians with loss."""
    yield "| method | chain | home: UDP, s | TLS, s | country: UDP | TLS | abroad: UDP | TLS |"
    yield "|---|---|---|---|---|---|---|---|"
    for method, policy in METHODS.items():
        for chain in CHAINS:
            shown = " | ".join(
                median(place, policy, chain, transport)
                for place in PLACES
                for transport in ("udp", "tls")
            )
            yield f"| {method} | {chain} | {shown} |"


TABLES = {"eduroam-joins": joins, "eduroam-loss": lossy}


def written(text: str, wanted: set[str] | None = None) -> str:
    """The page with its tables, or those in ``wanted``, measured anew."""

    def fill(found: re.Match[str]) -> str:
        name = found.group(1)
        if wanted is not None and name not in wanted:
            return found.group(0)
        table = "\n".join(TABLES[name]())
        return f"<!-- table: {name} -->\n{table}\n<!-- end of table -->\n"

    return _MARK.sub(fill, text)


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where a table differs")
    options = parser.parse_args()
    text = PAGE.read_text("utf-8")
    new = written(text)
    if not options.check:
        PAGE.write_text(new, "utf-8")
        return 0
    if new != text:
        sys.stderr.write(f"{PAGE.relative_to(ROOT)}: out of date; run tools/eduroam_pages.py\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
