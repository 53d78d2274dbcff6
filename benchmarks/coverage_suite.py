"""How often each interval of the analysis holds the true value, on synthetic runs.

Each line draws runs of a known distribution, asks the analysis for its interval, and counts how
often the interval holds the truth. Lines on tests count how often a run without any difference
reports one. The table in docs/statistics.md is written from the result.

Lines of the kind ``none`` count how often an interval is given where none should be, because it
would not hold.

    python benchmarks/coverage_suite.py --out benchmarks/results/coverage.json \
        --page docs/statistics.md
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from airtoll.analyse.analysis import Analysis, analyse
from airtoll.analyse.control import CONTROL
from airtoll.analyse.estimate import median_ranks
from airtoll.analyse.join_times import FEWEST_RETRIES, bca_of_means, ends_of_means, shifts
from airtoll.analyse.overhead import fieller_ends
from airtoll.analyse.percentiles import percentile
from airtoll.analyse.precision import LEAST_TRIALS
from airtoll.analyse.shares import wilson
from airtoll.observe.schema import OBSERVATIONS
from airtoll.run.precision import next_repetitions

START, END = "<!-- coverage -->\n", "<!-- end of coverage -->\n"
LEVEL = 0.95
Rng = np.random.Generator


class Closest:
    """The selection rule of Tripathi and Damani."""

    rule, keep, count, ratio, metric = "closest_to_mean", 5, None, None, None


def observations(values: dict[str, np.ndarray], metric: str, unit: str) -> pl.DataFrame:
    """Observations of many runs at once: policy -> runs x trials; a run is a scenario."""
    frames = []
    for policy, table in values.items():
        runs, trials = table.shape
        names = np.repeat(np.array([f"r{i}" for i in range(runs)]), trials)
        frames.append(
            pl.DataFrame(
                {
                    "scenario": names,
                    "trial": np.tile(np.arange(1, trials + 1), runs),
                    "value": table.ravel(),
                }
            ).with_columns(
                policy=pl.lit(policy),
                cell=pl.col("scenario") + f"/{policy}/udp",
                metric=pl.lit(metric),
                unit=pl.lit(unit),
                traffic=pl.lit("udp"),
                factors=pl.lit("{}"),
                attempt=pl.lit(1),
            )
        )
    frame = pl.concat(frames)
    return frame.with_columns(
        pl.lit(None, kind).alias(name)
        for name, kind in OBSERVATIONS.items()
        if name not in frame.columns
    )


def inside(frame: pl.DataFrame, truth: float, low: str = "low", high: str = "high") -> float:
    """Share of rows whose interval holds the truth; rows without an interval are left out."""
    known = frame.filter(pl.col(low).is_not_nan() & pl.col(low).is_not_null())
    return float(((known[low] <= truth) & (known[high] >= truth)).mean())  # type: ignore[arg-type]


def analysed(rng: Rng, runs: int, n: int, draw: str, select: Any = None) -> Analysis:
    """Runs of two policies; true means 1 and 0.95."""

    def one(mean: float) -> np.ndarray:
        if draw == "normal":
            return mean * (1 + 0.02 * rng.standard_normal((runs, n)))
        return mean * rng.gamma(100.0, 0.01, (runs, n))

    rows = observations(
        {"open": 1e7 * one(1.0), "wep-40": 1e7 * one(0.95)}, "throughput_bps", "bit/s"
    )
    return analyse(rows, select=select)


def with_control(n: int, share: float, what: str) -> Callable[[Rng, int], float]:
    """Readings of which a control variate explains a share of the variance."""

    def line(rng: Rng, runs: int) -> float:
        control = {name: rng.standard_normal((runs, n)) for name in ("open", "wep-40")}
        own = math.sqrt(1 - share)
        values = {
            name: mean * (1 - 0.02 * (math.sqrt(share) * c + own * rng.standard_normal((runs, n))))
            for (name, c), mean in zip(control.items(), (1e7, 0.95e7), strict=True)
        }
        rows = pl.concat(
            [
                observations(values, "throughput_bps", "bit/s"),
                observations(control, CONTROL, "1"),
            ]
        )
        result = analyse(rows)
        if what == "mean":
            return inside(result.estimates.filter(policy="open"), 1e7)
        return inside(result.overheads, 0.05)

    return line


def throughput(n: int, draw: str) -> Callable[[Rng, int], float]:
    return lambda rng, runs: inside(
        analysed(rng, runs, n, draw).estimates.filter(policy="open"), 1e7
    )


def overhead(n: int, draw: str) -> Callable[[Rng, int], float]:
    return lambda rng, runs: inside(analysed(rng, runs, n, draw).overheads, 0.05)


def selected(what: str) -> Callable[[Rng, int], float]:
    def line(rng: Rng, runs: int) -> float:
        result = analysed(rng, runs, 20, "normal", Closest())
        if what == "mean":
            return inside(result.estimates.filter(policy="open"), 1e7)
        return inside(result.overheads, 0.05)

    return line


def paired(rng: Rng, runs: int) -> float:
    """Overhead of pairs that share a drift of 5 %."""
    drift = 1 + 0.05 * rng.standard_normal((runs, 10))
    own = 1 + 0.01 * rng.standard_normal((2, runs, 10))
    rows = observations(
        {"open": 1e7 * drift * own[0], "wep-40": 0.95e7 * drift * own[1]}, "throughput_bps", "bit/s"
    )
    return inside(analyse(rows, paired=True).overheads, 0.05)


def until(precision: float) -> Callable[[Rng, int], float]:
    """Overhead of 5 % at the end of --until-precision; readings vary by 2 %.

    Fieller's interval needs means and variances alone. Those of further normal readings are drawn
    from their distributions (normal, chi-square) and merged, so that a run costs a few numbers.
    """
    truth, spread = np.array([0.95, 1.0]), np.array([0.019, 0.02])

    def line(rng: Rng, runs: int) -> float:
        n = np.zeros(runs, dtype=np.int64)
        mean, squares = np.zeros((2, runs)), np.zeros((2, runs))
        low, high = np.empty(runs), np.empty(runs)
        alive, target = np.arange(runs), np.full(runs, LEAST_TRIALS)
        while alive.size:
            before, more = n[alive], target[alive] - n[alive]
            for side in (0, 1):
                new = truth[side] + spread[side] * rng.standard_normal(alive.size) / np.sqrt(more)
                own = np.where(more > 1, rng.chisquare(np.maximum(more - 1, 1)), 0.0)
                delta = new - mean[side, alive]
                within = delta**2 * before * more / target[alive]
                squares[side, alive] += spread[side] ** 2 * own + within
                mean[side, alive] += delta * more / target[alive]
            n[alive] = target[alive]
            count = n[alive].astype(np.float64)
            variances = squares[:, alive] / (count - 1) / count
            low[alive], high[alive] = fieller_ends(*mean[:, alive], *variances, count, count, LEVEL)
            widths = (high[alive] - low[alive]) / 2
            goes_on = [
                next_repetitions(int(trials), float(width), precision, 10_000)
                for trials, width in zip(n[alive], widths, strict=True)
            ]
            target[alive] = [trials or 0 for trials in goes_on]
            alive = alive[target[alive] > 0]
        return float(((low <= 0.95) & (high >= 0.95)).mean())

    return line


def retried(rng: Rng, shape: tuple[int, ...], share: float) -> tuple[np.ndarray, np.ndarray]:
    """Times of joins of which a share are retried after a second, and which are."""
    slow = rng.random(shape) < share
    return 0.010 + rng.exponential(1e-3, shape) + slow, slow


def median(n: int, share: float) -> Callable[[Rng, int], float]:
    def line(rng: Rng, runs: int) -> float:
        ranks = median_ranks(n, LEVEL)
        assert ranks is not None
        times, _ = retried(rng, (runs, n), share)
        times.sort(axis=1)
        truth = 0.010 - 1e-3 * np.log(1 - 0.5 / (1 - share))
        return float(((times[:, ranks[0] - 1] <= truth) & (truth <= times[:, ranks[1] - 1])).mean())

    return line


def median_exact(n: int) -> float:
    ranks = median_ranks(n, LEVEL)
    assert ranks is not None
    return ranks[2]


def share_of_retries(n: int, share: float) -> Callable[[Rng, int], float]:
    def line(rng: Rng, runs: int) -> float:
        low, high = wilson(rng.binomial(n, share, runs), np.full(runs, n), LEVEL)
        return float(((low <= share) & (share <= high)).mean())

    return line


def joined(n: int, share: float, alike: float) -> Callable[[Rng, int], float]:
    """Share of 50 clients that join; ``alike``: correlation of the clients of one trial."""

    def line(rng: Rng, runs: int) -> float:
        size = (1 - alike) / alike
        shares = rng.binomial(50, rng.beta(share * size, (1 - share) * size, (runs, n))) / 50
        return inside(analyse(observations({"open": shares}, "joined_ratio", "1")).estimates, share)

    return line


def wilson_exact(n: int, share: float) -> float:
    """Wilson's own coverage at a share, from the binomial distribution."""
    low, high = wilson(np.arange(n + 1), np.full(n + 1, n), LEVEL)
    return sum(
        math.comb(n, k) * share**k * (1 - share) ** (n - k)
        for k in range(n + 1)
        if low[k] <= share <= high[k]
    )


def mean_bca(n: int, share: float) -> Callable[[Rng, int], float]:
    """The mean of retried joins in runs without the warning."""

    def line(rng: Rng, runs: int) -> float:
        times, slow = retried(rng, (runs, n), share)
        spoken = slow.sum(axis=1) >= FEWEST_RETRIES
        low, high = bca_of_means(times[spoken], LEVEL)
        truth = 0.011 + share
        return float(((low <= truth) & (truth <= high)).mean())

    return line


def mean_given(n: int, share: float) -> Callable[[Rng, int], float]:
    """How often the mean of retried joins, whose messages were counted, has an interval."""

    def line(rng: Rng, runs: int) -> float:
        times, slow = retried(rng, (runs, n), share)
        low, _ = ends_of_means(times, slow.sum(axis=1).astype(np.float64), LEVEL)
        return float((~np.isnan(low)).mean())

    return line


def median_given(n: int) -> Callable[[Rng, int], float]:
    """How often a median has an interval between order statistics."""
    return lambda _rng, _runs: float(median_ranks(n, LEVEL) is not None)


def shift(n: int) -> Callable[[Rng, int], float]:
    """Hodges-Lehmann's shift of 2 ms between two policies' joins."""

    def line(rng: Rng, runs: int) -> float:
        first, _ = retried(rng, (runs, n), 0.05)
        second, _ = retried(rng, (runs, n), 0.05)
        _, low, high, _ = shifts(first, second + 0.002, LEVEL)
        return float(((low <= 0.002) & (high >= 0.002)).mean())

    return line


def of_packets(
    share: float, n: int, packets: int = 2000, *, given: bool = False
) -> Callable[[Rng, int], float]:
    """Percentile of exponential delays whose mean varies by 10 % between trials.

    ``given``: how often it has an interval, instead of how often that holds.
    """

    def line(rng: Rng, runs: int) -> float:
        # Truth: the share above q is the mean over trials of exp(-q / scale).
        scales = 1e-3 * np.exp(0.1 * np.random.default_rng(1).standard_normal(400_000))
        low_q, high_q = 1e-4, 1e-2
        for _ in range(60):
            middle = (low_q + high_q) / 2
            low_q, high_q = (
                (middle, high_q) if np.exp(-middle / scales).mean() > 1 - share else (low_q, middle)
            )
        width = 2.0 ** (1 / 64)
        edges = 1e-6 * width ** np.arange(1400)
        hits = 0
        for _ in range(runs):
            scale = 1e-3 * np.exp(0.1 * rng.standard_normal((n, 1)))
            delays = scale * rng.exponential(1.0, (n, packets))
            counts = np.stack([np.histogram(row, edges)[0] for row in delays])
            used = np.flatnonzero(counts.sum(axis=0))
            middles = np.sqrt(edges[:-1] * edges[1:])[used]
            below = counts[:, used].cumsum(axis=1)
            _, low, high, *_ = percentile(middles, below, share, LEVEL)
            if given:
                hits += not math.isnan(low)
            else:
                hits += bool(low / width**0.5 <= low_q <= high * width**0.5)
        return hits / runs

    return line


def family(metrics: int, answers: int) -> Callable[[Rng, int], float]:
    """Runs without any difference in which a primary comparison reports one."""

    def line(rng: Rng, runs: int) -> float:
        names = [f"m{i}" for i in range(metrics)]
        told = 0
        for _ in range(runs):
            frames = [
                observations(
                    {"open": rng.normal(1, 0.1, (1, 10)), "wep-40": rng.normal(1, 0.1, (1, 10))},
                    name,
                    "1",
                )
                for name in names
            ]
            found = analyse(pl.concat(frames), answers=names[:answers]).comparisons
            told += (
                found.filter((pl.col("family") == "primary") & (pl.col("p_adjusted") < 0.05)).height
                > 0
            )
        return told / runs

    return line


#: line -> (nominal or exact coverage, the line, kind)
LINES: dict[str, tuple[float, Callable[[Rng, int], float], str]] = {
    "mean throughput, n = 5, normal": (0.95, throughput(5, "normal"), "interval"),
    "mean throughput, n = 20, skewed (gamma)": (0.95, throughput(20, "gamma"), "interval"),
    "overhead, n = 5, normal": (0.95, overhead(5, "normal"), "interval"),
    "overhead, n = 10, skewed (gamma)": (0.95, overhead(10, "gamma"), "interval"),
    "overhead in pairs, drift of 5 %, n = 10": (0.95, paired, "interval"),
    "mean with closest 5 of 20": (0.95, selected("mean"), "interval"),
    "overhead with closest 5 of 20": (0.95, selected("overhead"), "interval"),
    "overhead until 0.5 %": (0.95, until(0.005), "interval"),
    "overhead until 1 %": (0.95, until(0.01), "interval"),
    "overhead until 2 %": (0.95, until(0.02), "interval"),
    "mean time, retries 20 %, n = 100, no warning": (0.95, mean_bca(100, 0.2), "interval"),
    "mean time, retries 40 %, n = 50, no warning": (0.95, mean_bca(50, 0.4), "interval"),
    "shift of two times, retries 5 %, n = 20": (0.95, shift(20), "interval"),
    "99th percentile, 10 trials of 2,000 packets": (0.95, of_packets(0.99, 10), "interval"),
    "99th percentile, 20 trials of 2,000 packets": (0.95, of_packets(0.99, 20), "interval"),
    "median time, retries 5 %, n = 6": (median_exact(6), median(6, 0.05), "exact"),
    "median time, retries 5 %, n = 20": (median_exact(20), median(20, 0.05), "exact"),
    "share of retries, 5 %, n = 20": (wilson_exact(20, 0.05), share_of_retries(20, 0.05), "exact"),
    "share of retries, 2 %, n = 100": (
        wilson_exact(100, 0.02),
        share_of_retries(100, 0.02),
        "exact",
    ),
    "a primary difference in a null run, 10 metrics, 1 primary": (0.05, family(10, 1), "error"),
    "a primary difference in a null run, 10 metrics, 3 primary": (0.05, family(10, 3), "error"),
    # Covers more than its level: runs with the warning, which have few retries, are left out.
    "mean time, retries 30 %, n = 50, no warning": (0.95, mean_bca(50, 0.3), "conservative"),
    "share of 50 clients that join, 90 %, n = 5": (0.95, joined(5, 0.9, 0.05), "interval"),
    "share of 50 clients that join, 50 %, n = 10": (0.95, joined(10, 0.5, 0.05), "interval"),
    "mean with control variate, share 98 %, n = 8": (
        0.95,
        with_control(8, 0.98, "mean"),
        "interval",
    ),
    "overhead with control variate, share 98 %, n = 10": (
        0.95,
        with_control(10, 0.98, "overhead"),
        "interval",
    ),
    "overhead with control variate, share 20 %, n = 10": (
        0.95,
        with_control(10, 0.2, "overhead"),
        "interval",
    ),
    "overhead with control variate, share 0 %, n = 20": (
        0.95,
        with_control(20, 0.0, "overhead"),
        "interval",
    ),
    # Few trials: three, and the five that a study has by default.
    "mean throughput, n = 3, normal": (0.95, throughput(3, "normal"), "interval"),
    "overhead, n = 3, normal": (0.95, overhead(3, "normal"), "interval"),
    "share of 50 clients that join, 90 %, n = 3": (0.95, joined(3, 0.9, 0.05), "interval"),
    "50th percentile, 3 trials of 2,000 packets": (0.95, of_packets(0.5, 3), "conservative"),
    "50th percentile, 5 trials of 2,000 packets": (0.95, of_packets(0.5, 5), "conservative"),
    **{
        f"{percent}th percentile, {n} trials of 2,000 packets": (
            0.0,
            of_packets(percent / 100, n, given=True),
            "none",
        )
        for percent in (95, 99)
        for n in (3, 5)
    },
    **{f"mean time, retries 5 %, n = {n}": (0.0, mean_given(n, 0.05), "none") for n in (3, 5, 20)},
    **{f"median time, n = {n}": (0.0, median_given(n), "none") for n in (3, 5)},
    "shift of two times, retries 5 %, n = 5": (0.95, shift(5), "conservative"),
}


#: Lines with more runs, by this factor: they are cheap, and 2,000 runs tell 94 from 95 % badly.
FACTORS: dict[str, int] = {
    **{f"overhead until {share} %": 20 for share in ("0.5", "1", "2")},
    **{name: 10 for name in LINES if "control variate" in name},
}


def table(result: dict[str, Any]) -> str:
    """The lines as a Markdown table."""
    lines = ["| line | should be | is |", "|---|---|---|"]
    for name, entry in result["lines"].items():
        if entry["kind"] == "none":
            given = "none" if entry["is"] == 0 else f"{100 * entry['is']:.1f} % have one"
            lines.append(f"| {name} | no interval | {given} |")
            continue
        bound = {"error": "at most ", "conservative": "at least "}.get(entry["kind"], "")
        lines.append(
            f"| {name} | {bound}{100 * entry['nominal']:.1f} % | {100 * entry['is']:.1f} % |"
        )
    more = {e["runs"] for e in result["lines"].values()} - {result["runs"]}
    counts = ", ".join(f"{runs:,}" for runs in sorted(more))
    besides = f" ({counts} of control variates and of 'until')" if more else ""
    lines += ["", f"{result['runs']} runs per line{besides}, seed {result['seed']}."]
    return "\n".join(lines) + "\n"


def measure(runs: int, seed: int, only: str = "") -> dict[str, Any]:
    """Coverage or error of every line whose name has ``only`` in it."""
    lines = {}
    for number, (name, (nominal, line, kind)) in enumerate(LINES.items()):
        if only not in name:
            continue
        own = runs * FACTORS.get(name, 1)
        value = line(np.random.default_rng([seed, number]), own)
        lines[name] = {"nominal": nominal, "kind": kind, "is": value, "runs": own}
    return {"runs": runs, "seed": seed, "lines": lines}


def merged(before: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    """A record whose lines of the same name are replaced; both have the same runs and seed."""
    if (before["runs"], before["seed"]) != (result["runs"], result["seed"]):
        raise SystemExit("--only: the record has other runs or another seed; measure every line")
    lines = {**before["lines"], **result["lines"]}
    return {**result, "lines": {name: lines[name] for name in LINES if name in lines}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="lines with this text; the record keeps others")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    result = measure(args.runs, args.seed, args.only)
    if args.only and args.out and args.out.exists():
        result = merged(json.loads(args.out.read_text()), result)
    if args.out:
        args.out.write_text(json.dumps(result, indent=2) + "\n")
    if args.page:
        head, _, rest = args.page.read_text().partition(START)
        args.page.write_text(head + START + table(result) + END + rest.partition(END)[2])
    print(table(result))


if __name__ == "__main__":
    main()
