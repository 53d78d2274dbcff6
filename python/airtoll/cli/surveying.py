"""``airtoll survey``: the channel and the position with the highest throughput.

Takes a laboratory or the guest, channels and positions; gives a ranking. The user moves the access
point when asked; the command does everything else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from attrs import asdict, frozen

from airtoll.analyse.quantities import show_estimate
from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, err, out, table
from airtoll.cli.places import named
from airtoll.cli.studying import VmDriverOption
from airtoll.errors import EnvironmentProblem, UsageError
from airtoll.run.survey import DEFAULT_CHANNELS, SurveyPoint
from airtoll.run.survey import survey as survey_radio

_NOT_RADIO = (
    "virtual radios have no noise and no neighbours: this ranking shows that the tool works, "
    "not which channel is better"
)


@frozen(kw_only=True)
class SurveyOptions:
    """Options of ``airtoll survey``."""

    channels: Annotated[
        str | None,
        typer.Option("--channels", help="Separated by commas; default 1,6,11 or 36,40,44,48."),
    ] = None
    positions: Annotated[
        str | None,
        typer.Option(
            "--positions",
            help="Names, separated by commas; airtoll asks you to go to each position.",
        ),
    ] = None
    band: Annotated[str, typer.Option("--band", help="2.4 or 5 (GHz).")] = "2.4"
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Readings per point.")] = 3
    duration: Annotated[float, typer.Option("--duration", min=1, help="Seconds each.")] = 5.0
    transport: Annotated[str, typer.Option("--transport", help="tcp or udp.")] = "tcp"
    lab: Annotated[
        Path | None,
        typer.Option(
            "--lab", parser=named("--lab"), help="The hosts of a lab.toml; default: virtual radios."
        ),
    ] = None
    vm: Annotated[bool, typer.Option("--vm", help="Virtual radios in a throw-away guest.")] = False
    vm_driver: VmDriverOption = None
    json: JsonOption = False


@command
def survey(options: SurveyOptions) -> None:
    """Rank channels and positions by open throughput, before anything is measured.

    The command measures all channels in each round; the verdict compares each point with the best
    one. With --lab it uses the radios of a lab.toml, else virtual radios.
    """
    from airtoll.testbeds.linux.laboratory.lab import load
    from airtoll.testbeds.linux.testbed import Linux

    bands = {"2.4": "802.11g", "5": "802.11a"}
    if options.band not in bands:
        raise UsageError(f"--band {options.band}: 2.4 or 5")
    if options.transport not in ("tcp", "udp"):
        raise UsageError(f"--transport {options.transport}: tcp or udp")
    phy = bands[options.band]
    chosen = DEFAULT_CHANNELS[phy] if options.channels is None else _numbers(options.channels)
    places = [name.strip() for name in (options.positions or "").split(",") if name.strip()]
    console = err()
    described = None if options.lab is None else load(options.lab)
    if described is not None and not described.of("access-point"):
        raise UsageError(
            f"{options.lab}: a survey changes the channel: it needs a host with role = "
            "access-point, which airtoll drives"
        )
    testbed = Linux(vm=options.vm_driver or options.vm, lab=described)
    if lacking := testbed.missing():
        raise EnvironmentProblem(f"survey: {lacking}")
    try:
        points = survey_radio(
            testbed,
            chosen,
            positions=places,
            rounds=options.rounds,
            duration_s=options.duration,
            phy=phy,
            transport=options.transport,
            ask=_asker(console.print),
            progress=lambda place, channel, turn: console.print(
                f"{place}, channel {channel}, round {turn} of {options.rounds}", markup=False
            ),
        )
    finally:
        testbed.close()
    if options.lab is None:
        console.print(_NOT_RADIO, markup=False)
    if options.json:
        emit_json([asdict(point) for point in points])
    else:
        _print(points)


def _print(points: list[SurveyPoint]) -> None:
    columns = ["position", "channel", "MHz", "throughput", "busy", "noise", "RSSI", "verdict"]
    view = table("channels and positions, best first", columns, right=columns[1:-1])
    for p in points:
        view.add_row(
            p.position,
            str(p.channel),
            str(p.frequency_mhz),
            show_estimate(p.throughput) if p.throughput.n else "",
            "" if p.busy_share is None else f"{100 * p.busy_share:.0f} %",
            "" if p.noise_dbm is None else f"{p.noise_dbm:.0f} dBm",
            "" if p.rssi_dbm is None else f"{p.rssi_dbm:.0f} dBm",
            "; ".join([p.verdict, *p.failures]),
        )
    out().print(view)


def _asker(say: Callable[[str], None]) -> Callable[[str], None]:
    def ask(position: str) -> None:
        say(f"Put the equipment at {position!r} and press Enter.")
        if not sys.stdin.readline():
            raise UsageError(f"survey: no confirmation of position {position!r} (end of input)")

    return ask


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--channels {text}: write numbers separated by commas") from None
