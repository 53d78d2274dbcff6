"""Prompts for a person: words on standard error, answers from standard input.

Takes steps in words; gives the answers. Never writes to standard output, which belongs to a
command's result, and never asks where standard input is no terminal.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable
from typing import Protocol, TextIO, TypeVar

from airtoll.errors import EnvironmentProblem, TestbedError

SKIP = ("s", "skip")
_T = TypeVar("_T")


class SkippedError(TestbedError):
    """The user answered that a step is to be skipped."""


class Prompts(Protocol):
    """Shows text and reads lines."""

    def say(self, text: str) -> None:
        """Show a text."""

    async def line(self) -> str:
        """The next line that is typed."""


class Terminal:
    """Standard error and standard input of this process.

    Raises ``EnvironmentProblem`` when standard input is no terminal: no user would read the prompt.
    """

    def __init__(self, who: str, words: TextIO | None = None) -> None:
        if not sys.stdin.isatty():
            raise EnvironmentProblem(
                f"{who}: driven by hand, but standard input is no terminal to answer prompts on; "
                "run airtoll in a terminal, or leave the host out of the lab file"
            )
        self._words = words or sys.stderr
        self._rest = b""

    def say(self, text: str) -> None:
        """Show a text on standard error."""
        self._words.write(text + "\n")
        self._words.flush()

    async def line(self) -> str:
        """The next line, without its end; an end of input is "skip"."""
        loop = asyncio.get_running_loop()
        descriptor = sys.stdin.fileno()
        while b"\n" not in self._rest:
            ready: asyncio.Future[None] = loop.create_future()
            loop.add_reader(descriptor, _settle, ready)
            try:
                await ready
            finally:
                loop.remove_reader(descriptor)
            octets = os.read(descriptor, 4096)
            if not octets:
                return SKIP[-1]
            self._rest += octets
        first, _, self._rest = self._rest.partition(b"\n")
        return first.decode(errors="replace").strip()


async def step(prompts: Prompts, text: str, work: Awaitable[_T], limit_s: float) -> _T:
    """Show a step and wait for what it brings about; gives that.

    Raises :class:`SkippedError` when "skip" is answered first, and ``TestbedError`` when neither
    came within ``limit_s`` seconds.
    """
    prompts.say(f"{text}\n(waiting for at most {limit_s:g} s; type skip to leave this step out)")
    doing = asyncio.ensure_future(work)
    saying = asyncio.ensure_future(_until_skipped(prompts))
    try:
        async with asyncio.timeout(limit_s):
            await asyncio.wait((doing, saying), return_when=asyncio.FIRST_COMPLETED)
    except TimeoutError:
        what = text.splitlines()[0]
        raise TestbedError(f"by hand: nothing came of {what!r} within {limit_s:g} s") from None
    finally:
        saying.cancel()
        if not doing.done():
            doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)
    if doing.cancelled():
        raise SkippedError(f"by hand: {text.splitlines()[0]!r} was skipped")
    return doing.result()


async def _until_skipped(prompts: Prompts) -> None:
    while (await prompts.line()).lower() not in SKIP:
        prompts.say("type skip to leave this step out; anything else is done on the device")


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
