"""Whether a guest boots on this host: probed once, then cached.

Takes a command that boots a guest which powers off at once; gives whether it ended by itself in
time. The presence of a device or of a permission is not an answer: the boot is tried. The answer
holds for one boot of the host.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence

from airtoll.testbeds.guest import kernel
from airtoll.testbeds.guest.contract import boot_id

#: The word on a guest's kernel command line that makes it power off once it is up.
PROBE_WORD = "airtoll.probe"


def remembered(name: str, what: str, probe: Callable[[], bool], *, remember: bool = True) -> bool:
    """The answer of a probe, from the cache if this boot of the host has asked before.

    ``name``: file in the cache; ``what``: the probed thing; a change of it causes a new probe.
    """
    notes = kernel.cache_folder() / f"{name}.json"
    key = f"{os.uname().release} {boot_id()} {what}"
    if remember and notes.exists():
        with contextlib.suppress(ValueError, OSError):
            known = json.loads(notes.read_text())
            if key in known:
                return bool(known[key])
    answer = probe()
    if remember:
        notes.write_text(json.dumps({key: answer}))
    return answer


def ends_in_time(
    command: Sequence[str], limit_s: float, environment: Mapping[str, str] | None = None
) -> bool:
    """Whether the command ends with status 0 within ``limit_s``; it is ended if it does not."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    ) as probe:
        try:
            return probe.wait(limit_s) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            probe.kill()
