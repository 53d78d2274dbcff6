"""Record how this machine's TCP moves its congestion window after one planned event.

Takes a congestion control and an event (one loss, one retransmission time-out, one reordering);
gives a JSON trace of ``TCP_INFO`` samples. Never touches the machine's own network: both ends live
in anonymous network namespaces that vanish with the process, joined by two TUN devices and a
forwarder in this file that delays every packet and decides over single ones. Needs root. CUBIC's
HyStart is a setting of the whole machine: it is off during the recording and put back after.

    sudo python benchmarks/tcp_trace.py --out tests/validation/tcp
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import heapq
import json
import os
import platform
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

ONE_WAY_S = 0.05
# After the reordering nothing limits slow start any more: only its first second is of interest.
SECONDS = {"loss": 10.0, "timeout": 10.0, "reordering": 0.7}
SAMPLE_S = 0.002
EVENT_SEGMENT = 100
LATE_S = 0.03
MTU = 1500
CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN_NO_PI = 0x0001 | 0x1000
CONTROLS = ("reno", "cubic")
EVENTS = ("loss", "timeout", "reordering")
SETTINGS = {
    # Initial buffers large enough that neither end's window limits the transfer.
    "tcp_rmem": "4096 8388608 16777216",
    "tcp_wmem": "4096 8388608 16777216",
    "tcp_no_metrics_save": "1",
    # Off, so that each event draws one plain reaction: no tail loss probe, no F-RTO.
    "tcp_early_retrans": "0",
    "tcp_frto": "0",
}
HYSTART = Path("/sys/module/tcp_cubic/parameters/hystart")

libc = ctypes.CDLL(None, use_errno=True)


def enter_new_namespace(address: str, peer: str) -> tuple[int, int]:
    """Move this process to a new network namespace with one TUN device; give both descriptors."""
    if libc.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare(CLONE_NEWNET): needs root")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN_NO_PI))
    for command in (
        ["ip", "address", "add", address, "peer", peer, "dev", "tun0"],
        ["ip", "link", "set", "tun0", "mtu", str(MTU), "txqueuelen", "10000", "up"],
    ):
        subprocess.run(command, check=True)
    for name, value in SETTINGS.items():
        Path("/proc/sys/net/ipv4", name).write_text(value)
    return os.open("/proc/self/ns/net", os.O_RDONLY), tun


def enter_namespace(descriptor: int) -> None:
    """Move this thread to the namespace behind `descriptor`."""
    if libc.setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Planner:
    """Decides over data segments by their place in the stream, counted in full segments."""

    def __init__(self, event: str) -> None:
        self.event = event
        self.first: int | None = None
        self.segment = 0
        self.done = False
        self.dropped = 0

    def delay_s(self, packet: bytes) -> float | None:
        """Seconds until delivery, or None to drop."""
        header = (packet[0] & 15) * 4
        sequence = struct.unpack_from("!I", packet, header + 4)[0]
        data = len(packet) - header - (packet[header + 12] >> 4) * 4
        if packet[header + 13] & 2:
            self.first = (sequence + 1) & 0xFFFFFFFF
        if data == 0 or self.first is None or self.done:
            return ONE_WAY_S
        self.segment = max(self.segment, data)
        offset = (sequence - self.first) & 0xFFFFFFFF
        target = EVENT_SEGMENT * self.segment
        if self.event == "timeout":
            if offset == target and self.dropped:
                # The head again: the time-out has come.
                self.done = True
                return ONE_WAY_S
            if offset >= target:
                self.dropped += 1
                return None
        elif offset == target:
            self.done = True
            if self.event == "loss":
                self.dropped += 1
                return None
            return ONE_WAY_S + LATE_S
        return ONE_WAY_S


def forward(
    sender_tun: int, receiver_tun: int, one_way_s: float, delay_s: Callable[[bytes], float | None]
) -> None:
    """Carry TCP both ways until killed. ``delay_s``: of a packet to the receiver; None drops it."""
    pending: list[tuple[float, int, int, bytes]] = []
    order = 0
    while True:
        wait = max(0.0, pending[0][0] - time.monotonic()) if pending else 1.0
        ready, _, _ = select.select([sender_tun, receiver_tun], [], [], wait)
        now = time.monotonic()
        for tun in ready:
            while True:
                try:
                    packet = os.read(tun, 65536)
                except BlockingIOError:
                    break
                if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
                    continue
                to_receiver = tun == sender_tun
                delay = delay_s(packet) if to_receiver else one_way_s
                if delay is not None:
                    order += 1
                    to = receiver_tun if to_receiver else sender_tun
                    heapq.heappush(pending, (now + delay, order, to, packet))
        now = time.monotonic()
        while pending and pending[0][0] <= now:
            _, _, tun, packet = heapq.heappop(pending)
            os.write(tun, packet)


def tcp_info(connection: socket.socket) -> dict[str, int]:
    """The fields of ``struct tcp_info`` (include/uapi/linux/tcp.h) that the trace keeps."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    words = struct.unpack_from("24I", raw, 8)
    return {
        "state": raw[1],
        "rto_us": words[0],
        "mss": words[2],
        "unacked": words[4],
        "rtt_us": words[15],
        "ssthresh": words[17],
        "cwnd": words[18],
        "retransmitted": words[23],
        "acked_octets": struct.unpack_from("Q", raw, 120)[0],
    }


def record(control: str, event: str) -> dict[str, object]:
    """One connection under `control` with `event` at segment `EVENT_SEGMENT`."""
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    sender_ns, sender_tun = enter_new_namespace("10.9.0.1", "10.9.0.2")
    receiver_ns, receiver_tun = enter_new_namespace("10.9.0.2", "10.9.0.1")
    listener = socket.create_server(("10.9.0.2", 5001))
    child = os.fork()
    if child == 0:
        try:
            forward(sender_tun, receiver_tun, ONE_WAY_S, Planner(event).delay_s)
        finally:
            os._exit(1)
    try:
        enter_namespace(sender_ns)
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        connection.connect(("10.9.0.2", 5001))
        accepted, _ = listener.accept()
        stop = threading.Event()

        def read() -> None:
            while accepted.recv(1 << 20):
                pass

        def write() -> None:
            block = bytes(1 << 16)
            while not stop.is_set():
                connection.sendall(block)

        threads = [threading.Thread(target=f, daemon=True) for f in (read, write)]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        samples: list[list[int]] = []
        mss = 0
        while (at := time.monotonic() - begin) < SECONDS[event]:
            info = tcp_info(connection)
            mss = info["mss"]
            row = [info["state"], info["cwnd"], min(info["ssthresh"], 2**31 - 1), info["unacked"]]
            row += [info["retransmitted"], info["acked_octets"], info["rtt_us"], info["rto_us"]]
            if not samples or samples[-1][1:6] != row[:5]:
                samples.append([round(at * 1e6), *row])
            time.sleep(SAMPLE_S)
        stop.set()
        return {
            "congestion": control,
            "event": event,
            "event_segment": EVENT_SEGMENT,
            "one_way_s": ONE_WAY_S,
            "late_s": LATE_S,
            "kernel": platform.release(),
            "hystart": HYSTART.read_text().strip() if HYSTART.exists() else None,
            "settings": SETTINGS,
            "segment_octets": mss,
            "columns": [
                "time_us",
                "ca_state",
                "cwnd_segments",
                "ssthresh_segments",
                "unacked_segments",
                "retransmitted",
                "acked_octets",
                "rtt_us",
                "rto_us",
            ],
            "samples": samples,
        }
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        enter_namespace(home)
        for descriptor in (sender_ns, receiver_ns, sender_tun, receiver_tun, home):
            os.close(descriptor)


def record_apart(control: str, event: str, path: Path) -> None:
    """Record in a process of its own, whose end takes the namespaces with it."""
    child = os.fork()
    if child == 0:
        trace = record(control, event)
        samples = trace.pop("samples")
        assert isinstance(samples, list)
        head = json.dumps(trace, indent=1)[:-2]
        rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in samples)
        path.write_text(f'{head},\n "samples": [\n{rows}\n]}}\n')
        sys.stderr.write(f"{path}: {len(samples)} samples\n")
        sys.stderr.flush()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        raise SystemExit(f"{path}: recording failed")


def main() -> None:
    """Record every control under every event."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the traces")
    parser.add_argument("--only", help="one trace, as in reno-loss")
    arguments = parser.parse_args()
    before = HYSTART.read_text() if HYSTART.exists() else None
    try:
        if before is not None:
            HYSTART.write_text("0")
        for control in CONTROLS:
            for event in EVENTS:
                name = f"{control}-{event}"
                if arguments.only in (None, name):
                    record_apart(control, event, arguments.out / f"{name}.json")
    finally:
        if before is not None:
            HYSTART.write_text(before)


if __name__ == "__main__":
    main()
