"""A campaign in a laboratory as a testbed: touches, verification from the air, moves, the watch.

Takes trials in the order of a tour; gives observations. Before each trial the access point is heard
and compared with its settings, field by field. A difference, a failed join that points to a key, or
silence leads to another touch. An answer of a person, or the end of a command, proves nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from attrs import define, evolve

from airtoll.errors import EnvironmentProblem, StorageError, TestbedError
from airtoll.observe.journal import BROKEN
from airtoll.plan import Cell, Plan, Trial
from airtoll.testbeds.contract import Caution, Measured, Skip
from airtoll.testbeds.lab import alerts, command, daily
from airtoll.testbeds.lab.access_point import Settings, wanted
from airtoll.testbeds.lab.agenda import tour_of
from airtoll.testbeds.lab.air import Difference, Verified, doubts, verify
from airtoll.testbeds.lab.bench import Bench, Surroundings
from airtoll.testbeds.lab.logbook import Logbook, digest
from airtoll.testbeds.lab.places import places_of, printed_dbm
from airtoll.testbeds.linux.attended.prompts import SKIP, Prompts, Terminal
from airtoll.testbeds.linux.conditions import busy_share
from airtoll.testbeds.linux.job import Foreign
from airtoll.testbeds.linux.laboratory.lab import Lab

#: Listens before an access point counts as silent or different, and the time between them, s.
_LISTENS: Final = {"hand": 3, "command": 12}
_BETWEEN_S: Final = 5.0
#: Touches by a command before its setting is given up, and joins that point to a key.
_COMMANDS: Final = 2
_JOINS: Final = 3
#: Between two tries of a host that is not reached, s; less where a run waits for a short time.
_RETRY_S: Final = 30.0
_RETRIES: Final = 20
#: After its power came back, s.
_BOOT_S: Final = 120.0
_DONE: Final = "Enter when it is done; skip leaves it out"
T = TypeVar("T")


class LeftOutError(TestbedError):
    """A setting or a place that did not come about: its trials fail by name."""


@define
class Clock:
    """The clock and the wait of a campaign, s; a test hands in others."""

    now: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep


class Campaign:
    """A testbed over the bench of a laboratory.

    ``prompts``: makes the place where a person reads and answers, at the first need.
    ``folder``: where commands run. ``name``: of the testbed whose observations these are.
    """

    parallel = False

    def __init__(
        self,
        lab: Lab,
        bench: Bench,
        *,
        name: str = "linux",
        prompts: Callable[[], Prompts] | None = None,
        logbook: Logbook | None = None,
        folder: Path | None = None,
        clock: Clock | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.name = name
        self.lab = lab
        self.bench = bench
        self.log = logbook or Logbook(None)
        self._make_prompts = prompts or (lambda: Terminal(f"lab {lab.lab.name}"))
        self._prompts: Prompts | None = None
        self._folder = folder or Path()
        self._clock = clock or Clock()
        self._say = say or (lambda _: None)
        self._setting = self.log.setting
        self._at = dict(self.log.places)
        #: Digest of a setting, or place -> why it was left out.
        self._given_up: dict[str, str] = {}
        self._addresses: tuple[str, ...] = ()
        #: The day of the last event, and why the log does not take the last trial's.
        self._day: str | None = None
        self._unkept: StorageError | None = None
        #: The end of the wait whose trouble has been told.
        self._in_trouble_until: float | None = None
        self._touches = 0
        self._planned_touches = 0

    def ask_hosts(self) -> None:
        """Ask the hosts what they can do, before any cell is checked; says which do not answer."""
        for line in self.bench.ask_hosts():
            self._say(f"lab {self.lab.lab.name}: {line}")

    def check(self, cell: Cell) -> Skip | None:
        """Why the cell cannot be carried out, or None."""
        return self.bench.check(cell)

    def cautions(self, cell: Cell) -> tuple[Caution, ...]:
        """None are known before a trial."""
        return ()

    def expected_s(self, cell: Cell) -> float:
        """Rough wall time of one trial, seconds."""
        return self.bench.expected_s(cell)

    def order(self, plan: Plan) -> Callable[[int, int], tuple[float, ...]] | None:
        """The rank of (cell, trial) with the fewest touches; None: as the plan has it."""
        tour = tour_of(plan, self)
        if tour is None:
            return None
        self._planned_touches = tour.touches
        rehearsed = "rehearsal of " if self.name == "simulator" else ""
        self._say(f"{rehearsed}lab {self.lab.lab.name}: {tour.words}")
        last = float(len(plan.cells))

        def turn(cell: int, number: int) -> tuple[float, ...]:
            return tour.turn(cell, number) if cell in tour.ranks else (0.0, last, float(number))

        return turn

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        """Set the access point and the places, look at the channel, and carry out the trial."""
        if self._unkept is not None:
            raise self._unkept
        try:
            self._close_days()
            return self._measure(trial, captures)
        except LeftOutError as error:
            self.log.add("left out", cell=trial.cell.name, trial=trial.number, why=str(error))
            return Measured(failure=f"{BROKEN}{error}")

    def environment(self) -> dict[str, str]:
        """Versions and settings, and who sets the access point."""
        ap = self.lab.lab.ap
        by = (
            {} if ap is None else {"access_point": f"set by {ap.touched_by}, verified from the air"}
        )
        return {**self.bench.environment(), **by}

    def cancel(self) -> None:
        """End a trial that is under way."""
        self.bench.cancel()

    def close(self) -> None:
        """Leave the hosts as they were, and write the report of the day."""
        self.bench.close()
        with contextlib.suppress(StorageError):  # the run has said so, or its disk is full
            if self.log.day in self.log.days():
                self._report(self.log.day)

    def _close_days(self) -> None:
        """Write and send the reports of the days that are over, since the last one."""
        today = self.log.day
        if self._day is None:
            self._day = next(iter(self.log.days()[-1:]), today)
        if self._day == today:
            return
        over, self._day = self._day, today
        text = self._report(over)
        subject = f"airtoll: {self.lab.lab.name}: {over}"
        for line in alerts.send(self.lab.lab.alert, subject, text):
            self.log.add("alert failed", why=line)

    def _report(self, day: str) -> str:
        text = daily.report(self.lab.lab.name, day, self.log.read())
        self.log.keep_report(day, text)
        return text

    def _measure(self, trial: Trial, captures: Path | None) -> Measured:
        cell = trial.cell
        self._move(cell)
        if not self._addresses and any(c.value == "mac-acl" for c in cell.security.access_control):
            self._addresses = self._patiently(self.bench.addresses)
        settings = self.settings(cell)
        said: list[str] = []
        foreign: Foreign | None = None
        measured = Measured()
        for left in reversed(range(_JOINS)):
            if self.lab.lab.ap is not None:
                verified = self._set(settings)
                foreign = Foreign(verified.bss["bssid"], settings.frequency_mhz)
                said = [f"access point: {one.text} (accepted)" for one in verified.accepted]
            measured = self._watched(trial, captures, foreign, settings)
            doubt = None
            if foreign is not None and measured.failure is not None:
                doubt = doubts(settings, measured.failure)
            if doubt is None:
                break
            self.log.add("difference", cell=cell.name, field=doubt.field, is_=doubt.seen)
            self._forget_setting()
            if not left:
                break
            try:
                self._touch(settings, [doubt])
            except LeftOutError:
                break  # the trial has failed by the name of the failed join
        return evolve(measured, caveats=(*measured.caveats, *said))

    def settings(self, cell: Cell) -> Settings:
        """The settings of the access point for a cell."""
        # Without a connection to the hosts their names take the place of the addresses.
        stations = self._addresses or tuple(self.lab.of("station"))
        return wanted(cell, self.lab, self.bench.secret, stations)

    # --- the access point

    def _set(self, settings: Settings) -> Verified:
        """The verified access point; touched where it is not as asked for."""
        key = digest(settings, self.bench.secret)
        if key in self._given_up:
            raise LeftOutError(self._given_up[key])
        if self._setting == key:
            verified, differences = self._verified(settings, 1)
            if verified is not None:
                return verified
            self.log.add("difference", fields=[one.text for one in differences])
            self._forget_setting()
            if self._silent(differences) and self._power():
                verified, differences = self._verified(settings, _LISTENS["command"])
                if verified is not None:
                    return self._keep(settings, verified)
            return self._touch(settings, list(differences))
        return self._touch(settings, [])

    def _touch(self, settings: Settings, differences: list[Difference]) -> Verified:
        """Have the access point set until it is verified. Raises ``LeftOutError``."""
        ap = self.lab.lab.ap
        assert ap is not None
        self._touches += 1
        try:
            if ap.touched_by == "command":
                return self._by_command(settings)
            return self._by_hand(settings, differences)
        except LeftOutError as error:
            self._given_up[digest(settings, self.bench.secret)] = str(error)
            raise

    def _by_hand(self, settings: Settings, differences: list[Difference]) -> Verified:
        ap = self.lab.lab.ap
        assert ap is not None
        of = f" of {self._planned_touches}" if self._planned_touches else ""
        if differences:
            head = "The access point is not as asked for:"
            lines = [f"  {one.text}" for one in differences]
            text = "\n".join([head, *lines, "It has to have:", *settings.lines(self.bench.secret)])
        else:
            head = f"Set the access point ({ap.ip}), touch {self._touches}{of}, {settings.policy}:"
            text = "\n".join([head, *settings.lines(self.bench.secret)])
        while True:
            if not self._answered(text, ap.limit_s):
                raise LeftOutError(
                    f"the setting of the access point for {settings.policy} was skipped"
                )
            verified, found = self._verified(settings, _LISTENS["hand"])
            if verified is not None:
                self._tell("the access point is as asked for, by its beacons")
                return self._keep(settings, verified)
            self.log.add("difference", fields=[one.text for one in found])
            text = "\n".join(
                ["The access point is not as asked for:", *(f"  {one.text}" for one in found)]
            )

    def _by_command(self, settings: Settings) -> Verified:
        ap = self.lab.lab.ap
        assert ap is not None
        variables = {
            **settings.variables(self.bench.secret, ap),
            "AIRTOLL_SSH": command.ssh(ap),
        }
        why = ""
        for _ in range(_COMMANDS):
            try:
                command.run(command.words(ap), variables, self._folder, ap.limit_s)
            except TestbedError as error:
                why = str(error)
                continue
            verified, found = self._verified(settings, _LISTENS["command"])
            if verified is not None:
                return self._keep(settings, verified)
            why = "after its command the access point is not as asked for: " + "; ".join(
                one.text for one in found
            )
            if self._silent(found):
                self._power()
        self._alert(f"{settings.policy}: {why}")
        raise LeftOutError(why)

    def _verified(
        self, settings: Settings, listens: int
    ) -> tuple[Verified | None, tuple[Difference, ...]]:
        """Listen up to so many times; the last listen is on all channels."""
        ap = self.lab.lab.ap
        assert ap is not None
        channel = (settings.frequency_mhz,)
        for left in reversed(range(listens)):
            heard = self._patiently(lambda: self.bench.hear(channel))
            verified, _ = verify(settings, heard, ap.bssid, ap.accept)
            if verified is not None:
                return verified, ()
            if left:
                self._clock.wait(_BETWEEN_S)
        everywhere = self._patiently(self.bench.hear)
        return verify(settings, everywhere, ap.bssid, ap.accept)

    def _keep(self, settings: Settings, verified: Verified) -> Verified:
        self._setting = digest(settings, self.bench.secret)
        self.log.remember(setting=self._setting, places=self._at)
        self.log.add(
            "set",
            policy=settings.policy,
            channel=settings.channel,
            bssid=verified.bss["bssid"],
            signal_dbm=verified.bss["signal_dbm"],
            accepted=[one.text for one in verified.accepted],
        )
        return verified

    def _forget_setting(self) -> None:
        self._setting = None
        self.log.remember(setting=None, places=self._at)

    @staticmethod
    def _silent(differences: tuple[Difference, ...]) -> bool:
        return any(one.field == "access point" for one in differences)

    def _power(self) -> bool:
        """Switch a silent access point off and on, where the lab file says how."""
        ap = self.lab.lab.ap
        if ap is None or ap.power is None:
            return False
        self._alert("the access point is silent; it is switched off and on")
        try:
            command.run(shlex.split(ap.power), {"AIRTOLL_ADDRESS": ap.ip}, self._folder, ap.limit_s)
        except TestbedError as error:
            self._alert(str(error))
            return False
        self._clock.wait(_BOOT_S)
        return True

    # --- stations

    def _move(self, cell: Cell) -> None:
        """Have stations carried to the places of a cell."""
        if self.lab.wired:
            return
        places = {name: place.words for name, place in places_of(cell).items()}
        moved = {name: words for name, words in places.items() if self._at.get(name) != words}
        if not moved:
            return
        key = repr(sorted(moved.items()))
        if key in self._given_up:
            raise LeftOutError(self._given_up[key])
        hosts = dict(zip(_stations(cell), self.lab.of("station"), strict=False))
        printed = printed_dbm(cell)
        lines = ["Put the stations where the study has them:"]
        for name, words in moved.items():
            level = f" (printed: {printed[name]:g} dBm)" if name in printed else ""
            lines.append(f"  {hosts.get(name, 'station')} (station {name}): {words}{level}")
        if not self._answered("\n".join(lines), self.lab.lab.hand_limit_s):
            self._given_up[key] = f"{', '.join(moved)}: the move was skipped"
            raise LeftOutError(self._given_up[key])
        self._at |= moved
        self.log.remember(setting=self._setting, places=self._at)
        self.log.add("moved", places=moved)

    # --- the trial and its surroundings

    def _watched(
        self, trial: Trial, captures: Path | None, foreign: Foreign | None, settings: Settings
    ) -> Measured:
        """The trial; repeated, then marked, where others took the channel."""
        busy = self.lab.lab.busy
        mhz = settings.frequency_mhz
        for left in reversed(range(busy.repeat + 1)):
            first = self._patiently(lambda: self.bench.surroundings(mhz))
            if not self.lab.wired:
                self._clock.wait(busy.look_s)
            begun = self._patiently(lambda: self.bench.surroundings(mhz))
            measured = self._carried(trial, captures, foreign)
            after = self._patiently(lambda: self.bench.surroundings(mhz))
            before = _share(first, begun, others=False)
            during = _share(begun, after, others=True)
            self._note(
                "trial",
                cell=trial.cell.name,
                trial=trial.number,
                attempt=trial.attempt,
                failure=measured.failure,
                busy_before=before,
                busy_by_others=during,
                noise_dbm=after.noise_dbm,
                clock_s={name: host.clock_s for name, host in after.hosts.items()},
                temperature_c={name: host.temperature_c for name, host in after.hosts.items()},
            )
            busiest = max((one for one in (before, during) if one is not None), default=0.0)
            if measured.failure is not None or busiest <= busy.limit:
                return measured
            if left:
                continue
            said = (
                f"others took {busiest:.0%} of the channel's time, after {busy.repeat} repetitions"
            )
            return evolve(measured, caveats=(*measured.caveats, said))
        raise AssertionError("a range that is never empty")

    def _note(self, event: str, **values: object) -> None:
        """Log a measured trial; a log that cannot be written ends the run, after the trial."""
        try:
            self.log.add(event, **values)
        except StorageError as error:
            self._unkept = error

    def _carried(self, trial: Trial, captures: Path | None, foreign: Foreign | None) -> Measured:
        give_up = self._clock.now() + self.lab.lab.patience_s
        while True:
            try:
                measured = self.bench.measure(trial, captures, foreign)
            except EnvironmentProblem:
                raise
            except TestbedError as error:
                measured = Measured(failure=f"{BROKEN}{error}")
            broken = (measured.failure or "").startswith(BROKEN)
            if not broken or self._clock.now() >= give_up:
                return measured
            self._trouble(measured.failure or "", give_up)

    def _patiently(self, work: Callable[[], T]) -> T:
        """The findings of ``work``, tried again while a host is not reached."""
        give_up = self._clock.now() + self.lab.lab.patience_s
        while True:
            try:
                return work()
            except EnvironmentProblem:
                raise
            except TestbedError as error:
                if self._clock.now() >= give_up:
                    self._alert(f"given up: {error}")
                    raise
                self._trouble(str(error), give_up)

    def _trouble(self, why: str, give_up: float) -> None:
        retry_s = min(_RETRY_S, self.lab.lab.patience_s / _RETRIES)
        if self._in_trouble_until != give_up:
            self._in_trouble_until = give_up
            self._alert(why)  # once, and not at every try
        self.bench.drop()
        self._clock.wait(retry_s)

    def _alert(self, why: str) -> None:
        self.log.add("trouble", why=why)
        self._tell(f"trouble: {why}")
        failed = alerts.send(self.lab.lab.alert, f"airtoll: {self.lab.lab.name}", why)
        for line in failed:
            self.log.add("alert failed", why=line)
            self._tell(f"alert failed: {line}")

    # --- the person

    def _answered(self, text: str, limit_s: float) -> bool:
        """Show a step and wait for Enter; False where it is to be left out.

        Raises ``EnvironmentProblem`` where no answer came: the run ends, and goes on with --resume.
        """
        if self._prompts is None:
            self._prompts = self._make_prompts()
        prompts = self._prompts
        prompts.say(f"{text}\n({_DONE}; waiting for at most {limit_s:g} s)")

        async def answer() -> str:
            async with asyncio.timeout(limit_s):
                return await prompts.line()

        try:
            found = asyncio.run(answer())
        except TimeoutError:
            self._alert(f"no answer within {limit_s:g} s to: {text.splitlines()[0]}")
            raise EnvironmentProblem(
                f"lab {self.lab.lab.name}: no answer within {limit_s:g} s to "
                f"{text.splitlines()[0]!r}; --resume continues"
            ) from None
        return found.strip().lower() not in SKIP

    def _tell(self, text: str) -> None:
        if self._prompts is not None:
            self._prompts.say(text)
        else:
            self._say(text)


def _stations(cell: Cell) -> list[str]:
    from airtoll.testbeds.linux.capability import station_names

    return list(station_names(cell.settings))


def _share(before: Surroundings, after: Surroundings, *, others: bool) -> float | None:
    """The largest share of the radios that tell."""
    shares = [
        busy_share(before.times[node], times, others=others)
        for node, times in after.times.items()
        if node in before.times
    ]
    return max((one for one in shares if one is not None), default=None)
