"""Cleaning up after a killed airtoll: by run id, and nothing else.

Takes a host; gives the run ids it cleaned. A host of a laboratory is cleaned by the next run of the
machine whose run it was. A run owns: processes that carry its id in their
environment, namespaces that begin with its prefix, its folder, and the module if its folder says
so. Never ends a process without that mark.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

from airtoll.testbeds.linux.hosts import namespaces, radios
from airtoll.testbeds.linux.hosts.host import RUN_VARIABLE, Host

FOLDER: Final = "/run/airtoll"
_RUN_ID: Final = re.compile(r"^[0-9a-f]{6,16}$")

# Written for the shell of any host (OpenWrt's ash included): no Python is needed there.
_KILL: Final = r"""
for f in $(grep -lF "$1=$2" /proc/[0-9]*/environ 2>/dev/null); do
  p=${f#/proc/}; p=${p%/environ}
  [ "$p" = "$$" ] || kill -"$3" "$p" 2>/dev/null
done
exit 0
"""


_RUNNER: Final = "runner"
_RUNNERS: Final = r"""
for f in "$1"/*/"$2"; do
  [ -r "$f" ] || continue
  d=${f%/*}
  printf '%s %s\n' "${d##*/}" "$(cat "$f")"
done
exit 0
"""


async def claim(root: Host, run_id: str, *, owner: int | None = None) -> str:
    """Make the run's folder and note its owner's pid; gives the folder."""
    folder = f"{FOLDER}/{run_id}"
    pid = os.getpid() if owner is None else owner
    start = await root.run(["cut", "-d", " ", "-f", "22", f"/proc/{pid}/stat"], check=False)
    await root.put(f"{folder}/owner", f"{pid} {start.stdout.strip()}\n")
    return folder


async def abandoned(root: Host) -> list[str]:
    """Run ids whose owner is gone."""
    listed = await root.run(["ls", FOLDER], check=False)
    found: list[str] = []
    for name in listed.stdout.split():
        if not _RUN_ID.match(name):
            continue
        owner = (await root.run(["cat", f"{FOLDER}/{name}/owner"], check=False)).stdout.split()
        if len(owner) == 2:
            start = await root.run(
                ["cut", "-d", " ", "-f", "22", f"/proc/{owner[0]}/stat"], check=False
            )
            if start.stdout.strip() == owner[1]:
                continue
        found.append(name)
    return found


async def clean(root: Host, run_id: str) -> None:
    """End and remove everything that the run left on this host."""
    await clean_processes(root, run_id)
    await namespaces.remove(root, run_id)
    if await root.exists(f"{FOLDER}/{run_id}/hwsim"):
        await radios.unload(root)
    await root.run(["rm", "-rf", f"{FOLDER}/{run_id}"])


async def clean_processes(host: Host, run_id: str) -> None:
    """End the processes that carry the run's id."""
    for signal in ("TERM", "KILL"):
        await host.run(["sh", "-c", _KILL, "sh", RUN_VARIABLE, run_id, signal], check=False)


async def clean_abandoned(root: Host) -> list[str]:
    """Clean every abandoned run; gives their ids."""
    ids = await abandoned(root)
    for run_id in ids:
        await clean(root, run_id)
    return ids


async def claim_remote(host: Host, run_id: str) -> None:
    """Make the run's folder on a host of a laboratory, and note its machine and process there."""
    # Not at the top: in an emulated guest every import counts.
    from airtoll.testbeds.guest.contract import identity

    await host.put(f"{FOLDER}/{run_id}/{_RUNNER}", f"{_machine()} {identity(os.getpid())}\n")


async def clean_left(host: Host, own: str) -> list[str]:
    """Clean what killed runs of this machine left on a host of a laboratory; gives their ids.

    ``own``: the run that is beginning, which may have the host for two nodes.
    """
    from airtoll.testbeds.guest.contract import alive, identity

    listed = await host.run(["sh", "-c", _RUNNERS, "sh", FOLDER, _RUNNER], check=False)
    found: list[str] = []
    for line in listed.stdout.splitlines():
        run_id, machine, runner = (*line.split(maxsplit=2), "", "", "")[:3]
        # Another machine may still be at work; a process that is alive here has closed its stack.
        if not _RUN_ID.match(run_id) or run_id == own or machine != _machine():
            continue
        if not alive(runner) or runner == identity(os.getpid()):
            await clean_remote(host, run_id)
            found.append(run_id)
    return found


async def clean_remote(host: Host, run_id: str) -> None:
    """End and remove everything that a run left on a host of a laboratory."""
    await clean_processes(host, run_id)
    await host.run(["rm", "-rf", f"{FOLDER}/{run_id}"], check=False)


def _machine() -> str:
    """A word for this machine, the same until it is installed anew."""
    for path in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id"):
        with contextlib.suppress(OSError):
            if found := Path(path).read_text().strip():
                return found
    return "unknown"
