"""Commands of a laboratory: the one that sets the access point, and its power switch.

Takes a command line and variables; runs it in the folder of the lab file. An end with status 0
proves nothing: the setting is verified from the air.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.laboratory.lab import OPENWRT, LabAccessPoint

#: The command behind ``set = "openwrt"``.
SCRIPT: Final = Path(__file__).with_name("set-openwrt.sh")


def words(access_point: LabAccessPoint) -> list[str]:
    """The words of the command that sets the access point."""
    assert access_point.set is not None
    if access_point.set == OPENWRT:
        return ["sh", str(SCRIPT)]
    return shlex.split(access_point.set)


def ssh(access_point: LabAccessPoint) -> str:
    """The ssh command of the shipped script, with the lab file's options."""
    options = ["ssh", "-o", "BatchMode=yes", "-p", str(access_point.port)]
    if access_point.identity is not None:
        options += ["-i", access_point.identity]
    if access_point.known_hosts is not None:
        options += ["-o", f"UserKnownHostsFile={access_point.known_hosts}"]
    return " ".join(options)


def run(command: list[str], variables: Mapping[str, str], folder: Path, limit_s: float) -> None:
    """Run a command; raises ``TestbedError`` with its last words."""
    shown = shlex.join(command)
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TestbedError(f"lab: {shown}: not ended after {limit_s:g} s") from None
    except OSError as error:
        raise TestbedError(f"lab: {shown}: cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
        raise TestbedError(f"lab: {shown}: status {done.returncode}: {said}")
