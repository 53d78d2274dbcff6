"""Values of a measurement, and the words for their kinds.

Takes text as people write it (``loss,udp-up,flows=4``, ``24.5M``); gives quantities, flows and SI
values. Reads no file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen

from airtoll.analyse.explain import OF_AIRTIME, OF_FORM, Flow, Quantity, Transport
from airtoll.errors import UsageError

#: Words of a quantity on the command line.
QUANTITIES: Final[Mapping[str, Quantity]] = {
    "throughput": "throughput_bps",
    "loss": "loss_ratio",
    "delay": "delay_s",
    "retries": "retry_share",
    "busy": "busy_share",
    "others": "others_share",
    "group": "group_share",
    "rate": "rate_bps",
    "mpdus": "mpdus_per_frame",
    "reordered": "reordered_share",
    "cpu": "cpu_share",
    "again": "again_bps",
    "cable": "cable_bps",
    "width": "width_mhz",
    "streams": "streams",
    "guard": "guard_ns",
    "signal": "signal_dbm",
    "cipher": "software_share",
}
FLOWS: Final[Mapping[str, tuple[Transport, bool]]] = {
    "tcp-down": ("tcp", True),
    "tcp-up": ("tcp", False),
    "udp-down": ("udp", True),
    "udp-up": ("udp", False),
}
SHARES: Final = (
    "loss_ratio",
    "retry_share",
    "reordered_share",
    "cpu_share",
    "software_share",
    *OF_AIRTIME,
)
#: Words of ``airtoll doctor --radio`` for the end that ciphers.
ENGINES: Final[Mapping[str, float]] = {"hardware": 0.0, "software": 1.0}
#: Octets of a ping, and of the largest datagram of an MTU of 1500.
PING, DATAGRAM = 64, 1472
#: Standard deviations of one throughput of a home (logarithm), of a share, of a level (dB), and of
#: what a tool prints of the link's form.
ONE_TEST, ONE_SHARE, ONE_LEVEL, PRINTED = 0.05, 0.015, 2.0, 0.01
NUMBER: Final = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([^\s0-9.]*)\s*")
_BITS: Final = {"": 1e6, "k": 1e3, "m": 1e6, "g": 1e9}
_LEVEL: Final = re.compile(r"\s*(-?[0-9]+(?:\.[0-9]+)?)\s*(dbm)?\s*")
#: Units of the link's form, with what a value is written as.
_FORMS: Final = {"width_mhz": ("MHz", "40"), "streams": ("", "2"), "guard_ns": ("ns", "400")}
_TIMES: Final = {"": 1e-3, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@frozen
class Sample:
    """One measured value. ``spread``: its standard deviation (of the logarithm, or of a share).

    ``target``: load under which it was measured, bit/s. ``at_target``: the throughput is no more
    than that load.
    """

    quantity: Quantity
    flow: Flow
    value: float
    spread: float
    target: float | None = None
    at_target: bool = False


@frozen
class Side:
    """The values of one of the two measurements, its policy if a file says so, and remarks.

    ``lost``: files of a folder that cannot be read, each with its reason. ``name``: of its file or
    argument.
    """

    samples: tuple[Sample, ...] = ()
    policy: str | None = None
    remarks: tuple[str, ...] = field(default=())
    lost: tuple[str, ...] = field(default=())
    name: str = ""


@frozen
class Inputs:
    """How files are read. ``station``: the tools' clients ran on the station."""

    station: bool = True
    flow: str = "tcp-down"
    keys: tuple[str, ...] = ()
    key_logs: tuple[Path, ...] = ()


def parse_flow(text: str) -> tuple[Quantity, Flow, float | None]:
    """A kind of reading, ``loss,udp-up,flows=4,at=50M``: quantity, flow and offered load.

    Raises ``UsageError``.
    """
    quantity: Quantity = "throughput_bps"
    transport: Transport | None = None
    down, offered = True, None
    numbers: dict[str, int] = {}
    for word in (part.strip() for part in text.split(",")):
        key, equals, value = word.partition("=")
        if word in QUANTITIES:
            quantity = QUANTITIES[word]
        elif word in FLOWS:
            transport, down = FLOWS[word]
        elif equals and key in ("octets", "flows", "mtu"):
            if not value.isdigit() or int(value) < 1:
                raise UsageError(f"{text}: {word}: an integer of 1 or more")
            numbers[key] = int(value)
        elif equals and key == "at":
            offered = value_of(value, "throughput_bps", text)
        else:
            known = ", ".join([*FLOWS, *QUANTITIES, "octets=N", "flows=N", "mtu=N", "at=MBPS"])
            raise UsageError(f"{text}: {word!r} is no kind of reading; known are {known}")
    if transport is None:
        transport = "udp" if quantity in ("loss_ratio", "delay_s", "reordered_share") else "tcp"
    if transport == "tcp" and "octets" in numbers:
        raise UsageError(f"{text}: octets are those of a datagram, and TCP has none: say udp-down")
    if numbers.get("octets", 0) > DATAGRAM:
        raise UsageError(f"{text}: a datagram of one packet has at most {DATAGRAM} octets")
    if not 68 <= numbers.get("mtu", 1280) <= 1500:
        raise UsageError(f"{text}: mtu: 68 to 1500 octets")
    flow = Flow(transport, down, flows=numbers.get("flows", 1), mtu=numbers.get("mtu"))
    if transport == "udp":
        usual = PING if quantity == "delay_s" else DATAGRAM
        flow = evolve(flow, payload=numbers.get("octets", usual))
    return quantity, flow, offered


def value_of(text: str, quantity: Quantity, place: str) -> float:
    """A number with its unit in SI. Without one: Mb/s, ms; a share is 25% or 0.25.

    A level is in dBm, a width in MHz, a guard interval in ns. A load of a CPU above 1 is in
    percent, as ``top`` prints it.
    """
    if quantity == "signal_dbm":
        level = _LEVEL.fullmatch(text.lower())
        if level is None or not -120 <= float(level[1]) <= 30:
            raise UsageError(f"{place}: {text!r}: a level is -55, dBm")
        return float(level[1])
    if quantity == "software_share":
        if text not in ENGINES:
            raise UsageError(f"{place}: {text!r}: hardware or software (airtoll doctor --radio)")
        return ENGINES[text]
    found = NUMBER.fullmatch(text)
    number = float(found[1]) if found else math.nan
    unit = found[2].lower() if found else ""
    if quantity in _FORMS:
        known, example = _FORMS[quantity]
        if unit not in ("", known.lower()) or not number >= 1 or not number.is_integer():
            raise UsageError(
                f"{place}: {text!r}: a whole number such as {example} {known}".rstrip()
            )
        return number
    if quantity in SHARES:
        bare_load = quantity == "cpu_share" and unit == "" and number > 1
        share = number / 100 if unit == "%" or bare_load else number
        if unit not in ("", "%") or not 0 <= share <= 1:
            raise UsageError(f"{place}: {text!r}: a share is 25% or 0.25")
        return share
    if quantity == "mpdus_per_frame":
        scale = 1.0 if unit == "" else math.nan
    elif quantity == "delay_s":
        scale = _TIMES.get(unit, math.nan)
    else:
        scale = _BITS.get(re.sub(r"(b(it)?/s|bps|bits?|b)$", "", unit), math.nan)
        if unit in ("b/s", "bit/s", "bps"):
            scale = 1.0
    value = number * scale
    if not math.isfinite(value) or value < 0:
        wanted = {"mpdus_per_frame": "a number", "delay_s": "3ms or 0.1s"}
        raise UsageError(f"{place}: {text!r}: {wanted.get(quantity, 'Mb/s, or 24.5M, 1.2G, 300k')}")
    return value


def stated(quantity: Quantity, flow: Flow, value: float, offered: float | None) -> Sample:
    """A value that a person or a table states, with the spread that single tests have."""
    if quantity == "signal_dbm":
        spread = ONE_LEVEL
    elif quantity in OF_FORM:
        spread = PRINTED
    else:
        spread = ONE_SHARE if quantity in SHARES else ONE_TEST
    return Sample(quantity, flow, value, spread, offered)
