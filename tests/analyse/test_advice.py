import numpy as np
import polars as pl
import pytest
from attrs import evolve

from airtoll.analyse import analyse
from airtoll.analyse.advice import (
    Needs,
    advise,
    against,
    better_transport,
    hybrids,
    service_named,
    spread,
)
from airtoll.errors import UsageError
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS
from airtoll.policies import resolve

MEANS = {
    "open": (24e6, 0.0),
    "wep-104": (23.9e6, 0.002),
    "wpa2-psk-ccmp": (23.0e6, 0.05),
    "wpa3-sae-gcmp-256": (22.5e6, 0.15),
    "wpa2-eap-peap-ccmp": (22.9e6, 0.6),
    "wep-104+ipsec-3des-sha1": (12e6, 1.4),
    "ipsec-3des-sha1": (13e6, 1.3),
}


def table(noise=0.004, traffics=("tcp", "udp")):
    rng = np.random.default_rng(1)
    rows = []
    for policy, (speed, time) in MEANS.items():
        for traffic in traffics:
            factor = 1.2 if traffic == "udp" else 1.0
            for trial in range(1, 11):
                for metric, value in (
                    ("throughput_bps", rng.normal(speed * factor, noise * speed)),
                    ("negotiation_time_s", time),
                ):
                    if metric == "negotiation_time_s" and time == 0:
                        continue
                    rows.append(
                        {
                            "cell": f"office/{policy}/{traffic}",
                            "scenario": "office",
                            "policy": policy,
                            "traffic": traffic,
                            "factors": "{}",
                            "trial": trial,
                            "attempt": 1,
                            "metric": metric,
                            "value": float(value),
                            "unit": METRICS[metric][0],
                        }
                    )
    blank = [pl.lit(None, kind).alias(n) for n, kind in OBSERVATIONS.items() if n not in rows[0]]
    return pl.DataFrame(rows).with_columns(blank)


@pytest.fixture(scope="module")
def analysis():
    return analyse(table())


def test_the_cheapest_that_meets_the_needs(analysis):
    needs = Needs(services=("confidentiality", "integrity"), dot1x=False)
    advice = advise(analysis, needs, "office", "tcp")
    assert advice.recommended.policy == "wpa2-psk-ccmp"
    assert "office/wpa2-psk-ccmp/tcp" in advice.sentences[0][1]


def test_broken_policies_are_ranked_and_never_recommended(analysis):
    advice = advise(analysis, Needs(services=("confidentiality",)), "office", "tcp")
    wep = next(o for o in advice.options if o.policy == "wep-104")
    assert wep.meets == "yes"
    assert wep.broken
    assert not wep.recommendable
    assert not wep.pareto
    assert advice.recommended.policy != "wep-104"
    assert any(
        "wep-104" in s and "would meet the needs and" in s and "broken" in s
        for s, _ in advice.sentences
    )


@pytest.mark.parametrize(
    ("policy", "broken"),
    [
        ("wep-40", True),
        ("wpa-psk-tkip", True),
        ("wpa2-eap-leap-ccmp", True),
        ("8021x-md5", True),
        ("ipsec-3des-sha1", True),
        ("ipsec-aes-cbc-md5", True),
        ("ipsec-aes-gcm-ikev1", True),
        ("ipsec-aes-gcm", False),
        ("8021x-tls+wep-104+ipsec-3des-sha1", True),
        ("wpa-wpa2-psk-transition", True),
        ("wpa2-psk-ccmp", False),
        ("wpa3-sae-gcmp-256", False),
        ("wireguard", False),
    ],
)
def test_what_counts_as_broken(policy, broken):
    assert bool(resolve(policy).broken) is broken


def test_weaknesses_of_use_are_not_what_is_broken():
    for name, words in (
        ("wpa2-psk-ccmp", "passphrase"),
        ("open", "every frame"),
    ):
        policy = resolve(name)
        assert not policy.broken
        assert words in policy.weaknesses[0].what


def test_limits_decide(analysis):
    needs = Needs(services=("forward-secrecy",), min_throughput_bps=20e6, max_negotiation_s=0.2)
    assert advise(analysis, needs, "office", "tcp").recommended.policy == "wpa3-sae-gcmp-256"
    needs = Needs(services=("confidentiality",), min_throughput_bps=30e6)
    none = advise(analysis, needs, "office", "tcp")
    assert none.recommended is None
    assert "No unbroken policy" in none.sentences[0][0]


def test_what_was_not_measured_is_not_met(analysis):
    advice = advise(analysis, Needs(max_handover_s=0.05), "office", "tcp")
    assert advice.recommended is None
    assert any("Not measured" in s for s, _ in advice.sentences)


def test_likely_is_said_where_the_interval_reaches_the_limit():
    noisy = analyse(table(noise=0.05))
    value = noisy.estimate("office/wpa2-psk-ccmp/tcp", "throughput_bps").value
    needs = Needs(services=("confidentiality", "integrity"), min_throughput_bps=value * 0.999)
    options = advise(noisy, needs, "office", "tcp").options
    assert next(o for o in options if o.policy == "wpa2-psk-ccmp").meets == "likely"


def test_pareto_front(analysis):
    front = {o.policy for o in advise(analysis, Needs(), "office", "tcp").options if o.pareto}
    assert {"open", "wpa2-psk-ccmp", "wpa3-sae-gcmp-256"} <= front
    assert "wep-104" not in front


def test_open_is_recommended_only_if_asked_for_by_name(analysis):
    assert advise(analysis, Needs(), "office", "tcp").recommended.policy != "open"
    asked = Needs(baseline_allowed=True)
    assert advise(analysis, asked, "office", "tcp").recommended.policy == "open"


def test_unknown_places_and_words(analysis):
    with pytest.raises(UsageError, match="office/tcp, office/udp"):
        advise(analysis, Needs(), "attic", "tcp")
    with pytest.raises(UsageError, match="mutual-auth"):
        service_named("secrecy")


def test_transport_spread_and_hybrids(analysis):
    verdicts = better_transport(analysis)
    assert {v.policy for v in verdicts} == set(MEANS) - {"open"}
    assert all(v.better in ("tcp", "udp") for v in verdicts)
    assert spread(analysis)["variation"].to_list() == pytest.approx([0.004, 0.0033], rel=0.25)
    found = hybrids(analysis)
    assert {c.parts for c in found} == {("wep-104", "ipsec-3des-sha1")}


def test_against_a_studys_choices(analysis):
    needs = Needs(services=("confidentiality", "integrity"), dot1x=False)
    advice = advise(analysis, needs, "office", "tcp")
    rows = [{"scenario": "office", "traffic": "tcp", "policy": "P-2"}]
    choice = against([advice], rows)[0]
    assert (choice.theirs, choice.ours) == ("ipsec-3des-sha1", "wpa2-psk-ccmp")
    assert not choice.agrees


def test_what_getting_on_takes_is_the_slowest_stations(analysis):
    rows = analysis.estimates.filter(policy="wpa2-psk-ccmp", metric="throughput_bps")
    rows = rows.filter(pl.col("flow").is_null() & pl.col("station").is_null())
    stations = [
        rows.with_columns(
            metric=pl.lit("handover_gap_s"),
            unit=pl.lit("s"),
            station=pl.lit(name),
            value=pl.lit(value),
            low=pl.lit(value - 0.001),
            high=pl.lit(value + 0.001),
        )
        for name, value in (("near", 0.02), ("far", 0.08))
    ]
    measured = evolve(analysis, estimates=pl.concat([analysis.estimates, *stations]))
    for limit, verdict in ((0.1, "yes"), (0.05, "no")):
        advice = advise(measured, Needs(max_handover_s=limit), "office", "tcp")
        option = next(o for o in advice.options if o.policy == "wpa2-psk-ccmp")
        (check,) = [c for c in option.checks if c.need == "handover"]
        assert check.verdict == verdict
        assert "80" in check.figure


def test_a_downgrade_is_named_and_takes_the_services_that_the_station_lacks(analysis):
    cell = "office/wpa3-sae-gcmp-256/tcp"
    words = "old (WPA2 alone) takes wpa2-psk-ccmp of the RSN element; another is offered, too"
    fallen = {cell: {words: resolve("wpa2-psk-ccmp")}}
    needs = Needs(services=("forward-secrecy",), dot1x=False)

    def sae(advice):
        return next(o for o in advice.options if o.policy == "wpa3-sae-gcmp-256")

    before = sae(advise(analysis, needs, "office", "tcp"))
    advice = advise(analysis, needs, "office", "tcp", downgrades=fallen)
    after = sae(advice)
    assert (before.meets, after.meets) == ("yes", "no")
    assert after.downgrades == (words,)
    assert "a downgraded station lacks it" in [check.figure for check in after.checks]
    assert after.strength < before.strength
    named = [(text, cells) for text, cells in advice.sentences if text.startswith("Downgrade")]
    assert named == [(f"Downgrade under wpa3-sae-gcmp-256: {words}.", (cell,))]
