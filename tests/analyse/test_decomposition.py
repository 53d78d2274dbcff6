import numpy as np
import polars as pl
import pytest

from airtoll.analyse.decomposition import PARTS, REMAINDER, decompose
from airtoll.errors import UsageError
from airtoll.observe.schema import METRICS, OBSERVATIONS


def ledger(loss=0.0, trials=5):
    """One second of ledger per trial; ``loss`` of it appears in no part."""
    rng = np.random.default_rng(0)
    rows = []
    for policy, bits, parts in (
        ("open", 30e6, {"payload": 0.6, "mac_phy": 0.2, "contention": 0.15, "idle": 0.05}),
        ("wpa-psk-tkip", 24e6, {"payload": 0.48, "mac_phy": 0.16, "contention": 0.12,
                                "idle": 0.21, "security": 0.03}),
    ):  # fmt: skip
        for trial in range(1, trials + 1):
            noise = 1 + rng.normal(0, 0.002)
            values = {f"airtime_{k}_s": v * (1 - loss) for k, v in parts.items()}
            values["throughput_bps"] = bits * noise
            rows += [
                {
                    "cell": f"s/{policy}/udp",
                    "scenario": "s",
                    "policy": policy,
                    "traffic": "udp",
                    "factors": "{}",
                    "trial": trial,
                    "attempt": 1,
                    "metric": metric,
                    "value": value,
                    "unit": METRICS[metric][0],
                }
                for metric, value in values.items()
            ]
    blank = [pl.lit(None, kind).alias(n) for n, kind in OBSERVATIONS.items() if n not in rows[0]]
    return pl.DataFrame(rows).with_columns(blank)


def test_parts_add_up_to_the_overhead():
    for definition, expected in (("of_secured", 30 / 24 - 1), ("of_baseline", 1 - 24 / 30)):
        frame = decompose(ledger(), definition=definition)
        assert frame["value"].sum() == pytest.approx(expected, rel=0.01)


def test_the_blame_falls_where_it_belongs():
    frame = decompose(ledger())
    part = {row["part"]: row for row in frame.iter_rows(named=True)}
    # idle: 0.21 s / 24 Mb - 0.05 s / 30 Mb, times 30 Mb/s
    assert part["airtime_idle_s"]["value"] == pytest.approx(0.21 * 30 / 24 - 0.05, abs=0.002)
    assert part["airtime_payload_s"]["value"] == pytest.approx(0, abs=0.003)
    assert abs(part[REMAINDER]["value"]) < 0.05
    assert part["airtime_idle_s"]["low"] < part["airtime_idle_s"]["value"]


def test_security_octets_are_not_in_the_baselines_ledger():
    # The open cell has no security airtime: its part is a part that the baseline lacks.
    frame = decompose(ledger())
    known = set(frame["part"]) - {REMAINDER}
    assert known <= set(PARTS)
    assert "airtime_security_s" in known


def test_nothing_without_a_ledger():
    plain = ledger().filter(metric="throughput_bps")
    assert decompose(plain).is_empty()
    with pytest.raises(UsageError):
        decompose(ledger(), definition="difference_bps")
