"""The value that a mechanism predicts, with its uncertainty, and helpers of all mechanisms.

A mechanism may have an unknown parameter with a range of values, over which its likelihood is
averaged: a mechanism that can predict anything is thereby worth less than one that predicts the
readings. Throughputs of one mechanism deviate together (a link that carries four fifths of a clear
one does so for every flow) and each on its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal

from attrs import evolve, field, frozen

from airtoll.analyse.explain.evidence import (
    FACTORS,
    OF_AIRTIME,
    OF_FORM,
    THROUGHPUTS,
    Air,
    Flow,
    Reading,
    Setting,
)

#: Standard deviations of a throughput that only octets change: each, and all together.
_OWN: Final = 0.012
_TOGETHER: Final = 0.015
#: Standard deviation of a throughput by its own flow, where nothing was measured of it before.
UNSEEN: Final = 0.08
#: Standard deviation of a share that a mechanism leaves as it was.
_SHARE: Final = 0.015
_RETRIES: Final = 0.03
#: The same of retries by collisions, where something else than the air limits.
_COLLISIONS: Final = 0.025
#: Standard deviation of a delay (logarithm) that a mechanism leaves as it was.
_DELAY: Final = 0.35
#: Width of the loads at which queues begin to overflow, in loads.
BURSTS: Final = 0.03
#: A host, a wire and the air of a home take this off what a clear link carries.
_HOME: Final = 0.85
#: Delay of a packet on an idle link, s; MPDUs of a frame; retries of a good link.
_USUAL: Final = {
    "delay_s": 3e-3,
    "mpdus_per_frame": 10.0,
    "retry_share": 0.06,
    "busy_share": 0.85,
    "others_share": 0.03,
    "group_share": 0.03,
    "cpu_share": 0.35,
}
#: Standard deviations of a core's load that a mechanism leaves to the throughput, and where nothing
#: was measured before; load and deviation of a core that limits.
_LOAD, _LOAD_UNSEEN = 0.12, 0.2
_FULL_LOAD, _FULL_OFF = 0.95, 0.06
#: Whether a CPU ciphers, where it is not the cause: of radios whose profile has the cipher or lacks
#: it, and of others; standard deviations of both.
_SOFT_OFF, _SOFT_UNKNOWN, _SOFT_UNKNOWN_OFF = 0.1, 0.15, 0.3
#: Standard deviations of shares of a capture that a mechanism leaves as they were, and where
#: nothing was captured before.
_AIRTIME, _AIRTIME_UNSEEN = 0.03, 0.15
#: Level of a good link, dBm, and standard deviations of a level, dB: where nothing changed it, and
#: where nothing was measured before.
_LEVEL, _LEVEL_OFF, _LEVEL_UNSEEN = -55.0, 3.0, 12.0
#: TCP whose segments wait in the queue of the access point, some thousand packets of bits. Where
#: that takes long, TCP loses and recovers within a test: standard deviation by its time, 1/s.
_QUEUED: Final = Flow("tcp", True)
_QUEUE_BITS, _OVERFLOW = 12e6, 0.25
#: Throughput of TCP over a cable of 1 Gb/s, bit/s.
GIGABIT: Final = 941e6

Values = tuple[float, ...]
#: Which of the two measurements the mechanism is in: it came with the policy, with something else
#: that changed between them, or is in both.
Where = Literal["policy", "surroundings", "both"]


@frozen
class Predicted:
    """A value and its standard deviations: of the logarithm for factors, else of the share.

    ``deviation``: of this reading alone. ``below``, ``above``: of the factor that all throughputs
    of the mechanism share, downwards and upwards.
    """

    value: float
    deviation: float
    below: float = 0.0
    above: float = 0.0

    @property
    def total(self) -> float:
        """Standard deviation of this reading, if it is the only one."""
        return math.hypot(self.deviation, 0.5 * (self.below + self.above))


@frozen
class Prior:
    """Weight of a mechanism before any reading (0: it cannot be the cause), and the reason.

    ``against``: what speaks against it, although it can be the cause.
    """

    weight: float
    because: str = ""
    against: str = ""


@frozen
class Mechanism:
    """A cause with the words for it.

    ``predicts``: from the setting, a reading and a value of the parameter to the value after; None:
    it leaves this reading as octets alone do. ``before``: the same for a throughput before, of
    mechanisms that are in both measurements. ``of_cpu``: where it limits, a core of a CPU is always
    busy. ``of_air``: it makes frames longer or takes the air, and leaves none of it idle.
    ``bursts``: width of the loads at which queues begin to overflow, in loads: wide where it takes
    the air for a time that fills them. ``values``: of the parameter, each as likely as the others
    before any reading. ``nearby``: values around the best one, where a number lies between those of
    ``values``. ``say``: words of a value. ``remedy``: what the reader can do; ``remedy_of``: the
    same in a setting, where it depends on the policies.
    """

    name: str
    words: str
    predicts: Callable[[Setting, Reading, Values], Predicted | None]
    values: Callable[[Setting], Sequence[Values]]
    prior: Callable[[Setting], Prior]
    remedy: str
    where: Where = "policy"
    say: Callable[[Values], str] = field(default=lambda _: "")
    before: Callable[[Setting, Reading, Values], Predicted] | None = None
    of_cpu: bool = False
    of_air: bool = False
    bursts: float = BURSTS
    nearby: Callable[[Values], Sequence[Values]] = field(default=lambda _: ())
    remedy_of: Callable[[Setting], str] | None = None

    def mend(self, setting: Setting) -> str:
        """The remedy in this setting."""
        return self.remedy if self.remedy_of is None else self.remedy_of(setting)


def unchanged(setting: Setting, reading: Reading) -> Predicted:
    """Octets alone: throughput by what the air carries of both policies, all else as before."""
    before, quantity = reading.before, reading.quantity
    if quantity == "cable_bps":
        return Predicted(GIGABIT, 0.1, below=0.3)
    if quantity in THROUGHPUTS:
        air = setting.of(reading.flow)
        if before is None:
            return Predicted(_HOME * air.after, UNSEEN, below=0.35, above=0.12)
        return Predicted(before * air.after / air.before, _OWN, _TOGETHER, _TOGETHER)
    if quantity == "rate_bps":
        if before is None:
            return Predicted(setting.of(reading.flow).rate_bps, 0.1, below=0.2)
        return Predicted(before, 0.03)
    if quantity in OF_FORM:
        return Predicted(before or setting.form.get(quantity, 1.0), 0.02)
    if quantity == "signal_dbm":
        return Predicted(
            _LEVEL if before is None else before, _LEVEL_UNSEEN if before is None else _LEVEL_OFF
        )
    if quantity in OF_AIRTIME:
        usual = _USUAL[quantity] if before is None else before
        return Predicted(usual, _AIRTIME_UNSEEN if before is None else _AIRTIME)
    if quantity == "cpu_share":
        usual = _USUAL[quantity] if before is None else before
        return Predicted(usual, _LOAD_UNSEEN if before is None else _LOAD)
    if quantity == "software_share":
        return _ciphers(setting)
    if quantity in FACTORS:
        deviation = _DELAY if quantity == "delay_s" else 0.25
        return Predicted(before or _USUAL[quantity], deviation if before else 1.0)
    if before is None:
        return Predicted(_USUAL.get(quantity, 0.0), 0.05)
    own = _RETRIES if quantity == "retry_share" else _SHARE
    return Predicted(before, own + 0.06 * math.sqrt(max(before, 0.0)))


def _ciphers(setting: Setting) -> Predicted:
    """Whether a CPU ciphers a link that is slow for another reason: as the profiles have it."""
    if setting.in_software:
        return Predicted(1.0, _SOFT_OFF)
    both = len(setting.in_hardware) > 1
    return Predicted(0.0, _SOFT_OFF) if both else Predicted(_SOFT_UNKNOWN, _SOFT_UNKNOWN_OFF)


def usual_before(setting: Setting, reading: Reading) -> Predicted:
    """A throughput before, of a link that nothing but the air and a home limits."""
    return Predicted(0.97 * setting.of(reading.flow).before, 0.1, below=0.55, above=0.05)


def predicted(mechanism: Mechanism, setting: Setting, reading: Reading, value: Values) -> Predicted:
    """The value after a change by a mechanism; of readings that it leaves alone by octets alone."""
    if reading.supposed and mechanism.before is not None:
        reading = evolve(reading, before=mechanism.before(setting, reading, value).value)
    if reading.quantity == "again_bps":
        return _again(mechanism, setting, reading, value)
    if reading.quantity == "cpu_share":
        return _loaded(mechanism, setting, reading, value)
    own = mechanism.predicts(setting, reading, value)
    if own is None and reading.quantity == "loss_ratio" and reading.flow.transport == "udp":
        return _overloaded(mechanism, setting, reading, value)
    if own is None and reading.quantity in ("busy_share", "mpdus_per_frame"):
        return _idler(mechanism, setting, reading, value)
    if own is None and reading.quantity == "retry_share" and not mechanism.of_air:
        return _idler(mechanism, setting, reading, value)
    own = unchanged(setting, reading) if own is None else own
    if reading.quantity == "throughput_bps" and reading.flow == _QUEUED:
        slow = min(0.5, _QUEUE_BITS / max(own.value, 1.0))
        return evolve(own, deviation=math.hypot(own.deviation, _OVERFLOW * slow))
    return own


def _loaded(mechanism: Mechanism, setting: Setting, reading: Reading, value: Values) -> Predicted:
    """Load of the busiest core: full where a CPU limits, else it goes with the throughput."""
    usual = unchanged(setting, reading)
    clear = evolve(reading, quantity="throughput_bps", before=None)
    if mechanism.before is not None:
        standing = mechanism.before(setting, clear, value)
        limits = standing.value < usual_before(setting, clear).value
        return Predicted(_FULL_LOAD, _FULL_OFF) if mechanism.of_cpu and limits else usual
    carried = mechanism.predicts(setting, clear, value)
    share = 1.0 if carried is None else carried.value / unchanged(setting, clear).value
    if mechanism.of_cpu and share < 0.99:
        return Predicted(_FULL_LOAD, _FULL_OFF)
    return evolve(usual, value=usual.value * min(1.0, share))


def _again(mechanism: Mechanism, setting: Setting, reading: Reading, value: Values) -> Predicted:
    """The first policy once more: what came with the policy goes with it."""
    air = setting.of(reading.flow)
    back = air.before / air.after
    if mechanism.where == "surroundings":
        own = predicted(mechanism, setting, evolve(reading, quantity="throughput_bps"), value)
        return evolve(own, value=own.value * back, deviation=math.hypot(own.deviation, 0.1))
    usual = unchanged(setting, reading)
    return evolve(usual, value=usual.value * back, deviation=math.hypot(usual.deviation, 0.05))


def _idler(mechanism: Mechanism, setting: Setting, reading: Reading, value: Values) -> Predicted:
    """Air in use, MPDUs per frame and retries, where something that is no part of the air limits.

    Where packets come one after the other, frames are short and the air is used worse. Data meet
    the acknowledgements of TCP as often as before, or never: that depends on which end waits.
    """
    usual = unchanged(setting, reading)
    if mechanism.before is not None:
        return usual
    clear = evolve(reading, quantity="throughput_bps", before=None)
    carried = mechanism.predicts(setting, clear, value)
    share = 1.0 if carried is None else carried.value / unchanged(setting, clear).value
    if share > 0.97:
        return usual
    left = max(share, 1e-3)
    if reading.quantity == "mpdus_per_frame":
        middle = max(1.0, usual.value * left**2.5)
        return Predicted(middle, 0.5 + 0.4 * math.log(usual.value / middle))
    if reading.quantity == "retry_share":
        return fewer_collisions(usual)
    # The share goes with the octets, or, with all frames alone, as a root of them.
    middle = usual.value * left**0.6
    return Predicted(middle, math.hypot(usual.deviation, 0.25 * usual.value * (1 - left)))


def fewer_collisions(usual: Predicted) -> Predicted:
    """Retries between none and as many as before."""
    return Predicted(0.55 * usual.value, math.hypot(_COLLISIONS, 0.4 * usual.value))


def _overloaded(
    mechanism: Mechanism, setting: Setting, reading: Reading, value: Values
) -> Predicted:
    """Loss of datagrams where more is offered than is carried."""
    usual = unchanged(setting, reading)
    flow = reading.flow.alone
    clear = Reading(
        "throughput_bps", flow, setting.of(flow).before, None, offered_bps=reading.offered_bps
    )
    carried = mechanism.predicts(setting, clear, value)
    if carried is None:
        carried = unchanged(setting, clear)
    if reading.offered_bps is None:
        share = carried.value / unchanged(setting, clear).value
        return usual if share > 0.8 else Predicted(0.5 * (1 - share), 0.25)
    load = reading.offered_bps / max(carried.value, 1.0)
    # Queues overflow now and then before the mean load is that of the link.
    over = mechanism.bursts * math.log1p(math.exp(min((load - 1) / mechanism.bursts, 500.0)))
    lost = over / (1 + over)
    near = 1 / (1 + min(load, 1e3) ** -8)
    spread = near * carried.total / max(load, 1.0)
    # How long the air is taken at a time is not known.
    unsure = lost if mechanism.bursts > BURSTS else 0.0
    return Predicted(max(usual.value, lost), math.hypot(usual.deviation, spread, unsure))


def efficiency(setting: Setting, reading: Reading) -> float:
    """The share of what the air carries that was measured before; of a home where it is unknown."""
    if reading.before is None or reading.before <= 0:
        return _HOME
    return max(0.02, min(1.0, reading.before / setting.of(reading.flow).before))


def capped(setting: Setting, reading: Reading, cap: float, below: float, above: float) -> Predicted:
    """Throughput under a limit of the air: the other losses of the link act on it in part.

    At two standard deviations upwards they do not act at all: above the limit there is no more than
    ``above``, whatever else the link loses.
    """
    octets = unchanged(setting, reading)
    loss = -math.log(efficiency(setting, reading))
    value = cap * math.exp(-loss / 2)
    if value >= octets.value:
        return octets
    own = 0.035 if reading.flow.transport == "tcp" else 0.02
    return Predicted(value, own, math.hypot(below, loss / 2), math.hypot(above, loss / 4))


def limited(octets: Predicted, cap: float, own: float = 0.025, together: float = 0.02) -> Predicted:
    """Throughput under a limit that is not of the air."""
    near = 1 / (1 + (octets.value / max(cap, 1.0)) ** 8)
    return Predicted(
        min(octets.value, cap),
        own * (1 - near) + octets.deviation * near,
        together * (1 - near) + octets.below * near,
        together * (1 - near) + octets.above * near,
    )


def freed(setting: Setting, reading: Reading, octets: Predicted) -> Predicted:
    """The throughput that the air would carry, where something else limited the reading before."""
    return evolve(octets, value=max(octets.value, _HOME * setting.of(reading.flow).after))


def scaled(octets: Predicted, factor: float, own: float, together: float = 0.0) -> Predicted:
    """Throughput by a factor."""
    return Predicted(
        factor * octets.value,
        math.hypot(octets.deviation, own),
        math.hypot(octets.below, together),
        math.hypot(octets.above, together),
    )


def frame_octets(flow: Flow) -> int:
    """Octets of an MPDU: packet, LLC, MAC header, cipher and FCS."""
    return flow.packet + 50


def bits_of(flow: Flow) -> int:
    """Bits of payload of a packet."""
    return 8 * flow.payload


def shape(air: Air, flow: Flow) -> tuple[float, float, float]:
    """MPDUs of a frame, time of an exchange without them, and time of one of them, s.

    They follow from the throughputs with and without aggregation and the PHY rate.
    """
    one = 8 * frame_octets(flow) / air.rate_bps
    around = max(1e-5, bits_of(flow) / air.single - one)
    if not air.aggregates:
        return 1.0, around, one
    each = max(bits_of(flow) / air.after - one, around / 1024)
    return max(1.0, around / each), around, one


def always(weight: float, because: str = "") -> Callable[[Setting], Prior]:
    """The same prior in every setting."""
    return lambda _: Prior(weight, because)


def geometric(first: float, last: float, count: int) -> tuple[float, ...]:
    """Values in equal steps of the logarithm."""
    ratio = (last / first) ** (1 / (count - 1))
    return tuple(first * ratio**n for n in range(count))


def nearby(*parts: float, ratio: bool = False) -> Callable[[Values], Sequence[Values]]:
    """Values whose first number is ``parts`` off, or (``ratio``) these factors."""
    return lambda value: tuple(
        (value[0] * part if ratio else value[0] + part, *value[1:]) for part in parts
    )


def nearby_both(
    first: Sequence[float], second: Sequence[float]
) -> Callable[[Values], Sequence[Values]]:
    """Values whose first two numbers are these factors off."""
    return lambda value: tuple(
        (value[0] * one, value[1] * two, *value[2:]) for one in first for two in second
    )


def fixed(*values: Values) -> Callable[[Setting], Sequence[Values]]:
    """The same values of the parameter in every setting."""
    return lambda _: values


def single(*values: float) -> Callable[[Setting], Sequence[Values]]:
    """The same, of a parameter that is one number."""
    return fixed(*((value,) for value in values))


def percent(share: float) -> str:
    """``25 %``."""
    return f"{100 * share:.0f} %"


def rounded(value: float) -> str:
    """``7,300``: two significant digits of a large number."""
    return f"{float(f'{value:.2g}'):,.0f}"
