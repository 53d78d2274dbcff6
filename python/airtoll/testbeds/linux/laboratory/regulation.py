"""Regulatory rules of countries, from the database of wireless-regdb on this machine.

Takes a country and a range of frequencies; gives the reason why no access point may use it. The
format is that of ``regulatory.db``, version 20 (Linux, net/wireless/reg.c: struct fwdb_header,
fwdb_country, fwdb_collection, fwdb_rule), big-endian; pointers count units of 4 octets.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntFlag
from functools import cache
from pathlib import Path
from typing import Final

from attrs import frozen

#: Where Linux has the database (wireless-regdb).
PLACES: Final = (Path("/lib/firmware/regulatory.db"), Path("/usr/lib/firmware/regulatory.db"))
_MAGIC: Final = b"RGDB"
_VERSION: Final = 20
_HEAD: Final = 8


class Flag(IntFlag):
    """Flags of a rule (enum fwdb_flags)."""

    NO_OFDM = 1
    NO_OUTDOOR = 2
    DFS = 4
    NO_IR = 8
    AUTO_BW = 16


@frozen
class Rule:
    """One rule: a range of frequencies and the widest channel in it, MHz, and its flags."""

    begin_mhz: float
    end_mhz: float
    widest_mhz: float
    flags: Flag


@cache
def countries(place: Path | None = None) -> dict[str, tuple[Rule, ...]] | None:
    """Country (``DE``) -> its rules; None where this machine has no database of this format."""
    for path in (place,) if place is not None else PLACES:
        try:
            return parse(path.read_bytes())
        except (OSError, ValueError):
            continue
    return None


def parse(octets: bytes) -> dict[str, tuple[Rule, ...]]:
    """The rules of a database. Raises ``ValueError`` for another format."""
    try:
        magic, version = struct.unpack_from(">4sI", octets)
        if (magic, version) != (_MAGIC, _VERSION):
            raise ValueError("no regulatory database of version 20")
        found: dict[str, tuple[Rule, ...]] = {}
        at = _HEAD
        while (name := octets[at : at + 2]) != b"\0\0":
            (pointer,) = struct.unpack_from(">H", octets, at + 2)
            found[name.decode("ascii")] = _rules(octets, 4 * pointer)
            at += 4
    except struct.error as error:
        raise ValueError(f"the database is cut short: {error}") from error
    return found


def _rules(octets: bytes, at: int) -> tuple[Rule, ...]:
    length, count = struct.unpack_from(">BB", octets, at)
    pointers = struct.unpack_from(f">{count}H", octets, at + length + length % 2)
    return tuple(_rule(octets, 4 * pointer) for pointer in pointers)


def _rule(octets: bytes, at: int) -> Rule:
    _, flags, _, begin, end, widest = struct.unpack_from(">BBHIII", octets, at)
    return Rule(begin / 1e3, end / 1e3, widest / 1e3, Flag(flags & 31))


def governing(rules: Sequence[Rule], begin_mhz: float, end_mhz: float) -> tuple[Rule, ...]:
    """The rules that together permit a channel of this range, or none.

    Neighbouring rules join only where each has the flag AUTO-BW.
    """
    width = end_mhz - begin_mhz
    for rule in rules:
        if rule.begin_mhz <= begin_mhz and end_mhz <= rule.end_mhz and width <= rule.widest_mhz:
            return (rule,)
    joined = sorted(
        (
            rule
            for rule in rules
            if Flag.AUTO_BW in rule.flags and rule.begin_mhz < end_mhz and begin_mhz < rule.end_mhz
        ),
        key=lambda rule: rule.begin_mhz,
    )
    reached = begin_mhz
    for rule in joined:
        if rule.begin_mhz > reached:
            return ()
        reached = max(reached, rule.end_mhz)
    return tuple(joined) if reached >= end_mhz else ()
