"""Mutations of the shipped study files, by number, and what must hold for each.

A mutation gives a plan, or an error of one line; never a traceback. Until the first trial it takes
at most 5 s of processor time and 300 MB of resident memory, the interpreter included.

    python tests/study/mutations.py [--to 100000] [--record FILE]

The command tries the failed mutations of the record again, then those from the number on that it
reached, prints how many it tried,
and writes the text of each one that fails beside the record. Exit code 1 if one failed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import random
import resource
import signal
import sys
import time
import tomllib
import traceback
from pathlib import Path

from airtoll.errors import AirtollError
from airtoll.plan import make_plan
from airtoll.run.execute import skips
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
#: Bounds until the first trial: processor seconds, and resident octets at the peak.
MOST_S = 5.0
MOST_OCTETS = 300 * 10**6
#: Resident memory of a process that has only imported this module, measured: 83 MB.
FRESH_OCTETS = 83 * 10**6
#: Octets of data above which an allocation fails, so that a mutation cannot take the machine.
_CEILING = 2 * 10**9
#: Mutations between two lines of the count.
_EVERY = 1000


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
    """Load, expand and check a study as ``airtoll run`` does; the text of the error, if any."""
    try:
        plan = make_plan(parse(text, Path("study.toml")).study)
        skips(plan, Simulator())
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


def numbered(number):
    """The text of the mutation with this number."""
    return mutated(random.Random(number))


def problem_of(number):
    """The fault in the treatment of a mutation; None if there is none."""
    text = numbered(number)
    forget_peak()
    at_rest = peak_octets()
    before = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 2 * MOST_S)
    try:
        judge(text)
    except Exception:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    # The memory of a process that has run other tests is not that of the command.
    spent, octets = time.process_time() - before, FRESH_OCTETS + peak_octets() - at_rest
    if spent > MOST_S:
        return f"{spent:.1f} s of processor time until the first trial"
    if octets > MOST_OCTETS:
        return f"{octets / 1e6:.0f} MB of memory until the first trial"
    return None


def forget_peak():
    """Set the peak of the resident memory back to what is resident now (Linux, proc(5))."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_octets():
    """The peak of the resident memory since :func:`forget_peak`."""
    status = Path("/proc/self/status").read_text("utf-8")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def _too_long(_signal, _frame):
    raise TimeoutError(f"more than {2 * MOST_S:.0f} s of processor time")


def main():
    """Try the mutations that the record has not reached; 1 if one ever failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--to", type=int, default=100_000)
    parser.add_argument("--record", type=Path, default=Path("target/mutations/record.json"))
    options = parser.parse_args()
    options.record.parent.mkdir(parents=True, exist_ok=True)
    record = {"reached": 0, "failed": []}
    if options.record.exists():
        record = json.loads(options.record.read_text("utf-8"))
    signal.signal(signal.SIGPROF, _too_long)
    resource.setrlimit(resource.RLIMIT_DATA, (_CEILING, _CEILING))
    record["failed"] = [number for number in record["failed"] if problem_of(number) is not None]
    for number in range(record["reached"], options.to):
        problem = problem_of(number)
        if problem is not None:
            record["failed"].append(number)
            folder = options.record.parent
            (folder / f"{number}.toml").write_text(numbered(number), "utf-8")
            (folder / f"{number}.txt").write_text(problem, "utf-8")
        record["reached"] = number + 1
        if record["reached"] % _EVERY == 0 or problem is not None:
            options.record.write_text(json.dumps(record), "utf-8")
            count = f"{record['reached']} mutations, {len(record['failed'])} failed"
            print(count, flush=True)
    options.record.write_text(json.dumps(record), "utf-8")
    failed = record["failed"]
    print(f"{record['reached']} mutations tried, {len(failed)} failed {failed or ''}".rstrip())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
