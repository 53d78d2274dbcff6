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

from airtoll.testbeds.guest import initramfs, kernel
from airtoll.testbeds.guest.qemu import Guest, clean, kvm_works

app = typer.Typer(help="The throw-away Linux guest.", no_args_is_help=True)

Share = Annotated[
    Path | None,
    typer.Option(help="Folder that the guest sees, writable, at /run/airtoll-share."),
]


@app.command()
def build(
    deb: Annotated[
        Path | None, typer.Option(help="A kernel package, instead of asking apt for one.")
    ] = None,
    again: Annotated[bool, typer.Option(help="Even if the cache holds a kernel.")] = False,
) -> None:
    """Download and unpack a kernel, make the initramfs, see whether KVM works here."""
    out = Console(stderr=True)
    found = None if again or deb is not None else kernel.find()
    if found is None:
        found = kernel.build(deb)
    archive = initramfs.build(found)
    fast = kvm_works(found, archive, remember=not again)
    out.print(f"kernel {found.release} in {found.root}")
    out.print("accelerator: " + ("KVM" if fast else "software emulation (KVM does not work here)"))


@app.command()
def shell(share: Share = None) -> None:
    """Open a shell in a fresh guest; it is gone when the shell ends."""
    if not sys.stdin.isatty():
        raise typer.BadParameter("a shell needs a terminal; use `airtoll guest run` in scripts")
    with (
        tempfile.TemporaryDirectory(prefix="airtoll-share-") as scratch,
        Guest(share or Path(scratch)) as guest,
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
) -> None:
    """Run one command in a fresh guest; gives its output and exit status."""
    with (
        tempfile.TemporaryDirectory(prefix="airtoll-share-") as scratch,
        Guest(share or Path(scratch)) as guest,
    ):
        done = guest.run(command, on_output=_forward)
    raise typer.Exit(done.status)


@app.command("clean")
def clean_up(
    cache: Annotated[bool, typer.Option("--cache", help="The kernels in the cache, too.")] = False,
) -> None:
    """End guests whose owner is gone; with --cache drop the unpacked kernels."""
    out = Console(stderr=True)
    for name in clean():
        out.print(f"ended {name}")
    if cache:
        kernel.drop()
        out.print(f"emptied {kernel.cache_folder()}")


def _write_out(chunk: bytes) -> None:
    sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _forward(stream: str, chunk: bytes) -> None:
    target = sys.stdout.buffer if stream == "stdout" else sys.stderr.buffer
    target.write(chunk)
    target.flush()
