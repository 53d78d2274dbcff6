"""The kinds of claims. Each holds numbers, cells and a verdict; none holds a sentence."""

from __future__ import annotations

from enum import Enum

from attrs import frozen

from airtoll.analyse import Estimate
from airtoll.observe.metrics import OF_THE_TRIAL
from airtoll.plan import Cell
from airtoll.question import Arm, Place
from airtoll.study import Level


class Verdict(Enum):
    """The meaning of a change for the person who asked."""

    GAINS = "gains"
    COSTS = "costs"
    #: The metric changes; more of it is neither better nor worse.
    CHANGES = "changes"
    #: The interval of the change lies inside the unnoticed range.
    UNNOTICED = "unnoticed"
    #: The interval holds both no change and one that would be noticed.
    TOO_FEW = "too few trials"
    #: One of the two cells has no value.
    UNMEASURED = "not measured"
    #: One of the two values still changes with the length of the trial.
    UNSETTLED = "not settled"


@frozen
class Compare:
    """The change of one metric from what one has to one candidate, at one place.

    ``before`` and ``after``: means; of join and hand-over times, medians. ``clients``: number of
    clients that a share of clients is of.

    ``change``: after - before, in the metric's unit or as a share of before (unit 1, ``is_share``);
    None without both values. ``fresh``: trials of each cell of a new run, with another
    seed, that would decide with probability ``power.POWER`` if the change is the one seen here,
    with ``TOO_FEW`` (None: unknown). ``reason``: with ``UNMEASURED`` and ``UNSETTLED``. ``fails``:
    there is no value because some client never joined. ``same_frames``: both send the same data
    frames by the plan, so that a change is chance and the verdict ``UNNOTICED``.
    """

    metric: str
    place: Place
    have: Arm
    to: Arm
    before: Estimate | None
    after: Estimate | None
    change: Estimate | None
    is_share: bool
    verdict: Verdict
    fresh: int | None = None
    reason: str = ""
    clients: int | None = None
    fails: bool = False
    same_frames: bool = False

    @property
    def is_of_trial(self) -> bool:
        """Whether it is one of the trial's traffic, where both cells have a day (``duty``).

        Readings of others have no cells.
        """
        found = [self.place.cells.get(arm) for arm in (self.have, self.to)]
        return self.metric in OF_THE_TRIAL and all(
            one is not None and one.settings.duty for one in found
        )


@frozen
class Apart:
    """How a change to one candidate differs between two places.

    ``less`` and ``more``: the changes, the smaller one first. ``difference``: that of ``more`` less
    that of ``less``, in their unit. ``verdict``: ``CHANGES``, ``UNNOTICED`` or ``TOO_FEW``.
    """

    less: Compare
    more: Compare
    difference: Estimate
    verdict: Verdict


class Ruling(Enum):
    """Whether a requirement holds at one place. Only ``MET`` passes a gate."""

    MET = "met"
    FAILED = "failed"
    #: The interval holds the limit.
    TOO_FEW = Verdict.TOO_FEW.value
    #: The cell has no value, or not one of all of its trials.
    UNMEASURED = Verdict.UNMEASURED.value
    #: The value still changes with the length of the trial.
    UNSETTLED = Verdict.UNSETTLED.value


@frozen
class Ruled:
    """One requirement at one place.

    ``at_least`` and ``at_most``: limits of ``value``, in its unit; None without one. ``value``: a
    mean, of join and hand-over times a median, or the change of ``compare``; None with
    ``UNMEASURED`` where there is none. ``compare``: the change that is required, or, without
    limits, the change since an earlier run. ``flow`` and ``station``: the part of the cell; None:
    the whole. ``fresh`` and ``reason``: as in ``Compare``, with ``TOO_FEW``, ``UNMEASURED`` and
    ``UNSETTLED``. ``name``: the study's name of the requirement.
    """

    metric: str
    cell: Cell
    ruling: Ruling
    value: Estimate | None
    name: str = ""
    at_least: float | None = None
    at_most: float | None = None
    compare: Compare | None = None
    flow: str | None = None
    station: str | None = None
    fresh: int | None = None
    reason: str = ""


@frozen
class Parts:
    """Where the change of one throughput goes: parts of the airtime per delivered bit.

    ``parts``: part of the ledger -> its share, a fraction of what was, in the order of the ledger;
    they add up to ``total``.
    """

    compare: Compare
    parts: tuple[tuple[str, Estimate], ...]
    total: float


class Held(Enum):
    """Limits of a throughput."""

    AIR = "air"
    CPU = "cpu"
    WIRE = "wire"
    OFFERED = "offered load"


@frozen
class Limit:
    """The limit of one cell.

    ``host``: the device whose CPU is busy; ``share``: its busy share.
    """

    cell: Cell
    place: Place
    arm: Arm
    held: Held
    host: str = ""
    share: float | None = None


@frozen
class Margin:
    """How near a RADIUS server is to failing: levels of its requests/s, for all access points.

    ``now``: what it answers. ``enough``: the least measured level from which on every client joined
    in every trial; None where none was enough. ``short``: the largest measured level below it, at
    which not all joined in some trial; None where all levels were enough. ``clients``: of all
    access points. ``trials``: of each level. ``enough_s``: the longest time until every client had
    joined at ``enough``; ``short_joined``: the smallest share of an access point's clients that
    joined at ``short``; None where it was not measured.
    """

    policy: str
    now: float
    enough: float | None
    short: float | None
    clients: int
    trials: int = 1
    enough_s: float | None = None
    short_joined: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the server is fast enough now."""
        return self.enough is not None and self.enough <= self.now


@frozen
class Crossing:
    """The level of a factor from which on the verdict is another one.

    ``below`` holds up to and including ``last``, ``above`` from ``first`` on, in the order of the
    levels or, where the question changes this factor, away from what one has. ``between``: measured
    levels between the two that have too few trials.
    """

    factor: str
    to: Arm
    place: Place
    last: float
    first: float
    below: Compare
    above: Compare
    between: tuple[float, ...] = ()


class Way(Enum):
    """The way of a change along the levels of a factor."""

    GROWS = "grows"
    SHRINKS = "shrinks"
    #: The interval of the difference between the first and the last level holds zero.
    STEADY = "neither grows nor shrinks"


@frozen
class Trend:
    """Whether a change grows or shrinks from the first level of an axis to the last.

    ``compares``: the change at each level, in the order of the levels; all are decided. ``way``: of
    the amount of the change, by the difference of its first and its last value; up to the level
    number ``turn`` where it turns there, by the differences on both sides. None: it does not turn.
    """

    axis: str
    to: Arm
    compares: tuple[Compare, ...]
    way: Way
    turn: int | None = None


@frozen
class Possible:
    """An arm (what one has, too) that cannot be had at some places, and why."""

    arm: Arm
    reason: str
    places: tuple[Place, ...]


@frozen
class Fallback:
    """An arm (what one has, too) whose link falls back to an older PHY at some places, and why."""

    arm: Arm
    link: str
    reason: str
    places: tuple[Place, ...]


class Printed(Enum):
    """Kinds of printed values."""

    VALUE = "value"
    DIFFERENCE = "difference of two values"
    RATIO = "ratio of two values"
    #: The mean of overheads over several kinds of traffic.
    COMBINED = "mean over several kinds of traffic"


@frozen
class Fit:
    """Fitted times of devices, least and most, seconds. ``place``: theirs in a profile."""

    place: str
    low: float
    high: float


@frozen
class Met:
    """How many printed values of one traffic are met, fitted ones too; ``median``: distance."""

    traffic: str
    met: int
    total: int
    median: float


@frozen
class Ordering:
    """One setting of a study, and the scenarios in which it gives a printed order.

    ``levels``: factors with their level, then ``TCP`` and ``UDP`` with their traffic.
    """

    levels: tuple[tuple[str, Level], ...]
    kept: tuple[str, ...]


@frozen
class Ordered:
    """The settings that give a printed order of two transports.

    The order is which of TCP and UDP loses less throughput to ``policy``, scenario by scenario.
    """

    dataset: str
    policy: str
    scenarios: tuple[str, ...]
    settings: tuple[Ordering, ...]


@frozen
class Reproduces:
    """How many printed values are met.

    ``met`` of ``total`` values that no profile was fitted to lie within ``within`` (a fraction:
    points of an overhead, a share of other quantities); ``fitted_met`` of ``fitted`` are agreement
    of a fit. ``printed`` and ``ours``: least and most of the quantity, over the same values.
    ``median``: median distance, a fraction. ``axis`` and ``variant``: the factor by which the
    study's model varies (the profile set, or a factor that the printed values do not have), and its
    level; empty without one. ``fits``: fitted times of its devices. ``instrument``: the one through
    which ours was seen; ``fitted_instrument``: whether it is fitted itself. ``above`` and
    ``excess``: printed values above what the PHY can carry, and of the others those above what the
    stations send; none of them is met. ``of_all`` and ``by_traffic``: all values, fitted ones too.
    """

    dataset: str
    quantity: str
    kind: Printed
    axis: str
    variant: Level
    instrument: str
    within: float
    met: int
    total: int
    fitted_met: int
    fitted: int
    median: float
    printed: tuple[float, float]
    ours: tuple[float, float]
    unit: str
    fits: tuple[Fit, ...] = ()
    above: int = 0
    excess: int = 0
    fitted_instrument: bool = False
    of_all: Met | None = None
    by_traffic: tuple[Met, ...] = ()


@frozen
class Gain:
    """The security that a policy adds to another; needs no measurement.

    ``services`` and ``lost``: names of the catalogue. ``ended`` and ``left``: weaknesses, each a
    sentence, those of what one has that end and those that the new policy has.
    ``excludes``: stations of the present policy cannot join; ``bridge``: the transition policy that
    lets them join, empty where there is none. ``completes_pmf``: management frames are protected
    for the clients that can today, and for all afterwards. ``kept``: weaknesses of what one has
    that stay while a device uses it, where the new policy admits such devices.
    """

    have: str
    to: str
    services: tuple[str, ...]
    lost: tuple[str, ...]
    ended: tuple[str, ...]
    left: tuple[str, ...]
    excludes: bool
    bridge: str = ""
    completes_pmf: bool = False
    kept: tuple[str, ...] = ()


class Sum(Enum):
    """The cost of a whole against the sum of the costs of its parts."""

    MORE = "more"
    LESS = "less"
    EQUAL = "equal"
    UNKNOWN = "unknown"


@frozen
class Layered:
    """A tunnel over a protected link.

    ``added``: from the link to the tunnel over it. ``link``, ``alone`` and ``whole``: from an open
    network to the link, to the tunnel, to both. ``parts``: the sum of ``link`` and ``alone``, a
    share as a loss. ``services``: those that the tunnel adds to the link. ``limit``: of the whole.
    """

    link: str
    tunnel: str
    added: Compare
    alone: Compare
    whole: Compare
    parts: Estimate | None
    sum: Sum
    services: tuple[str, ...]
    limit: Limit | None


Claim = (
    Compare
    | Apart
    | Ruled
    | Parts
    | Limit
    | Margin
    | Crossing
    | Trend
    | Ordered
    | Possible
    | Fallback
    | Reproduces
    | Gain
    | Layered
)
