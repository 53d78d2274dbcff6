"""The figure of one packet in ARCHITECTURE.md names functions and actions of the simulator."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "crates" / "airtoll-wlan" / "src"


def figure() -> list[str]:
    """Lines of the figure."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    after = text[text.index("The way of one packet") :]
    return after.split("```")[1].strip().splitlines()


def code(module: str) -> str:
    """Sources of a module without its tests."""
    paths = [SOURCE / f"{module}.rs", *sorted((SOURCE / module).rglob("*.rs"))]
    return "\n".join(
        path.read_text("utf-8").split("#[cfg(test)]\nmod tests {")[0]
        for path in paths
        if path.exists() and "tests" not in path.name
    )


def bodies(module: str, function: str) -> list[str]:
    """Bodies of all functions of a module with this name; macros have theirs further in."""
    return [
        found.group(2)
        for found in re.finditer(
            rf"^( *)(?:pub(?:\(\w+\))? )?fn {function}\b.*?\{{\n(.*?)^\1\}}",
            code(module),
            re.MULTILINE | re.DOTALL,
        )
    ]


@pytest.mark.parametrize("line", figure())
def test_a_line_of_the_figure_is_a_chain_of_calls(line: str) -> None:
    module, rest = line.split(maxsplit=1)
    chain, _, actions = re.sub(r"\(.*?\)", "", rest).partition("=>")
    steps = [step.strip().split(", ") for step in chain.split("->")]
    for (*_, caller), callees in pairwise(steps):
        own = bodies(module, caller)
        assert own, f"{module} has no function {caller}"
        for callee in callees:
            called = rf"\b{callee.rpartition('.')[2]}\("
            assert any(re.search(called, body) for body in own), f"{caller} calls no {callee}"
    last = [step for step in steps[-1] if "." not in step]
    for name in last if len(steps) == 1 else []:
        assert bodies(module, name), f"{module} has no function {name}"
    for action in re.findall(r"[A-Z]\w+", actions):
        assert re.search(rf"\bAction::{action}\b", code(module)), f"{module} writes no {action}"


def test_each_action_of_the_figure_is_routed() -> None:
    world = code("world")
    actions = {name for line in figure() for name in re.findall(r"=> (\w+)", line)}
    assert len(actions) > 4
    assert {a for a in actions if f"Action::{a} {{" not in world} == set()
