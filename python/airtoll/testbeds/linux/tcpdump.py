"""tcpdump: a capture that has begun before anything is captured for.

Takes an interface and a file; gives a running capture. Never drops its last packets on purpose:
the file is complete when :func:`stop` returns.
"""

from __future__ import annotations

from attrs import frozen

from airtoll.testbeds.linux.hosts import Host, Process


@frozen
class Capture:
    """A running capture into ``path`` on ``host``."""

    host: Host
    process: Process
    path: str

    async def stop(self) -> None:
        """End the capture; packets that the kernel has seen are in the file."""
        await self.process.stop()


async def start(
    host: Host, interface: str, path: str, *, expression: str = "", limit_s: float = 60.0
) -> Capture:
    """Start tcpdump and wait until its file has a header, which it writes once it listens."""
    argv = ["tcpdump", "-i", interface, "-U", "--immediate-mode", "-n", "-s", "0", "-w", path]
    # Debian's tcpdump would give up root and then could not write into the run's folder.
    argv += ["-Z", "root", "-B", "8192"]
    if expression:
        argv.append(expression)
    process = await host.start(argv, log=f"{path}.log")
    await host.wait_for(path, limit_s, process)
    return Capture(host, process, path)
