"""``airtoll doctor``: capabilities of this machine, and commands that fix missing ones.

Takes a testbed's name; gives checks. Never changes anything.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from attrs import asdict, frozen

from airtoll.cli.output import JsonOption, emit_json, out, table
from airtoll.cli.places import named
from airtoll.errors import AirtollError, UsageError

if TYPE_CHECKING:
    from airtoll.testbeds.linux.hosts.crypto import Radio


@frozen
class Check:
    """One check: ``ok``, ``note`` (optional) or ``problem``, and the command that fixes it."""

    name: str
    state: str
    found: str
    mend: str = ""


def doctor(
    on: Annotated[str, typer.Option("--on", help="Testbed to check: simulator or linux.")] = (
        "simulator"
    ),
    radio: Annotated[
        bool,
        typer.Option(
            "--radio",
            help="Radios only: cipher of each link, in hardware or software, and the time of SAE.",
        ),
    ] = False,
    host: Annotated[
        str | None,
        typer.Option("--host", help="With --radio: a router over SSH, e.g. root@192.168.1.1."),
    ] = None,
    lab: Annotated[
        Path | None,
        typer.Option(
            "--lab", parser=named("--lab"), help="Check the hosts of a laboratory instead."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check this machine: Python, native module, data, disk, optional tools."""
    if host is not None and not radio:
        raise UsageError("--host goes with --radio")
    if lab is not None and (radio or on != "simulator"):
        raise UsageError(
            "--lab looks at the hosts of a laboratory alone: leave --on and --radio out"
        )
    if lab is not None:
        checks = _laboratory(lab)
    elif radio:
        checks = _radios(host)
    else:
        checks = [_python(), _native(), *_data(), _disk(), *_optional()]
        checks += _linux() if on == "linux" else []
    problems = [check for check in checks if check.state == "problem"]
    if json:
        emit_json([asdict(check) for check in checks])
    else:
        view = table(None, ["check", "state", "found", "mend"])
        for check in checks:
            view.add_row(check.name, check.state, check.found, check.mend)
        out().print(view)
    if problems:
        raise typer.Exit(4)


def _python() -> Check:
    return Check("python", "ok", sys.version.split()[0])


def _native() -> Check:
    try:
        from airtoll import _native

        return Check("native module", "ok", _native.__version__)
    except ImportError as error:
        return Check("native module", "problem", str(error), "make build")


def _data() -> list[Check]:
    from airtoll.observe.datasets import list_datasets
    from airtoll.study import shipped

    checks = []
    for name, reader in (("studies", shipped), ("data sets", list_datasets)):
        try:
            count = len(list(reader()))
            checks.append(Check(name, "ok", f"{count} shipped"))
        except AirtollError as error:
            checks.append(Check(name, "problem", str(error), "install airtoll again"))
    return checks


def _disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free
    found = f"{free / 1e9:.1f} GB free, {os.cpu_count()} cores"
    if free < 200e6:
        return Check("disk", "problem", found, "free at least 200 MB here")
    return Check("disk", "ok", found)


def _optional() -> list[Check]:
    tools = {
        "qemu-system-x86_64": ("guest", "apt-get install qemu-system-x86"),
        "tshark": ("captures beside tshark", "apt-get install tshark"),
    }
    checks = []
    for tool, (use, mend) in tools.items():
        place = shutil.which(tool)
        state = "ok" if place else "note"
        checks.append(Check(f"{tool} ({use})", state, place or "not found", "" if place else mend))
    return [*checks, _medium()]


def _medium() -> Check:
    """The program that models the air between virtual radios."""
    from airtoll.testbeds.linux.air import medium

    name = f"{medium.PROGRAM} (air of virtual radios)"
    try:
        place = medium.find()
    except AirtollError as error:
        return Check(name, "problem", str(error), "unset AIRTOLL_MEDIUM")
    if place is not None:
        return Check(name, "ok", str(place))
    if os.environ.get("AIRTOLL_MEDIUM") == "none":
        return Check(name, "note", "AIRTOLL_MEDIUM says none", "unset AIRTOLL_MEDIUM")
    return Check(name, "note", "not found", "make build")


def _laboratory(path: Path) -> list[Check]:
    """Checks of the hosts of a laboratory."""
    import asyncio

    from airtoll.testbeds.linux.laboratory.inspection import inspect
    from airtoll.testbeds.linux.laboratory.lab import load

    found = asyncio.run(inspect(load(path)))
    return [Check(f"{one.host}: {one.about}", one.state, one.found, one.mend) for one in found]


def _radios(address: str | None) -> list[Check]:
    """The cipher of every link of a host, and whether its radio or its CPU encrypts."""
    import asyncio

    from airtoll.testbeds.linux.hosts import crypto
    from airtoll.testbeds.linux.hosts.host import LocalHost, SshHost

    async def look() -> tuple[list[crypto.Radio], float | None]:
        name = address or "this host"
        host = SshHost(name, "none", address) if address else LocalHost(name, "none")
        async with host:
            return await crypto.radios(host), await crypto.multiplication_ms(host)

    found, multiplication_ms = asyncio.run(look())
    return [*checks_of_radios(found), multiplication_check(multiplication_ms, address)]


def multiplication_check(ms: float | None, address: str | None) -> Check:
    """The time of the multiplications of SAE on one core, for ``airtoll advise``.

    ``address``: of the host that was asked; None: this machine, which need not be the access point.
    """
    name = "SAE: a multiplication on P-256"
    if ms is None:
        return Check(
            name, "note", "unknown: no openssl", "there: opkg install openssl-util, or apt-get"
        )
    said = f"{ms:.3g} ms by OpenSSL on one core"
    command = f"airtoll advise --multiplication-ms {ms:.3g}"
    where = "" if address else "for this machine as the access point (another: --host): "
    return Check(name, "ok", said, f"{where}{command}")


def checks_of_radios(found: Sequence[Radio]) -> list[Check]:
    """One check per radio and link. A link that the CPU encrypts is a note."""
    if not found:
        missing = "no radio: /sys/class/ieee80211 has none"
        return [Check("radio", "problem", missing, "load the driver, or name a router with --host")]
    from airtoll.testbeds.linux.hosts.crypto import links as links_of

    checks = []
    for radio in found:
        name = f"{radio.phy} ({radio.driver})"
        if not radio.readable:
            said = "unknown: debugfs is not readable"
            mend = "as root: mount -t debugfs none /sys/kernel/debug"
            checks.append(Check(name, "note", said, mend))
        elif not radio.in_mac80211 and radio.uses_mac80211:
            said = "unknown: this kernel shows no keys (built without CONFIG_MAC80211_DEBUGFS)"
            checks.append(
                Check(name, "note", said, "ask a kernel that has it, as on --host ROUTER")
            )
        elif not radio.in_mac80211:
            said = "unknown: mac80211 has no keys of this driver; its firmware may hold them"
            checks.append(Check(name, "note", said))
        elif not (links := links_of(radio)):
            checks.append(Check(name, "note", "no encrypted link now", "connect, then ask again"))
        else:
            checks += [_link(name, *link) for link in links]
    return checks


def _link(radio: str, interface: str, cipher: str, in_hardware: bool, stations: int) -> Check:
    where = f"{radio} {interface}"
    count = f", {stations} station{'s' if stations != 1 else ''}" if stations else ", group key"
    if in_hardware:
        return Check(where, "ok", f"{cipher} in hardware{count}")
    return Check(
        where,
        "note",
        f"{cipher} in software{count}: the CPU encrypts",
        "its speed: `airtoll ciphers bench` there, or a router profile (`airtoll profiles list`)",
    )


def _linux() -> list[Check]:
    """The real stack on this machine, and the guest that replaces root, radios and kernel."""
    import asyncio

    from airtoll.testbeds.guest import drivers
    from airtoll.testbeds.linux.hosts import environment
    from airtoll.testbeds.linux.hosts.host import LocalHost

    async def look() -> tuple[dict[str, str], list[environment.Problem]]:
        async with LocalHost("this host", "none") as host:
            return await environment.tools(host), await environment.problems(host)

    versions, problems = asyncio.run(look())
    checks = [Check(tool, "ok", version) for tool, version in sorted(versions.items())]
    checks += [
        # A missing part that the guest provides (root, radios) does not prevent a run with --vm.
        Check("linux", "note" if problem.guest_has_it else "problem", problem.what, problem.mend)
        for problem in problems
    ]
    return [
        *checks,
        *(
            Check(
                f"guest: {state.driver}", "ok" if state.ready else "note", state.found, state.mend
            )
            for state in drivers.states()
        ),
    ]
