"""Options of several commands: a study, its values, and the testbed that measures it.

Takes the words of a user; gives values, a campaign, or ``UsageError``. Never measures.
"""

from __future__ import annotations

import json as jsonlib
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import frozen

from airtoll.cli.output import err
from airtoll.cli.places import named
from airtoll.errors import UsageError
from airtoll.run.api import prepare

if TYPE_CHECKING:
    from airtoll.testbeds.lab.campaign import Campaign

StudyArgument = Annotated[
    str, typer.Argument(help="Name of a shipped study (`airtoll studies list`) or a TOML file.")
]
OnOption = Annotated[str, typer.Option("--on", help="Testbed: simulator, analytic or linux.")]
VmDriverOption = Annotated[
    str | None,
    typer.Option(
        "--vm-driver",
        help="The guest's driver, qemu or uml; implies --vm. "
        "Default: KVM, else a built User-Mode-Linux kernel, else emulation.",
    ),
]
RealStationsOption = Annotated[
    int | None,
    typer.Option(
        "--real-stations",
        min=1,
        help="With --on linux --vm: so many stations of a cell have real daemons, and the medium "
        "simulates the others.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Set a key of the study, e.g. traffic.udp.duration_s=5."),
]


@frozen(kw_only=True)
class TestbedOptions:
    """The testbed of ``run``, ``check`` and ``watch``."""

    on: OnOption = "simulator"
    vm: Annotated[
        bool, typer.Option("--vm", help="With --on linux: run in a throw-away guest.")
    ] = False
    vm_driver: VmDriverOption = None
    lab: Annotated[
        Path | None,
        typer.Option(
            "--lab",
            parser=named("--lab"),
            help="With --on linux: use the hosts of a lab.toml. With --on simulator: rehearse that "
            "campaign without a radio.",
        ),
    ] = None

    @property
    def guest(self) -> bool | str:
        """The driver of the throw-away guest; whether there is one where no driver is named."""
        return self.vm_driver or self.vm

    def campaign(
        self, real_stations: int | None = None, on_phase: Callable[[str], None] | None = None
    ) -> Campaign | None:
        """The campaign of ``--lab``, or None without that option. Raises ``UsageError``."""
        if self.lab is None:
            return None
        from airtoll.testbeds.lab import opening

        if self.on == "simulator":
            if self.guest or real_stations is not None:
                raise UsageError(
                    "--on simulator --lab is a rehearsal: leave --vm, --real-stations out"
                )
            return opening.rehearsal(self.lab)
        if self.on != "linux":
            raise UsageError(
                f"--lab goes with --on linux or --on simulator, not with --on {self.on}"
            )
        return opening.campaign(
            self.lab, vm=self.guest, real_stations=real_stations, on_phase=on_phase
        )


@frozen(kw_only=True)
class SettingOptions:
    """The values of a study of ``run`` and ``check``."""

    as_printed: Annotated[
        bool,
        typer.Option(
            "--as-printed", help="Run with the durations and sizes that the paper prints."
        ),
    ] = False
    set_: SetOption = None

    def values(self, study: str, lab: Path | None) -> dict[str, Any]:
        """The values of ``--set``, and those that a laboratory sets. Raises ``UsageError``."""
        return values_in(lab, study, parse_values(self.set_ or []), as_printed=self.as_printed)


def values_in(
    lab: Path | None, study: str | Path, given: dict[str, Any], *, as_printed: bool = False
) -> dict[str, Any]:
    """The values of ``--set``, and with ``--lab`` those that a laboratory sets; says the latter."""
    if lab is None:
        return given
    from airtoll.testbeds.lab.agenda import values_for
    from airtoll.testbeds.linux.laboratory.lab import load

    own = values_for(prepare(study, as_printed=as_printed, values=given), load(lab), given)
    for key, value in own.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        err().print(f"lab: {key} = {shown} (--set {key}=... overrides)", markup=False)
    return {**own, **given}


def parse_values(pairs: list[str]) -> dict[str, Any]:
    """``key=value`` options; values are TOML, and bare words are strings."""
    values: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign or not key:
            raise UsageError(f"--set {pair}: write KEY=VALUE, e.g. traffic.udp.duration_s=5")
        try:
            values[key] = tomllib.loads(f"v = {text}")["v"]
        except tomllib.TOMLDecodeError:
            try:
                values[key] = tomllib.loads(f"v = {jsonlib.dumps(text)}")["v"]
            except tomllib.TOMLDecodeError:
                raise UsageError(f"--set {pair}: the value is no UTF-8") from None
    return values


def fraction(text: str, option: str) -> float:
    """``0.5%`` or ``0.005`` as a fraction. Raises ``UsageError``, which names the option."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise UsageError(f"{option} {text}: write a share such as 0.5% or 0.005")
    return value
