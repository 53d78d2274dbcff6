"""Names and secrets of a laboratory, kept beside its file.

A person types them into the router and into phones once: they must be the same after a restart, and
in the next campaign. The file is readable by its owner alone.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from attrs import evolve

from airtoll.errors import StorageError, TestbedError
from airtoll.observe.replacing import storage_error
from airtoll.testbeds.linux.daemons import credentials
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.laboratory.lab import Lab

_SUFFIX: Final = ".secrets.json"


def place(lab_file: Path) -> Path:
    """The file with the secrets of a laboratory."""
    return lab_file.with_name(lab_file.stem + _SUFFIX)


def kept(lab_file: Path, lab: Lab) -> Credentials:
    """The secrets of a laboratory, made at its first use; name and passphrase are the lab file's.

    Raises ``StorageError`` where they cannot be kept.
    """
    file = place(lab_file)
    try:
        found = Credentials.from_json(json.loads(file.read_text("utf-8")))
    except FileNotFoundError:
        found = credentials.fresh()
        _keep(file, found)
    except (OSError, ValueError, TestbedError) as error:
        raise StorageError(
            f"{file}: cannot be read: {error}; remove it to have new ones"
        ) from error
    ap = lab.lab.ap
    if ap is None:
        return found
    return evolve(found, ssid=ap.ssid or found.ssid, passphrase=ap.passphrase or found.passphrase)


def _keep(file: Path, secret: Credentials) -> None:
    scratch = file.with_name(file.name + ".new")
    try:
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as out:
            json.dump(secret.to_json(), out)
            out.flush()
            os.fsync(out.fileno())
        scratch.replace(file)
    except OSError as error:
        raise storage_error(file, error) from error
