"""Any text as a study: a plan whose cells are checked and simulated, or one line.

No scenario that ``check`` accepts stops the simulator: a cell of each plan that is short enough
runs for one trial.
"""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import atheris
import fuzzing

fuzzing.tests_of("study")

with atheris.instrument_imports(include=["airtoll"]):
    import mutations

    from airtoll.errors import AirtollError
    from airtoll.plan import make_plan
    from airtoll.study import parse
    from airtoll.testbeds.simulator import Simulator

#: Processor seconds by estimate of a trial that is simulated, and simulated seconds.
_SHORT_S = 0.2
_SIMULATED_S = 0.05


def _simulate(text: str) -> None:
    plan = make_plan(parse(text, Path("study.toml")).study)
    bed = Simulator()
    for cell in plan.cells[:: max(1, len(plan.cells) // 3)]:
        if cell.load.duration_s > _SIMULATED_S or cell.settings.authenticate:
            continue
        if bed.check(cell) is None and bed.expected_s(cell) < _SHORT_S:
            bed.measure(plan.trial(cell, 1, 1))


def target(octets: bytes) -> None:
    """Load, expand, check; then simulate what is short."""
    try:
        text = octets.decode("utf-8")
    except UnicodeDecodeError:
        return
    mutations.judge(text)
    try:
        _simulate(text)
    except AirtollError as error:
        fuzzing.one_line(error)


def mutate(octets: bytes, most: int, seed: int) -> bytes:
    """A key or value changed where the input is TOML, octets otherwise."""
    draw = random.Random(seed)
    try:
        data = tomllib.loads(octets.decode("utf-8"))
        here = list(mutations.places(data))[1:]
        if draw.randrange(4) and here:
            change = mutations.mutation(draw, data, here)
            data = mutations.replaced(data, draw.choice(here), change)
            lines = [f"{key!r} = {mutations.written(value)}" for key, value in data.items()]
            return "\n".join(lines).encode("utf-8", "replace")[:most]
    except (ValueError, RecursionError, KeyError, IndexError):
        pass
    return atheris.Mutate(octets, most)


def _short(text: str) -> bytes:
    data = tomllib.loads(text)
    for table in data.get("traffic", {}).values():
        table["duration_s"] = _SIMULATED_S
        table.pop("warm_up_s", None)
    lines = [f'"{key}" = {mutations.written(value)}' for key, value in data.items()]
    return "\n".join(lines).encode()


if __name__ == "__main__":
    fuzzing.fuzz(target, {name: _short(text) for name, text in mutations.TEXTS.items()}, mutate)
