"""tcpdump: a capture that begins before the events of interest, and that is complete.

Takes an interface and a file; gives a running capture. The file is complete, with its last
packets, when :meth:`Capture.stop` returns. tcpdump does not notice a disk that takes no
more: its own count and the packets in the file are compared (:func:`lacking`).
"""

from __future__ import annotations

import re

from attrs import frozen

from airtoll import _native
from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts.host import Host, HostError, Process


class CaptureEndedError(TestbedError):
    """A capture ended before it was to, or lacks packets."""


@frozen
class Capture:
    """A running capture into ``path`` on ``host``."""

    host: Host
    process: Process
    path: str

    async def check(self) -> None:
        """Raise :class:`CaptureEndedError` with tcpdump's last words when it runs no more."""
        if not self.process.running:
            how = await self.process.last_words()
            raise CaptureEndedError(f"{self.host.name}: the capture {self.path} has ended: {how}")

    async def stop(self) -> int | None:
        """End the capture; gives how many packets tcpdump says that it took, None if it does not.

        Raises :class:`CaptureEndedError` when it had ended before.
        """
        await self.check()
        await self.process.stop()
        try:
            text = (await self.host.get(self.process.log)).decode(errors="replace")
        except HostError:
            return None
        return taken(text)


def taken(text: str) -> int | None:
    """The packets that tcpdump took, from its last lines; None if it does not report them."""
    hit = re.search(r"^(\d+) packets? captured", text, re.MULTILINE)
    return None if hit is None else int(hit.group(1))


def lacking(octets: bytes, told: int | None) -> str | None:
    """One line when a libpcap file lacks packets that tcpdump took, or None."""
    try:
        whole = _native.count_packets(octets)
    except _native.BadCapture:
        whole = 0
    if told == whole:
        return None
    return f"{whole} packets in the file, {'an unknown number' if told is None else told} captured"


async def room_kb(host: Host, path: str) -> int | None:
    """The room left beside a file, KiB; None where `df` does not tell."""
    words = (await host.run(["df", "-Pk", path], check=False)).stdout.splitlines()[-1:]
    found = words[0].split() if words else []
    return int(found[3]) if len(found) >= 4 and found[3].isdigit() else None


async def start(
    host: Host, interface: str, path: str, *, expression: str = "", limit_s: float = 60.0
) -> Capture:
    """Start tcpdump and wait until its file has a header, which it writes once it listens."""
    argv = ["tcpdump", "-i", interface, "-U", "--immediate-mode", "-n", "-s", "0", "-w", path]
    # Debian's tcpdump would give up root and then could not write into the run's folder.
    argv += ["-Z", "root", "-B", "8192"]
    if expression:
        argv.append(expression)
    async with host.starting(argv, log=f"{path}.log") as process:
        await host.wait_for(path, limit_s, process)
    return Capture(host, process, path)
