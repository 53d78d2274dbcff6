"""``airtoll guest build | shell | run | clean``: the throw-away Linux guest by hand.

Takes arguments; gives a kernel in the cache, a terminal or a command's output. Never leaves a
guest running.
"""

from __future__ import annotations

import sys
import tempfile
import termios
import tty
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from airtoll.cli.places import named
from airtoll.errors import EnvironmentProblem, UsageError
from airtoll.testbeds.guest import drivers, initramfs, kernel, uml, uml_kernel
from airtoll.testbeds.guest.contract import clean
from airtoll.testbeds.guest.qemu import kvm_works

app = typer.Typer(help="The throw-away Linux guest.", no_args_is_help=True)

Share = Annotated[
    Path | None,
    typer.Option(
        parser=named("--share"), help="Folder that the guest sees, writable, at /run/airtoll-share."
    ),
]
Driver = Annotated[
    str | None,
    typer.Option(
        help="qemu or uml; default: KVM, else a built User-Mode-Linux kernel, else emulation."
    ),
]


@app.command()
def build(
    deb: Annotated[
        Path | None,
        typer.Option(
            parser=named("--deb"), help="A kernel package, instead of asking apt for one."
        ),
    ] = None,
    again: Annotated[bool, typer.Option(help="Build even if the cache holds a kernel.")] = False,
    driver: Annotated[
        str,
        typer.Option(
            help="qemu: unpack a stock kernel. uml: compile a User-Mode-Linux kernel from the "
            "distribution's source package, which takes minutes and 3.5 GB of disk for a while."
        ),
    ] = "qemu",
) -> None:
    """Put a kernel into the cache, make the initramfs, see what runs it here."""
    out = Console(stderr=True, soft_wrap=True, markup=False)
    if driver == "uml":
        _build_uml(deb, out, again=again)
        return
    if driver != "qemu":
        raise UsageError(f"--driver {driver}: choose from {', '.join(drivers.NAMES)}")
    found = None if again or deb is not None else kernel.find()
    if found is None:
        found = kernel.build(deb)
    archive = initramfs.for_qemu(found)
    fast = kvm_works(found, archive, remember=not again)
    out.print(f"kernel {found.release} in {found.root}")
    out.print("accelerator: " + ("KVM" if fast else "software emulation (KVM does not work here)"))


@app.command()
def shell(share: Share = None, driver: Driver = None) -> None:
    """Open a shell in a fresh guest; the guest ends with the shell."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("a shell needs a terminal; use `airtoll guest run` in scripts")
    with (
        tempfile.TemporaryDirectory(prefix="airtoll-share-") as scratch,
        drivers.make(share or Path(scratch), driver) as guest,
    ):
        before = termios.tcgetattr(sys.stdin)
        try:
            tty.setraw(sys.stdin)
            status = guest.shell(["/bin/bash", "-i"], _write_out, sys.stdin.buffer)
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
    raise typer.Exit(status)


@app.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def run(
    command: Annotated[list[str], typer.Argument(help="The command and its arguments.")],
    share: Share = None,
    driver: Driver = None,
) -> None:
    """Run one command in a fresh guest; gives its output and exit status."""
    with (
        tempfile.TemporaryDirectory(prefix="airtoll-share-") as scratch,
        drivers.make(share or Path(scratch), driver) as guest,
    ):
        done = guest.run(command, on_output=_forward)
    raise typer.Exit(done.status)


@app.command("clean")
def clean_up(
    cache: Annotated[
        bool, typer.Option("--cache", help="Also remove the kernels in the cache.")
    ] = False,
) -> None:
    """End guests without an owner; with --cache remove the kernels."""
    out = Console(stderr=True)
    for name in clean():
        out.print(f"ended {name}")
    if cache:
        kernel.drop()
        uml_kernel.drop()
        out.print(f"emptied {kernel.cache_folder()}")


def _build_uml(deb: Path | None, out: Console, *, again: bool) -> None:
    found = None if again or deb is not None else uml_kernel.find()
    if found is None:
        found = uml_kernel.build(deb, out.print)
    out.print(f"kernel {found.release} in {found.root}")
    if not uml.works(found, remember=not again):
        raise EnvironmentProblem(
            "guest: the kernel does not boot here: ptrace(2) must be allowed (in a container: "
            "--cap-add SYS_PTRACE)"
        )
    out.print("it boots")


def _write_out(chunk: bytes) -> None:
    sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _forward(stream: str, chunk: bytes) -> None:
    target = sys.stdout.buffer if stream == "stdout" else sys.stderr.buffer
    target.write(chunk)
    target.flush()
