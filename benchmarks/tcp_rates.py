"""Record what this machine's TCP carries over one bottleneck, with iperf3.

Takes a congestion control, a loss ratio and a queue; gives goodput, retransmissions and the goodput
of each second as JSON. Never touches the machine's own network: both ends live in anonymous network
namespaces that vanish with the process, joined by two TUN devices and a forwarder with
a bottleneck, its queue, the delay and the losses (the kernel needs no netem). Needs root and
iperf3.

    sudo python benchmarks/tcp_rates.py --out tests/validation/tcp/rates.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tcp_trace import enter_namespace, enter_new_namespace, forward

RATE_BPS = 20e6
ONE_WAY_S = 0.01
SECONDS = 10
#: Octets of an IP packet from which it counts as data.
DATA_OCTETS = 1000
SERVER, CLIENT = "10.9.0.2", "10.9.0.1"
SETTINGS = {
    # The kernel's own defaults until 6.17.
    "tcp_rmem": "4096 131072 6291456",
    "tcp_wmem": "4096 16384 4194304",
    "tcp_no_metrics_save": "1",
    "tcp_early_retrans": "3",
    "tcp_frto": "2",
}


@dataclass(frozen=True)
class Case:
    """One transfer. ``loss_per_mille``: data packets that the path drops; ``queue``: packets."""

    control: str
    loss_per_mille: int
    queue: int
    seed: int


def cases(seeds: int) -> list[Case]:
    """Every case: both controls, three loss ratios, and a short and a deep queue without loss."""
    found = [
        Case(control, loss, 100, seed)
        for control in ("cubic", "bbr")
        for loss in (0, 1, 10)
        for seed in range(1, (seeds if loss else 1) + 1)
    ]
    return [*found, *(Case(c, 0, 1000, 1) for c in ("cubic", "bbr"))]


def drops(number: int, seed: int, per_mille: int) -> bool:
    """Whether the path drops the data packet of this number (splitmix64)."""
    mask = 2**64 - 1
    x = (number + seed * 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return (x ^ (x >> 31)) % 1000 < per_mille


class Bottleneck:
    """The path to the receiver: losses, a queue of packets before the rate, and the delay."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._number = 0
        self._free_at = 0.0

    def delay_s(self, packet: bytes) -> float | None:
        """Time until the packet arrives; None: lost, or the queue is full."""
        if len(packet) >= DATA_OCTETS:
            self._number += 1
            if drops(self._number, self._case.seed, self._case.loss_per_mille):
                return None
        now = time.monotonic()
        takes = len(packet) * 8 / RATE_BPS
        at = max(now, self._free_at)
        if (at - now) / takes >= self._case.queue:
            return None
        self._free_at = at + takes
        return self._free_at - now + ONE_WAY_S


def run(case: Case) -> dict[str, Any]:
    """One transfer of iperf3; gives the case and the numbers of the receiver."""
    sender_ns, sender_tun = enter_new_namespace(CLIENT, SERVER)
    configure()
    receiver_ns, receiver_tun = enter_new_namespace(SERVER, CLIENT)
    configure()
    child = os.fork()
    if child == 0:
        try:
            os.nice(-5)
            forward(sender_tun, receiver_tun, ONE_WAY_S, Bottleneck(case).delay_s)
        finally:
            os._exit(1)
    server = subprocess.Popen(
        ["iperf3", "-s", "-1"],
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: enter_namespace(receiver_ns),
    )
    try:
        time.sleep(0.5)
        done = subprocess.run(
            ["iperf3", "-c", SERVER, "-C", case.control, "-t", str(SECONDS), "-J"],
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=lambda: enter_namespace(sender_ns),
            check=True,
        )
    finally:
        server.kill()
        server.wait()
        os.kill(child, 9)
        os.waitpid(child, 0)
    found = json.loads(done.stdout)
    rows = [row["sum"] for row in found["intervals"]]
    return {
        **asdict(case),
        "goodput_bps": round(found["end"]["sum_received"]["bits_per_second"]),
        "retransmissions": found["end"]["sum_sent"]["retransmits"],
        "round_trip_us": found["end"]["streams"][0]["sender"]["mean_rtt"],
        "sent_bps": [round(row["bits_per_second"]) for row in rows],
    }


def configure() -> None:
    """The settings of the namespace in which this process is."""
    for name, value in SETTINGS.items():
        Path("/proc/sys/net/ipv4", name).write_text(value)


def run_apart(case: Case) -> dict[str, Any]:
    """Run in a process of its own, whose end takes the namespaces with it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as out:
            json.dump(run(case), out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as given:
        text = given.read()
    _, status = os.waitpid(child, 0)
    if status or not text:
        raise SystemExit(f"{case}: recording failed")
    found: dict[str, Any] = json.loads(text)
    return found


def main() -> None:
    """Record every case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument("--seeds", type=int, default=3, help="patterns of losses per case")
    arguments = parser.parse_args()
    found = []
    for case in cases(arguments.seeds):
        found.append(run_apart(case))
        sys.stderr.write(f"{found[-1]}\n")
    head = {
        "kernel": platform.release(),
        "rate_bps": RATE_BPS,
        "one_way_s": ONE_WAY_S,
        "seconds": SECONDS,
        "settings": SETTINGS,
    }
    rows = ",\n".join("  " + json.dumps(row) for row in found)
    text = json.dumps(head, indent=1)[:-2]
    arguments.out.write_text(f'{text},\n "cases": [\n{rows}\n ]\n}}\n')


if __name__ == "__main__":
    main()
