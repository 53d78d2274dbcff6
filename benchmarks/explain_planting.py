"""How often `airtoll explain` names a mechanism that was planted in the simulator.

Random networks (``explain_networks.py``), each with one mechanism; the share in which it is first,
and among the first two; and, with the planted mechanism left out of the list, the share of "nothing
fits" (strict: on the owner's readings as they are). Besides: the same of owners with a capture; the
share in which nothing fits or several mechanisms cannot be told apart; and all of it after up to
two of the measurements that each answer asks for. Widths and priors were tuned on one set of
seeds; the recorded rates are of another one.

    python benchmarks/explain_planting.py --seeds held-out --networks 68 \
        --out benchmarks/results/explain.json
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

from attrs import asdict
from explain_networks import PLANTS, Network, further, network, readings

from airtoll.analyse.explain import (
    MECHANISMS,
    OPTIONS,
    Flow,
    Mechanism,
    Ranking,
    Reading,
    Setting,
    deciding,
    rank,
)
from airtoll.run.explaining import Link, setting_of


def measured(
    seeds: str, count: int, noise: float, cache: Path | None, kinds: Sequence[str]
) -> list[dict[str, Any]]:
    """The networks with their readings, as JSON values; ``cache`` keeps them."""
    if cache is not None and cache.exists():
        return json.loads(cache.read_text("utf-8"))
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            kind = kinds[number % len(kinds)]
            one = network(f"{seeds} {number}", kind, Path(folder))
            begun = time.process_time()
            taken = readings(one, noise)
            found.append(
                {
                    "name": one.name,
                    "planted": kind,
                    "detail": one.detail,
                    "link": asdict(one.link),
                    "readings": [asdict(reading) for reading in taken],
                    "cpu_s": time.process_time() - begun,
                }
            )
            print(one.name, kind, one.detail, f"{found[-1]['cpu_s']:.1f} s", flush=True)
    if cache is not None:
        cache.write_text(json.dumps(found), "utf-8")
    return found


#: Measurements that an answer asks for and that are then taken, and those that the simulator has.
_ASKED: Final = 2
_TAKEN: Final = tuple(
    one
    for one in OPTIONS
    if one.quantity
    not in (
        "mpdus_per_frame",
        "reordered_share",
        "cable_bps",
        "cpu_share",
        "software_share",
    )
)


def judged(one: dict[str, Any], noise: float) -> dict[str, Any]:
    """The rank of the planted mechanism, and whether anything else fits without it.

    Both by the owner's readings alone, and with up to two measurements that the answers ask for.
    """
    link = Link(**one["link"])
    taken = [Reading(**{**reading, "flow": Flow(**reading["flow"])}) for reading in one["readings"]]
    begun, cpu = time.perf_counter(), time.process_time()
    setting = setting_of(link, [reading.flow for reading in taken])
    ranking = rank(setting, taken)
    decides = deciding(setting, ranking, taken)
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    names = [ranked.mechanism.name for ranked in ranking.ranked]
    without = {name: m for name, m in MECHANISMS.items() if name != one["planted"]}
    left_out = rank(setting, taken, without)
    best = left_out.ranked[0]
    with tempfile.TemporaryDirectory() as folder:
        planted = network(one["name"], one["planted"], Path(folder))
        more: dict[str, list[Reading]] = {}
        later = asked(planted, setting, taken, ranking, MECHANISMS, noise, more)
        later_out = asked(planted, setting, taken, left_out, without, noise, more)
    return {
        "planted": one["planted"],
        "detail": one["detail"],
        "captured": any(reading.quantity == "rate_bps" for reading in taken),
        "place": names.index(one["planted"]) + 1 if one["planted"] in names else None,
        "fits": ranking.fits,
        "first": names[0],
        "second": names[1],
        "weight": ranking.ranked[0].weight,
        "nothing_fits_without": not left_out.fits,
        "open_without": left_out.fits and len(left_out.alike) > 1,
        "instead": best.mechanism.name,
        "instead_misfit": best.misfit,
        "decides": decides.option.words if decides else None,
        "later_first": later.ranked[0].mechanism.name == one["planted"],
        "later_nothing_fits_without": not later_out.fits,
        "wall_s": wall,
        "cpu_s": cpu,
    }


def asked(
    planted: Network,
    setting: Setting,
    readings: Sequence[Reading],
    ranking: Ranking,
    mechanisms: Mapping[str, Mechanism],
    noise: float,
    more: dict[str, list[Reading]],
) -> Ranking:
    """The ranking after the measurements that it asks for; ``more``: those that were taken."""
    known = list(readings)
    for _ in range(_ASKED):
        found = deciding(setting, ranking, known, _TAKEN) if ranking.fits else None
        if found is None or found.reading is None:
            break
        token = found.option.token
        if token not in more:
            more[token] = further(planted, found.reading, noise)
        held = {(one.quantity, one.flow) for one in known}
        known += [one for one in more[token] if (one.quantity, one.flow) not in held]
        if len(known) == len(held):
            break
        if any(one.flow.alone not in setting.air for one in known):
            break
        ranking = rank(setting, known, mechanisms)
    return ranking


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="tuning", help="name of the set of seeds")
    parser.add_argument("--networks", type=int, default=68)
    parser.add_argument("--noise", type=float, default=0.015)
    parser.add_argument("--cache", type=Path, help="file that keeps the measured networks")
    parser.add_argument("--only", action="append", choices=list(PLANTS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--processes", type=int, default=2, help="of the explanations")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    kinds = args.only or list(PLANTS)
    networks = measured(args.seeds, args.networks, args.noise, args.cache, kinds)
    with ProcessPoolExecutor(args.processes) as pool:
        outcomes = list(pool.map(partial(judged, noise=args.noise), networks))
    changing = [one for one in outcomes if one["planted"] != "octets"]

    def share(part: list[bool]) -> float:
        return round(sum(part) / len(part), 3)

    result: dict[str, Any] = {
        "seeds": args.seeds,
        "networks": len(outcomes),
        "noise": args.noise,
        "first": share([one["place"] == 1 for one in outcomes]),
        "first_and_fits": share([one["place"] == 1 and one["fits"] for one in outcomes]),
        "first_two": share([one["place"] in (1, 2) for one in outcomes]),
        "nothing_fits_when_left_out": share([one["nothing_fits_without"] for one in changing]),
        "nothing_fits_when_left_out_with_capture": share(
            [one["nothing_fits_without"] for one in changing if one["captured"]]
        ),
        "nothing_fits_or_open_when_left_out": share(
            [one["nothing_fits_without"] or one["open_without"] for one in changing]
        ),
        "first_after_asked": share([one["later_first"] for one in outcomes]),
        "nothing_fits_when_left_out_after_asked": share(
            [one["later_nothing_fits_without"] for one in changing]
        ),
        "longest_s": round(max(one["wall_s"] for one in outcomes), 2),
        "longest_cpu_s": round(max(one["cpu_s"] for one in outcomes), 2),
        "kinds": {
            kind: {
                "networks": len(own),
                "first": sum(one["place"] == 1 for one in own),
                "first_two": sum(one["place"] in (1, 2) for one in own),
                "nothing_fits_when_left_out": sum(one["nothing_fits_without"] for one in own),
                "nothing_fits_when_left_out_after_asked": sum(
                    one["later_nothing_fits_without"] for one in own
                ),
            }
            for kind in PLANTS
            if (own := [one for one in outcomes if one["planted"] == kind])
        },
    }
    if args.verbose:
        for network_, one in zip(networks, outcomes, strict=True):
            link = network_["link"]
            print(
                f"{one['planted']:20} place {one['place']} fits {one['fits']} first {one['first']} "
                f"{one['weight']:.2f}, then {one['second']}; left out: "
                f"{'nothing' if one['nothing_fits_without'] else one['instead']} "
                f"{one['instead_misfit']:.1f}, asked: first {one['later_first']}, "
                f"nothing {one['later_nothing_fits_without']} | "
                f"{link['phy']} {link['after']} {one['detail']} | "
                f"{len(network_['readings'])} readings"
            )
    text = json.dumps(result, indent=2)
    print(text)
    if args.out:
        args.out.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
