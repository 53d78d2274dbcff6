"""For a guest in virtual time: hostapd and wpa_supplicant on virtual radios, and hostapd's beacons.

Takes a scene: `access_point` and `station`, the text of a configuration
each (`station` may be null), and `bssids`; `record`: a number of beacons; `frequency_mhz`: that of
the primary channel. Gives the station's STATUS and one beacon of each
BSSID; with `record` also all frames, with radio headers, from hostapd's start until so many beacons
after the station has joined. Runs as root in a guest only: it loads mac80211_hwsim. Judges nothing:
the tests do.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path("/run/airtoll-modes")
FREQUENCY_MHZ: Final = 2412
BEACON: Final = 0x80
#: Beacons of a BSS that are received before one is kept: the first ones may precede the group keys.
SKIPPED: Final = 3


def run(*argv: str) -> None:
    """Run a command; raises where it fails."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")


class Daemon:
    """A daemon with one configuration, its log and its control socket."""

    def __init__(self, name: str, text: str, *argv: str) -> None:
        self._name = name
        path = FOLDER / f"{name}.conf"
        path.write_text(text)
        self.log = FOLDER / f"{name}.log"
        place = [f"-c{path}"] if name == "wpa_supplicant" else [str(path)]
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [name, "-t", *argv, *place], stdout=out, stderr=subprocess.STDOUT
            )

    def wait_for(self, text: str, limit_s: float = 60.0) -> None:
        give_up = time.monotonic() + limit_s
        while text not in self.log.read_text(errors="replace"):
            if self.process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError(f"{self._name}: no {text}: {self.log.read_text()[-3000:]}")
            time.sleep(0.02)

    def ask(self, command: str, interface: str) -> str:
        own = FOLDER / "own.sock"
        own.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.bind(str(own))
            sock.settimeout(10)
            sock.sendto(command.encode(), f"{FOLDER}/{self._name}/{interface}")
            return sock.recv(65536).decode(errors="replace").strip()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def radios(frequency_mhz: int) -> None:
    """Three radios: the access point's, the station's, and one that listens."""
    subprocess.run(["modprobe", "-r", "mac80211_hwsim"], check=False, capture_output=True)
    run("modprobe", "mac80211_hwsim", "radios=3")
    run("iw", "reg", "set", "US")
    run("iw", "dev", "wlan2", "set", "type", "monitor")
    run("ip", "link", "set", "wlan2", "up")
    run("iw", "dev", "wlan2", "set", "freq", str(frequency_mhz))


def beacons(bssids: Sequence[str], limit_s: float = 20.0) -> dict[str, str]:
    """A beacon of each BSSID, without radio header and FCS, in hexadecimal digits."""
    wanted = {bytes.fromhex(bssid.replace(":", "")): bssid for bssid in bssids}
    seen = dict.fromkeys(bssids, 0)
    found: dict[str, str] = {}
    give_up = time.monotonic() + limit_s
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sock:
        sock.bind(("wlan2", 3))
        sock.settimeout(1)
        while len(found) < len(bssids) and time.monotonic() < give_up:
            try:
                heard = sock.recv(4096)
            except TimeoutError:
                continue
            frame = heard[int.from_bytes(heard[2:4], "little") :]
            bssid = wanted.get(frame[10:16])
            if frame[0] != BEACON or bssid is None:
                continue
            seen[bssid] += 1
            if seen[bssid] > SKIPPED:
                found[bssid] = frame.hex()
    return found


class Recorder:
    """All frames that the listening radio hears, with radio headers and times."""

    def __init__(self) -> None:
        self.frames: list[tuple[float, bytes]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._record)
        self._thread.start()

    def _record(self) -> None:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sock:
            sock.bind(("wlan2", 3))
            sock.settimeout(0.2)
            while not self._over.is_set():
                try:
                    heard = sock.recv(4096)
                except TimeoutError:
                    continue
                self.frames.append((time.monotonic(), heard))

    def wait_for_beacons(self, count: int, limit_s: float = 20.0) -> None:
        """Wait until this many further beacons are heard."""
        first = len(self.frames)
        give_up = time.monotonic() + limit_s
        while time.monotonic() < give_up:
            bodies = (
                heard[int.from_bytes(heard[2:4], "little") :] for _, heard in self.frames[first:]
            )
            if sum(body[0] == BEACON for body in bodies) >= count:
                return
            time.sleep(0.05)
        raise RuntimeError(f"fewer than {count} beacons within {limit_s} s")

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


def scene(given: dict[str, Any]) -> dict[str, Any]:
    """Play one scene."""
    radios(given.get("frequency_mhz", FREQUENCY_MHZ))
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    recorder = Recorder() if given.get("record") else None
    access_point = Daemon("hostapd", given["access_point"])
    try:
        access_point.wait_for("AP-ENABLED")
        heard = beacons(given["bssids"])
        status = ""
        if given["station"] is not None:
            argv = ["-Dnl80211", "-iwlan1"]
            station = Daemon("wpa_supplicant", given["station"], *argv)
            try:
                station.wait_for("CTRL-EVENT-CONNECTED")
                status = station.ask("STATUS", "wlan1")
                if recorder is not None:
                    recorder.wait_for_beacons(given["record"])
            finally:
                station.stop()
    finally:
        access_point.stop()
        if recorder is not None:
            recorder.stop()
    pairs = (line.partition("=") for line in status.splitlines())
    frames = [] if recorder is None else [(at, heard.hex()) for at, heard in recorder.frames]
    return {
        "status": {name: value for name, _, value in pairs},
        "beacons": heard,
        "frames": frames,
    }
