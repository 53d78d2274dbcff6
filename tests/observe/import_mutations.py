"""Mutations of imported files, by number, and what must hold for each.

A mutation gives trials whose values are finite and in the range of their unit, or an error of one
line; never a traceback. It takes at most 5 s of processor time and 300 MB of resident memory, the
interpreter included.

    python tests/observe/import_mutations.py [--from 0] [--to 100000] [--whole]

``--whole`` imports each into a folder of its own, with tables and page. Prints the number of each
one that fails, and why. Exit code 1 if one failed.
"""

from __future__ import annotations

import argparse
import bz2
import copy
import gzip
import json
import math
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import polars as pl
from attrs import evolve

from airtoll.errors import AirtollError
from airtoll.foreign_text import name_problem
from airtoll.observe.imports import folder
from airtoll.observe.imports.files import FORMATS, Place, read_file
from airtoll.observe.imports.trial import observations_of, trials_of
from airtoll.observe.imports.value import range_problem
from airtoll.report import write_report
from airtoll.report.imported import read_imported

SAMPLES = Path(__file__).parent / "samples"
TABLE = (
    "scenario,policy,traffic,trial,second,flow,station,metric,value,unit\n"
    "office,No Security,tcp,1,,,,throughput,25.4,Mbps\n"
    "office,No Security,tcp,2,,,,throughput,25.1,Mbps\n"
    "office,WPA2-AES,tcp,1,,,,throughput,24.26,Mbps\n"
    "office,WPA2-AES,tcp,2,,,,throughput,24.4,Mbps\n"
    "office,WPA2-AES,tcp,2,0,a,b,delay,3.5,ms\n"
    "office,WPA2-AES,udp,1,,,,loss,0.2,%\n"
)
VALUES = [
    *(math.inf, -math.inf, math.nan, -1, 0, -0.0, 0.5, 1, 7, 1e-300, 1e300, 10**9, 2**63, 10**400),
    *("", "nope", "x" * 5000, "\x1b[31m", "=1+1", "a/b", "\u202eabc", "[/red]", "1;2", "\ud800"),
    *(True, False, None, [], {}, [[]], {"a": {"b": 1}}, [math.nan], [None, 1], [{}] * 3),
    *(
        [{"sum": {}}],
        {"sum": []},
        list(range(300)),
        {"protocol": "UDP"},
        "tcp",
        "UDP",
        "ms",
        "MBITS/S",
    ),
]
NAMES = [
    "nope",
    "",
    "a.b",
    "sum",
    "sum_received",
    "event",
    "x" * 300,
    "\x1b[2J",
    "TCP upload",
    "$x$",
]
CELLS = [
    *(
        "7",
        "0.5",
        "3",
        "+4",
        "ms",
        "Mbps",
        "%",
        "b",
        "wpa2-psk-ccmp",
        "rtt",
        "throughput",
        "delay_s",
    ),
    *(
        "",
        "1e300",
        "nan",
        "-1",
        "1_0",
        "\u0661",
        "1,5",
        '"',
        "\x00",
        "=1+1",
        "\x1b[31m",
        "x" * 5000,
    ),
    *("99999999999", "wep-40", "a|b", "\\input{x}", "<b>"),
]
NOISE = [*"[]{}:\"',.#\n \t-+e0aé", "\x00", "\x1b", "\ufeff", "nan", "\n{", '{"event":"start"}\n']
#: Bounds of a mutation: processor seconds, and resident octets at the peak.
MOST_S = 5.0
MOST_OCTETS = 300 * 10**6
#: Octets of data above which an allocation fails, so that a mutation cannot take the machine.
_CEILING = 2 * 10**9


def _texts():
    found = [("csv", TABLE)]
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_dir():
            continue
        octets = path.read_bytes()
        octets = gzip.decompress(octets) if path.suffix == ".gz" else octets
        text = octets.decode("utf-16" if octets[:2] == b"\xff\xfe" else "utf-8")
        if len(text) < 100_000 and "made_windows" not in path.name:
            fmt = "flent" if "flent" in path.name else "irtt" if "irtt" in path.name else "iperf3"
            found.append((fmt, text))
    return found


TEXTS = _texts()


def mutated(random):
    """Format and octets of a file with one to three mutations."""
    wanted = random.choice(FORMATS)
    fmt, text = random.choice([pair for pair in TEXTS if pair[0] == wanted])
    for _ in range(random.randrange(1, 4)):
        kind = random.randrange(10)
        if kind == 0:
            cut = random.randrange(len(text) + 1)
            noise = "".join(random.choice(NOISE) for _ in range(random.randrange(8)))
            text = text[:cut] + noise + text[cut + random.randrange(40) :]
        elif kind == 1:
            text = _whole_text(random, text)
        elif fmt == "csv":
            text = _table(random, text)
        else:
            text = _document(random, text)
    return random.choice([fmt] * 19 + ["csv", "iperf3", "irtt", "flent"]), _octets(random, text)


def _whole_text(random, text):
    other = random.choice(TEXTS)[1]
    cut = text[: random.randrange(len(text) + 1)]
    return random.choice([cut, text + text, f"warning: x\n{text}", text + other])


def _octets(random, text):
    octets = text.encode("utf-8", "surrogatepass")
    kind = random.randrange(40)
    if kind == 0:
        return text.encode("utf-16", "surrogatepass")
    if kind == 1:
        return gzip.compress(octets)[: random.choice([None, -5, 30])]
    if kind == 2:
        return bz2.compress(octets)
    if kind == 3 and octets:
        at = random.randrange(len(octets))
        return octets[:at] + bytes([random.randrange(256)]) + octets[at + 1 :]
    return octets


def _table(random, text):
    rows = [line.split(",") for line in text.split("\n")]
    row = random.choice(rows)
    row[random.randrange(len(row))] = random.choice(CELLS)
    if random.randrange(4) == 0:
        rows.append(list(random.choice(rows)))
    return "\n".join(",".join(row) for row in rows)


def _document(random, text):
    """A text with a value of its first document, or of a line that is one, changed."""
    lines = text.split("\n") if text.startswith('{"event"') else [text]
    place = random.randrange(len(lines))
    try:
        data = json.loads(lines[place])
    except (ValueError, RecursionError):
        return text
    here = list(_places(data))[1:]
    if not here:
        return text
    container, key = data, random.choice(here)
    for step in key[:-1]:
        container = container[step]
    kind = random.choice(["value", "value", "value", "scale", "delete", "rename", "other"])
    new = copy.deepcopy(random.choice(VALUES))
    if kind == "other":
        new = data
        for step in random.choice(here):
            new = new[step]
    old = container[key[-1]]
    if kind == "delete":
        del container[key[-1]]
    elif kind == "rename" and isinstance(container, dict):
        container[random.choice(NAMES)] = container.pop(key[-1])
    elif kind == "scale" and isinstance(old, float):
        container[key[-1]] = old * random.choice([-1, 0, 1e-9, 1e9, 1e200])
    else:
        container[key[-1]] = new
    try:
        lines[place] = json.dumps(data)
    except (ValueError, RecursionError):
        return text  # a value within itself
    return "\n".join(lines)


def _places(value, at=()):
    yield at
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*at, index))


def judge(fmt, path, *, whole):
    """Import the file as the command does; ``whole``: with tables and page."""
    try:
        source = read_file(path, fmt, Place())
        _judge_source(source)
        if whole:
            place = path.parent / "out"
            with folder.opened(place) as store:
                store.add([source])
                store.write(baseline="open", against=None, readings={})
                read_imported(place)
                write_report([place])
            assert pl.read_parquet(place / "observations.parquet")["value"].is_finite().all()
    except AirtollError as error:
        message = str(error)
        assert "\n" not in message
        assert message.isprintable()
        assert len(message) < 5000
        return "refused"
    return "imported"


def _judge_source(source):
    assert source.trials
    trials = [evolve(t, number=t.number or n) for n, t in enumerate(source.trials, 1)]
    frame = observations_of(trials, "mutations")
    assert frame.height
    for metric, value in frame.select("metric", "value").iter_rows():
        assert range_problem(metric, value) is None, (metric, value)
    for name in ("cell", "flow", "station"):
        for text in frame[name].drop_nulls().unique():
            assert name == "cell" or name_problem(text) is None, text
            assert text.isprintable(), text
    table = trials_of(frame, trials)
    assert table.height == frame.select("cell", "trial").n_unique()
    for text in [*source.left_out, *(c for trial in trials for c in trial.caveats)]:
        assert text.isprintable(), text
        assert len(text) < 20_000


def problem_of(number, *, whole=False):
    """The fault in the treatment of a mutation; None if there is none."""
    fmt, octets = mutated(random.Random(number))
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "file"
        path.write_bytes(octets)
        before = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, 2 * MOST_S)
        try:
            judge(fmt, path, whole=whole)
        except Exception:
            return traceback.format_exc()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        spent = time.process_time() - before
    return f"{spent:.1f} s of processor time" if spent > MOST_S else None


def numbered(number):
    """Format and octets of the mutation with this number."""
    return mutated(random.Random(number))


def _too_long(_signal, _frame):
    raise TimeoutError(f"more than {2 * MOST_S:.0f} s of processor time")


def main():
    """Try mutations; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--to", type=int, default=100_000)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGPROF, _too_long)
    resource.setrlimit(resource.RLIMIT_DATA, (_CEILING, _CEILING))
    failed = []
    for number in range(options.first, options.to):
        problem = problem_of(number, whole=options.whole)
        if problem is not None:
            failed.append(number)
            print(f"{number}: {problem}", flush=True)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tried = options.to - options.first
    print(f"{tried} mutations tried, {len(failed)} failed {failed or ''}".rstrip())
    print(f"{peak / 1e6:.0f} MB of memory at the peak", file=sys.stderr)
    return 1 if failed or (peak > MOST_OCTETS and not options.whole) else 0


if __name__ == "__main__":
    sys.exit(main())
