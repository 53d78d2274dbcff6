"""Questions resolved to cells: what one has, candidates, places."""

from __future__ import annotations

from pathlib import Path

import pytest

from airtoll.errors import StudyError
from airtoll.plan import make_plan
from airtoll.question import asked, refuse_questions, today_of
from airtoll.study import parse, with_values

STUDY = """
[study]
name = "asks"
title = "asks"
answers = ["throughput_bps", "delay_s"]
{head}
[scenario.near]
label = "near the access point"
[scenario.far]
[traffic.udp]
transport = "udp"
[grid]
policy = ["open", "wep-104", "wpa2-psk-ccmp", "wpa3-sae-ccmp"]
"scenario.clients" = [1, 5]
{questions}
"""


def study(questions: str = "", head: str = ""):
    return parse(STUDY.format(questions=questions, head=head), Path("asks.toml"))


def plan(questions: str = "", head: str = ""):
    return make_plan(study(questions, head).study)


def test_the_default_starts_from_what_most_networks_have_and_names_no_worse_policy():
    first, scale, second = asked(plan())
    assert first.metric == "throughput_bps"
    assert first.have["policy"] == "wpa2-psk-ccmp"
    assert [arm["policy"] for arm in first.to] == ["wpa3-sae-ccmp"]
    # For scale: what one pays already.
    assert (scale.have["policy"], scale.to[0]["policy"]) == ("open", "wpa2-psk-ccmp")
    assert second.metric == "delay_s"


def test_a_study_says_what_one_has_today():
    assert today_of(study(head='today = "wep-104"').study) == "wep-104"
    assert today_of(study(head='baseline = "wpa3-sae-ccmp"').study) == "wpa3-sae-ccmp"
    first = asked(plan(head='today = "wep-104"'))[0]
    assert {arm["policy"] for arm in first.to} == {"open", "wpa2-psk-ccmp", "wpa3-sae-ccmp"}


def test_places_share_all_axes_that_the_question_does_not_change():
    (question,) = asked(
        plan(
            '[[question]]\nmetric = "delay_s"\nfrom = { policy = "wpa2-psk-ccmp", '
            '"scenario.clients" = 1 }\nto = [{ "scenario.clients" = 5 }]\n'
            'where = { scenario = ["near", "far"] }\nunnoticed = 0.001\n'
        )
    )
    assert question.axes == ("policy", "scenario.clients")
    assert [dict(place.levels) for place in question.places] == [
        {"scenario": "near", "traffic": "udp"},
        {"scenario": "far", "traffic": "udp"},
    ]
    for place in question.places:
        cells = {arm["scenario.clients"]: cell for arm, cell in place.cells.items()}
        assert {cell.policy for cell in cells.values()} == {"wpa2-psk-ccmp"}
        assert cells[1].settings.clients == 1
        assert cells[5].settings.clients == 5
    assert question.unnoticed == 0.001


def test_aliases_of_policies_are_the_same_question():
    (one,) = asked(
        plan('[[question]]\nmetric = "delay_s"\nfrom = { policy = "WPA2-CCMP" }\n'
             'to = [{ policy = "wpa3-sae-ccmp" }]\n')
    )  # fmt: skip
    assert one.have["policy"] == "wpa2-psk-ccmp"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ('metric = "delay_s"\nfrom = { policy = "owe-ccmp" }', "is not in the grid"),
        ('metric = "delay_s"\nfrom = { rate = 1 }', "is no axis or factor of the grid"),
        ('metric = "delay_s"\nto = [{}]', "changes nothing of `from`"),
        ('metric = "delay_s"\nto = [{ "scenario.clients" = 5 }]', "that one has"),
        ('metric = "delay_s"\nalong = "scenario.mcs"', "is no factor of the grid"),
        ('metric = "delay_s"\nwhere = { scenario = "there" }', "is not in the grid"),
        ('metric = "delay_s"\nform = {}', "did you mean 'from'?"),
    ],
)
def test_a_wrong_question_is_refused_with_its_place(question, words):
    with pytest.raises(StudyError, match=r"asks.toml: question") as refused:
        study(f"[[question]]\n{question}\n")
    assert words in str(refused.value)


def test_an_unknown_metric_is_refused():
    asks = study('[[question]]\nmetric = "speed"\n').study
    with pytest.raises(StudyError, match=r"question\[0\].metric: 'speed' is no metric"):
        refuse_questions(asks)


def test_a_smaller_grid_drops_the_questions_that_it_cannot_answer():
    file = study(
        '[[question]]\nmetric = "delay_s"\nto = [{ policy = "wpa3-sae-ccmp" }]\n'
        '[[question]]\nmetric = "throughput_bps"\nfrom = { policy = "open" }\n'
        'to = [{ policy = "wep-104" }]\n'
    )
    smaller = with_values(file, {"grid.policy": ["open", "wep-104"]})
    assert [one.metric for one in smaller.study.question] == ["throughput_bps"]
    assert [one.metric for one in asked(make_plan(smaller.study))] == ["throughput_bps"]


def test_a_smaller_grid_narrows_candidates_and_places():
    file = study(
        '[[question]]\nmetric = "delay_s"\nfrom = { policy = "open" }\n'
        'to = [{ policy = "wep-104" }, { policy = "wpa3-sae-ccmp" }]\n'
        'where = { "scenario.clients" = [1, 5], scenario = "near" }\n'
        'along = "scenario.clients"\n'
    )
    smaller = with_values(file, {"grid.policy": ["open", "wep-104"], "grid.scenario.clients": [5]})
    (question,) = asked(make_plan(smaller.study))
    assert [arm["policy"] for arm in question.to] == ["wep-104"]
    assert {dict(place.levels)["scenario.clients"] for place in question.places} == {5}


def test_a_grid_with_other_places_answers_there():
    file = study(
        '[[question]]\nmetric = "delay_s"\nfrom = { policy = "open" }\n'
        'to = [{ policy = "wep-104" }]\nwhere = { "scenario.clients" = 5 }\n'
    )
    other = with_values(file, {"grid.scenario.clients": [20]})
    (question,) = asked(make_plan(other.study))
    assert {dict(place.levels)["scenario.clients"] for place in question.places} == {20}


@pytest.mark.parametrize(("clients", "limit"), [("1", 0.1), ("5", 1.0), ("[1, 5]", 1.0)])
def test_few_clients_notice_a_join_and_many_a_storm(clients, limit):
    where = f'where = {{ "scenario.clients" = {clients} }}\n'
    (question,) = asked(plan(f'[[question]]\nmetric = "join_all_time_s"\n{where}'))
    assert question.unnoticed == limit
    (question,) = asked(plan(f'[[question]]\nmetric = "join_time_s"\n{where}'))
    assert question.unnoticed == 0.1


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ('metric = "delay_s"\nothers_than = "A"', "only throughput_bps has a sum"),
        ('metric = "throughput_bps"\nothers_than = "B"', "no station of the study; there: A"),
        ('metric = "throughput_bps"\nothers_than = "A"\nstation = "A"', "leave it out"),
    ],
)
def test_a_sum_over_other_stations_that_has_no_sense_is_refused(question, words):
    text = STUDY.replace("[scenario.far]", '[scenario.far]\nstations = [{{ name = "A" }}]')
    text = text.replace('"scenario.clients" = [1, 5]\n', "").replace(
        "[scenario.near]", '[scenario.near]\nstations = [{{ name = "A" }}]'
    )
    text = text.format(questions=f"[[question]]\n{question}\n", head="")
    with pytest.raises(StudyError, match=words):
        refuse_questions(parse(text, Path("asks.toml")).study)


def test_an_order_needs_its_policy_and_goes_with_it():
    order = '[[order]]\ndataset = "agarwal2005"\npolicy = "wep-104"\n'
    assert with_values(study(order), {"grid.policy": ["open", "wpa2-psk-ccmp"]}).study.order == ()
    with pytest.raises(StudyError, match=r"order\[0\].policy: 'owe-ccmp' is not in the grid"):
        study(order.replace("wep-104", "owe-ccmp"))


SHARED = '[[question]]\nmetric = "{}"\nas_share = true\n{}to = [{{ policy = "wpa3-sae-ccmp" }}]\n'


def test_a_change_of_a_time_may_be_asked_as_a_share():
    (question,) = asked(plan(SHARED.format("join_time_s", "")))
    assert question.as_share
    assert question.unnoticed == 0.01
    refuse_questions(study(SHARED.format("join_time_s", "")).study)


@pytest.mark.parametrize("metric", ["throughput_bps", "loss_ratio", "handover_packets_lost"])
def test_what_is_told_as_a_share_or_a_count_is_refused_as_one(metric):
    with pytest.raises(StudyError, match=r"question\[0\]\.as_share: a change of " + metric):
        refuse_questions(study(SHARED.format(metric, "")).study)


def test_the_limit_of_a_share_is_not_stated_in_seconds():
    with pytest.raises(StudyError, match=r"question\[0\]\.unnoticed: with as_share"):
        refuse_questions(study(SHARED.format("join_time_s", "unnoticed = 0.05\n")).study)
