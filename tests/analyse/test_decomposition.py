import numpy as np
import polars as pl
import pytest

from airtoll.analyse.decomposition import PARTS, REMAINDER, crypto_time, decompose
from airtoll.analyse.estimate import DETERMINISTIC, EQUAL
from airtoll.errors import UsageError
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS

SPANS = {"s/open/udp": 1.0, "s/wpa-psk-tkip/udp": 1.0}


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


def test_equal_observations_give_equal_parts_to_the_last_bit():
    rows = ledger(loss=0.01)
    first = decompose(rows, SPANS)
    # Sums over groups in the order of a hash table differed from call to call.
    assert all(decompose(rows, SPANS).equals(first, null_equal=True) for _ in range(20))


def test_parts_add_up_to_the_overhead():
    for definition, expected in (("of_secured", 30 / 24 - 1), ("of_baseline", 1 - 24 / 30)):
        frame = decompose(ledger(), SPANS, definition=definition)
        assert frame["value"].sum() == pytest.approx(expected, rel=0.01)


def test_the_blame_falls_where_it_belongs():
    frame = decompose(ledger(), SPANS)
    part = {row["part"]: row for row in frame.iter_rows(named=True)}
    # idle: 0.21 s / 24 Mb - 0.05 s / 30 Mb, times 30 Mb/s
    assert part["airtime_idle_s"]["value"] == pytest.approx(0.21 * 30 / 24 - 0.05, abs=0.002)
    assert part["airtime_payload_s"]["value"] == pytest.approx(0, abs=0.003)
    assert abs(part[REMAINDER]["value"]) < 0.05
    assert part["airtime_idle_s"]["low"] < part["airtime_idle_s"]["value"]


def test_security_octets_are_not_in_the_baselines_ledger():
    # The open cell has no security airtime: its part is a part that the baseline lacks.
    frame = decompose(ledger(), SPANS)
    known = set(frame["part"]) - {REMAINDER}
    assert known <= set(PARTS)
    assert "airtime_security_s" in known


def test_nothing_without_a_ledger():
    plain = ledger().filter(metric="throughput_bps")
    assert decompose(plain, SPANS).is_empty()
    with pytest.raises(UsageError):
        decompose(ledger(), SPANS, definition="difference_bps")


def test_what_the_ledger_lacks_is_unexplained():
    # A tenth of either trial is in no part: a tenth of the overhead remains.
    frame = decompose(ledger(loss=0.1), SPANS)
    total = 30 / 24 - 1
    assert frame["value"].sum() == pytest.approx(total, rel=0.01)
    rest = frame.filter(part=REMAINDER)["value"][0]
    assert rest == pytest.approx(0.1 * total, rel=0.02)


def test_a_ledger_of_the_wrong_length_is_noticed():
    # The secured trial ran 1.25 s, and its ledger knows of one second only.
    frame = decompose(ledger(), SPANS | {"s/wpa-psk-tkip/udp": 1.25})
    rest = frame.filter(part=REMAINDER)["value"][0]
    assert rest == pytest.approx(30 / 24 * 0.2, rel=0.02)


def test_two_channels_count_as_their_mean():
    twice = ledger().with_columns(
        value=pl.when(pl.col("metric").str.starts_with("airtime"))
        .then(2 * pl.col("value"))
        .otherwise("value")
    )
    one, two = decompose(ledger(), SPANS), decompose(twice, SPANS)
    assert two["value"].to_list() == pytest.approx(one["value"].to_list())


def test_crypto_that_the_air_does_not_hide_comes_out_of_the_idle_time():
    secured = ledger().filter(policy="wpa-psk-tkip", metric="airtime_idle_s")
    crypto = [
        secured.with_columns(metric=pl.lit(name), value=pl.lit(value))
        for name, value in (("crypto_time_s", 0.3), ("crypto_exposed_s", 0.15))
    ]
    frame = decompose(pl.concat([ledger(), *crypto]), SPANS)
    part = dict(frame.select("part", "value").iter_rows())
    plain = dict(decompose(ledger(), SPANS).select("part", "value").iter_rows())
    assert part["crypto_exposed_s"] == pytest.approx(0.15 * 30 / 24, rel=0.01)
    assert part["crypto_exposed_s"] + part["airtime_idle_s"] == pytest.approx(
        plain["airtime_idle_s"]
    )
    assert sum(part.values()) == pytest.approx(sum(plain.values()))
    (row,) = crypto_time(pl.concat(crypto), SPANS).rows(named=True)
    assert row["hidden"] == pytest.approx(0.15)


def test_a_transfer_is_taken_apart_until_its_end():
    # Half a second of transfer in a second of ledger: what is idle afterwards explains nothing.
    rows = []
    for policy, took, idle in (("open", 0.4, 0.6), ("wpa-psk-tkip", 0.5, 0.5)):
        values = {"throughput_bps": 10e6 / took, "airtime_payload_s": took, "airtime_idle_s": idle}
        flow = {"throughput_bps": 10e6 / took, "transfer_delay_s": took}
        cell = ledger(trials=1).filter(policy=policy).head(1)
        for name, table in ((None, values), ("f", flow)):
            rows += [
                cell.with_columns(metric=pl.lit(m), value=pl.lit(v), flow=pl.lit(name, pl.String()))
                for m, v in table.items()
            ]
    frame = decompose(pl.concat(rows), SPANS)
    part = dict(frame.select("part", "value").iter_rows())
    assert part["airtime_payload_s"] == pytest.approx(0.25)
    assert part["airtime_idle_s"] == pytest.approx(0, abs=1e-9)
    assert part[REMAINDER] == pytest.approx(0, abs=1e-9)


def test_equal_trials_give_no_interval():
    # The trials of a closed form differ by nothing: their spread is unknown, not zero.
    first = ledger().filter(trial=1)
    same = pl.concat(first.with_columns(trial=pl.lit(n).cast(pl.UInt32)) for n in range(1, 6))
    same = same.with_columns(pl.col("trial").cast(ledger()["trial"].dtype))
    for testbed, method in (("analytic", DETERMINISTIC), ("simulator", EQUAL)):
        frame = decompose(same.with_columns(testbed=pl.lit(testbed)), SPANS)
        assert frame["low"].is_nan().all()
        assert frame["high"].is_nan().all()
        parts = frame.filter(pl.col("part") != REMAINDER)
        assert parts["method"].unique().to_list() == [method]


def test_no_interval_has_zero_width():
    frame = decompose(ledger(), SPANS).filter(pl.col("low").is_not_nan())
    assert not frame.is_empty()
    assert (frame["high"] > frame["low"]).all()
    assert frame["method"].unique().to_list() == ["Welch"]
    single = decompose(ledger(trials=1), SPANS)
    assert "single reading" in single["method"].to_list()
    assert single["low"].is_nan().all()
