"""Mutations of the shipped study files: a plan, or an error of one line; never a traceback."""

from __future__ import annotations

import datetime
import json
import math
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airtoll.errors import AirtollError
from airtoll.plan import make_plan
from airtoll.study import parse, shipped
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator

TEXTS = {name: path.read_text("utf-8") for name, path in shipped().items()}
STUDIES = {name: tomllib.loads(text) for name, text in TEXTS.items()}
VALUES = [
    *(math.inf, -math.inf, math.nan, -1, 0, -0.0, 0.5, 1, 7, 1e-300, 1e300, 10**9, 2**63, 2**70),
    *("", "nope", "x" * 5000, "\x1b[31m", "=1+1", "a/b", "\u202eabc", "[/red]", "1;2"),
    *(True, False, [], {}, [[]], {"a": {"b": 1}}, [math.nan], [1, 1], ["open", "open"]),
    *(datetime.date(2026, 1, 1), [{}] * 3, {"name": "A"}, [0, 1], list(range(300))),
]
NOISE = [*"[]{}=\"'.,#\n \t-+e0aé", "\x00", "\x1b", "\ufeff", '"""', "nan"]
#: Cells of a mutated study that the testbeds check.
CELLS = 6


def places(value, at=()):
    """Every place of a nested value."""
    yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*at, index))


def replaced(value, at, change):
    """A copy of ``value``; ``change`` takes the container and the key of the place ``at``."""
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(at) == 1:
        change(copy, at[0])
    else:
        copy[at[0]] = replaced(copy[at[0]], at[1:], change)
    return copy


def written(value):
    """A value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return "nan" if math.isnan(value) else repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(k)} = {written(v)}' for k, v in value.items())}}}"
    return str(value)


def mutated(random):
    """The text of a study with one to three mutations."""
    name = random.choice(sorted(STUDIES))
    if random.randrange(10) == 0:
        text = TEXTS[name]
        cut = random.randrange(len(text))
        noise = "".join(random.choice(NOISE) for _ in range(random.randrange(8)))
        return text[:cut] + noise + text[cut + random.randrange(40) :]
    data = STUDIES[name]
    for _ in range(random.randrange(1, 4)):
        here = list(places(data))[1:]
        if not here:
            break
        data = replaced(data, random.choice(here), mutation(random, data, here))
    return "\n".join(f"{json.dumps(key)} = {written(value)}" for key, value in data.items())


def mutation(random, data, here):
    """One change of a container's key: another value, a deletion, a copy or another name."""
    kind = random.choice(["value", "value", "value", "other", "delete", "add", "rename"])
    name = random.choice(["nope", "", "a.b", "duration_s", "policy", "x" * 300])
    new = random.choice(VALUES)
    if kind == "other":
        new = data
        for key in random.choice(here):
            new = new[key]

    def change(container, key):
        if kind == "delete":
            del container[key]
        elif kind == "add" and isinstance(container, dict):
            container[name] = container[key]
        elif kind == "rename" and isinstance(container, dict):
            container[name] = container.pop(key)
        else:
            container[key] = new

    return change


def plan_or_refuse(text):
    """Load, expand and check a study as ``airtoll check`` does; the error's text, if any."""
    try:
        plan = make_plan(parse(text, Path("study.toml")).study)
        for bed in (Simulator(), Analytic()):
            for cell in plan.cells[:: max(1, len(plan.cells) // CELLS)]:
                bed.check(cell)
                assert math.isfinite(bed.expected_s(cell))
    except AirtollError as error:
        return str(error)
    return None


def judge(text):
    message = plan_or_refuse(text)
    if message is not None:
        assert "\n" not in message
        assert message.isprintable()
        assert len(message) < 3000


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_a_mutated_study_gives_a_plan_or_one_line(random):
    judge(mutated(random))


@pytest.mark.slow
@settings(max_examples=100_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_a_hundred_thousand_mutations_give_a_plan_or_one_line(random):
    judge(mutated(random))
