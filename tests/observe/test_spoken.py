"""Every metric has one name in a sentence, of one thing, so that every verb fits."""

from __future__ import annotations

import re

import pytest

from airtoll.observe.metrics import METRICS
from airtoll.observe.spoken import SPOKEN, spoken

#: Nouns that end with s and are one thing.
SINGULAR = {"loss", "fairness", "excess"}
#: Beginnings of what follows the noun that the verb belongs to.
REST = re.compile(r" (?:of|that|per|until|for|at|in|on|off|before|after|to|with|without) | \(")


def test_every_name_in_the_table_is_a_metric():
    assert set(SPOKEN) <= set(METRICS)


@pytest.mark.parametrize("metric", METRICS)
def test_the_noun_of_a_metric_is_one_thing(metric):
    words = spoken(metric).words
    noun = REST.split(words, maxsplit=1)[0].split()[-1]
    assert not noun.endswith("s") or noun in SINGULAR, words
    # A metric without a row would be named by its own name.
    assert metric in SPOKEN or words != f"the {metric.replace('_', ' ')}"


def test_no_two_metrics_have_one_name():
    names = [spoken(metric).words for metric in METRICS]
    # Days and hours of a battery are one thing in two units.
    assert {name for name in names if names.count(name) > 1} == {"battery life"}
