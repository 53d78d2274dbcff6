"""For a guest in virtual time: hostapd and wpa_supplicant on virtual radios, and what goes wrong.

Takes a scene: `access_point` and `station`, the text of a configuration each, and `steps`, each a
list of a word and its arguments: the methods of `Scene`. Gives what was asked, all frames that a
third radio heard with their times, and the logs of both daemons. Runs as root in a guest only: it
loads mac80211_hwsim. Judges nothing: the tests do.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any, Final

import modes

RADIOTAP: Final = bytes([0, 0, 8, 0, 0, 0, 0, 0])
ACCESS_POINT: Final = bytes.fromhex("020000000000")
BROADCAST: Final = b"\xff" * 6
#: Local Experimental EtherType 1 (IEEE Std 802).
EXPERIMENTAL: Final = b"\x88\xb5"
#: How long the last frames of a scene may take.
LAST_S: Final = 0.3


class Scene:
    """Two daemons, a radio that listens, and a sender of forged frames on that radio."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._texts = {"hostapd": given["access_point"], "wpa_supplicant": given["station"]}
        self._daemons: dict[str, modes.Daemon] = {}
        self.logs: dict[str, str] = {}
        self.asked: list[str] = []
        #: Instants that the tests compare frames with.
        self.marks: list[float] = []

    def start(self, name: str) -> None:
        """Start a daemon."""
        argv = ["-K", "-dd"] if name == "hostapd" else ["-Dnl80211", "-iwlan1", "-K", "-dd"]
        self._daemons[name] = modes.Daemon(name, self._texts[name], *argv)

    def wait(self, name: str, text: str, times: int = 1) -> None:
        """Wait until the log of a daemon has a text so often."""
        daemon = self._daemons[name]
        give_up = time.monotonic() + 60
        while daemon.log.read_text(errors="replace").count(text) < times:
            if time.monotonic() > give_up:
                log = daemon.log.read_text(errors="replace")
                raise RuntimeError(f"{name}: {text} not {times} times: {log[-4000:]}")
            time.sleep(0.01)

    def hear(self, kind: str, sender: str, text: str) -> None:
        """Wait until the third radio hears a frame of this kind and sender whose body begins so.

        All are hexadecimal digits; ``kind``: the first octet of the frame control field.
        """
        give_up = time.monotonic() + 60
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sock:
            sock.bind(("wlan2", 3))
            sock.settimeout(1)
            while time.monotonic() < give_up:
                with contextlib.suppress(TimeoutError):
                    heard = sock.recv(4096)
                    frame = heard[int.from_bytes(heard[2:4], "little") :].hex()
                    told = (frame[:2], frame[20:32], frame[48 : 48 + len(text)])
                    if told == (kind, sender, text):
                        return
        raise RuntimeError(f"no frame {kind} {text} of {sender}")

    def ask(self, name: str, command: str) -> None:
        """Ask a daemon by its control socket."""
        interface = "wlan0" if name == "hostapd" else "wlan1"
        self.asked.append(self._daemons[name].ask(command, interface))

    def send(self, name: str, number: int) -> None:
        """Send a daemon a signal."""
        self._daemons[name].process.send_signal(signal.Signals(number))

    def end(self, name: str) -> None:
        """Kill a daemon, which sends nothing more."""
        daemon = self._daemons.pop(name)
        daemon.process.kill()
        daemon.process.wait()
        self.logs[name] = self.logs.get(name, "") + daemon.log.read_text(errors="replace")

    def mark(self) -> None:
        """Keep this instant."""
        self.marks.append(time.monotonic())

    def sleep(self, seconds: float) -> None:
        """Let time pass: there is nothing to wait for."""
        time.sleep(seconds)

    def datagram(self) -> None:
        """The station sends a datagram to its access point."""
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
            sock.bind(("wlan1", 0))
            own = sock.getsockname()[4]
            sock.send(ACCESS_POINT + own + EXPERIMENTAL + b"airtoll")

    def forge(self, frame: str, count: int, per_s: float) -> None:
        """Send management frames from as many addresses, at equal times; ``frame``: the body,
        ``per_s`` 0: at once.
        """
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
            sock.bind(("wlan2", 3))
            for number in range(count):
                source = struct.pack("!HI", 0x0600, 0xA1770000 + number)
                head = bytes([0xB0, 0, 0, 0]) + ACCESS_POINT + source + ACCESS_POINT + b"\0\0"
                sock.send(RADIOTAP + head + bytes.fromhex(frame))
                if per_s:
                    time.sleep(1 / per_s)

    def stop(self) -> None:
        """Stop the daemons, the station first."""
        for name in ("wpa_supplicant", "hostapd"):
            daemon = self._daemons.pop(name, None)
            if daemon is not None:
                daemon.process.send_signal(signal.SIGCONT)
                daemon.stop()
                self.logs[name] = self.logs.get(name, "") + daemon.log.read_text(errors="replace")


def scene(given: Mapping[str, Any]) -> dict[str, Any]:
    """Play one scene."""
    modes.radios(modes.FREQUENCY_MHZ)
    shutil.rmtree(modes.FOLDER, ignore_errors=True)
    modes.FOLDER.mkdir(parents=True)
    recorder = modes.Recorder()
    played = Scene(given)
    try:
        for word, *arguments in given["steps"]:
            getattr(played, word)(*arguments)
        time.sleep(LAST_S)
    finally:
        played.stop()
        recorder.stop()
    heard = [
        (at, frame[int.from_bytes(frame[2:4], "little") :].hex()) for at, frame in recorder.frames
    ]
    return {
        "asked": played.asked,
        "marks": played.marks,
        "frames": [one for one in heard if not one[1].startswith("80")],
        "logs": played.logs,
    }
