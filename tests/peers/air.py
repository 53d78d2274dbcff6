"""A program for a guest: our state machines and a real daemon on virtual radios, frame by frame.

Takes a scene as JSON on standard input; gives as JSON on standard output what both ends say when it
is over. Runs as root in a guest only: it loads mac80211_hwsim. Judges nothing: the tests do.

Our frames are injected through a monitor interface of the radio whose address they carry: virtual
radios acknowledge frames to the addresses of interfaces that are up, and mac80211 drops what is
injected in the name of an interface that its radio has not.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from conversation import Conversation
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from airtoll import _native

FREQUENCY_MHZ: Final = 2412
FOLDER: Final = Path("/run/airtoll-air")
RADIOTAP: Final = bytes([0, 0, 8, 0, 0, 0, 0, 0])
EAPOL: Final = bytes.fromhex("aaaa03000000888e")
DSSS, TIM, RSN = 3, 5, 48
ASSOCIATION_REQUEST, PROBE_REQUEST, PROBE_RESPONSE, BEACON = 0, 4, 5, 8
DEAUTHENTICATION, ACTION = 12, 13
ESS, PRIVACY = 0x0001, 0x0010
#: Bit of the second octet of Frame Control.
PROTECTED: Final = 0x40
Message = tuple[str, str, str, bytes]


def is_action(frame: bytes) -> bool:
    return frame[0] == ACTION << 4


def address_of(number: int) -> str:
    """The address of a virtual radio."""
    return f"02:00:00:00:0{number}:00"


def octets(address: str) -> bytes:
    """The octets of a colon-separated address."""
    return bytes.fromhex(address.replace(":", ""))


def elements(body: bytes) -> dict[int, bytes]:
    """The first whole element of each identifier in a list of elements."""
    found: dict[int, bytes] = {}
    while len(body) >= 2 and len(body) >= 2 + body[1]:
        found.setdefault(body[0], body[: 2 + body[1]])
        body = body[2 + body[1] :]
    return found


def sealed(frame: bytes, key: bytes, number: int) -> bytes:
    """A data or management frame under CCMP (802.11-2020, 12.5.3)."""
    vector = number.to_bytes(6, "little")
    head = bytes([frame[0], frame[1] | PROTECTED]) + frame[2:24]
    nonce, authenticated = inputs(head, vector)
    data = AESCCM(key, tag_length=8).encrypt(nonce, frame[24:], authenticated)
    return head + vector[:2] + bytes([0, 0x20]) + vector[2:] + data


def opened(frame: bytes, key: bytes) -> bytes:
    """A frame out of CCMP; raises ``InvalidTag`` where it was not under this key."""
    size = 26 if frame[0] & 0x8C == 0x88 else 24
    head, body = frame[:size], frame[size:]
    nonce, authenticated = inputs(head, body[:2] + body[4:8])
    data = AESCCM(key, tag_length=8).decrypt(nonce, body[8:], authenticated)
    return bytes([head[0], head[1] & ~PROTECTED]) + head[2:] + data


def inputs(head: bytes, number: bytes) -> tuple[bytes, bytes]:
    """Nonce and additional authenticated data (12.5.3.3.3 and 12.5.3.3.4)."""
    management = head[0] & 0x0C == 0
    traffic = bytes([head[24] & 0x0F]) if len(head) > 24 else b""
    nonce = (bytes([0x10]) if management else traffic or b"\0") + head[10:16] + number[::-1]
    # Some subtype bits of data, retry, power management, more data and the sequence number are
    # left out.
    control = bytes([head[0] & (0xFF if management else 0x8F), head[1] & 0xC7])
    quality = traffic + b"\0" if traffic else b""
    return nonce, control + head[4:22] + bytes([head[22] & 0x0F, 0]) + quality


def run(*argv: str) -> str:
    """A command's output; raises where it fails."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")
    return done.stdout


class Air:
    """The frames on the channel, as a wire between our parties and the daemon's.

    ``radios``: the numbers of our radios; the first listens. ``ours`` and ``theirs``: party ->
    address. Frames between others are not given.
    """

    def __init__(
        self, radios: Sequence[int], ours: Mapping[str, str], theirs: Mapping[str, str]
    ) -> None:
        self._radios = {}
        for number in radios:
            one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            one.bind((f"mon{number}", 3))
            self._radios[octets(address_of(number))] = one
        self.sock = next(iter(self._radios.values()))
        self.ours = {octets(address): party for party, address in ours.items()}
        self.theirs = {octets(address): party for party, address in theirs.items()}
        self._addresses = {**ours, **theirs}
        self._last: dict[bytes, bytes] = {}
        #: The temporal key, once there is one, and whether it protects action frames, too.
        self.key: bytes | None = None
        self.robust = False
        self._packet_number = 0

    def move(self, cells: Mapping[str, str]) -> None:
        """Change which access point has which part; the station's is as it was."""
        side = self.ours if "access-point" in self.ours.values() else self.theirs
        side.clear()
        side.update({octets(address): party for party, address in cells.items()})
        self._addresses |= cells

    def fileno(self) -> int:
        return self.sock.fileno()

    def send(self, frame: bytes) -> None:
        """Put a frame on the air, from the radio whose address it carries."""
        self._radios[frame[10:16]].send(RADIOTAP + frame)

    def close(self) -> None:
        for one in self._radios.values():
            one.close()

    def frame(self) -> bytes:
        """The next frame of any sender."""
        heard = self.sock.recv(4096)
        return heard[int.from_bytes(heard[2:4], "little") :]

    def take(self, message: Message) -> bool:
        sender, receiver, carrier, body = message
        if receiver not in self._addresses or carrier not in ("management", "eapol"):
            return False
        if carrier == "eapol":
            source, target = (octets(self._addresses[party]) for party in (sender, receiver))
            upwards = sender == "station"
            bssid = target if upwards else source
            header = bytes([8, 1 if upwards else 2, 0, 0]) + target + source + bssid + b"\0\0"
            body = header + EAPOL + body
        if self.key is not None and (carrier == "eapol" or (self.robust and is_action(body))):
            self._packet_number += 1
            body = sealed(body, self.key, self._packet_number)
        self.send(body)
        return True

    def give(self) -> list[Message]:
        frame = self.frame()
        receiver, sender = (table.get(frame[at : at + 6]) for table, at in
                            ((self.ours, 4), (self.theirs, 10)))  # fmt: skip
        if receiver is None or sender is None or len(frame) < 24:
            return []
        if frame[1] & PROTECTED:
            if self.key is None:
                return []
            try:
                frame = opened(frame, self.key)
            except InvalidTag:  # of another key
                return []
        source, number = frame[10:16], frame[22:24]
        if frame[1] & 0x08 and self._last.get(source) == number:
            return []  # sent again although it had come
        self._last[source] = number
        if frame[0] & 0x0C == 0:
            return [(sender, receiver, "management", frame)]
        body = frame[26 if frame[0] & 0x80 else 24 :]
        if frame[0] & 0x0C == 8 and body.startswith(EAPOL):
            # The octets after the packet's own length are padding.
            length = 4 + int.from_bytes(body[10:12], "big")
            return [(sender, receiver, "eapol", body[8 : 8 + length])]
        return []

    def skip(self, subtype: int) -> None:
        """Drop frames up to a management frame of this subtype for one of our parties."""
        while not any(message[3][0] == subtype << 4 for message in self.give()):
            pass

    def beacon(self, address: str, limit_s: float = 10.0) -> bytes:
        """The elements of a beacon from this address."""
        give_up = time.monotonic() + limit_s
        while time.monotonic() < give_up:
            frame = self.frame()
            if frame[0] == BEACON << 4 and frame[10:16] == octets(address):
                return frame[36:]
        raise RuntimeError(f"no beacon from {address}")


class Beacons:
    """Beacons and probe responses of our access points, from a thread of its own."""

    def __init__(self, radios: Sequence[int]) -> None:
        self._air = Air(radios, {}, {})
        self._cells: dict[bytes, bytes] = {}
        self._over = threading.Event()
        self._threads = [threading.Thread(target=work) for work in (self._beacon, self._answer)]
        self._air.sock.settimeout(0.2)

    def add(self, link: Mapping[str, Any]) -> None:
        """Let the access point of this link be heard."""
        found = elements(_native.link_elements(json.dumps(link)))
        # Where the medium stands, and that nothing waits for a station: no part of the link.
        found |= {DSSS: bytes([DSSS, 1, 1]), TIM: bytes([TIM, 4, 0, 1, 0, 0])}
        whole = b"".join(found[number] for number in sorted(found))
        self._cells = {**self._cells, octets(link["access_point"]): whole}

    def __enter__(self) -> Beacons:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._air.close()

    def _frame(self, subtype: int, to: bytes, cell: bytes) -> bytes:
        fixed = struct.pack("<QHH", time.monotonic_ns() // 1000, 100, ESS | PRIVACY)
        header = bytes([subtype << 4, 0, 0, 0]) + to + cell + cell + b"\0\0"
        return header + fixed + self._cells[cell]

    def _beacon(self) -> None:
        while not self._over.wait(0.1):
            for cell in list(self._cells):
                self._air.send(self._frame(BEACON, b"\xff" * 6, cell))

    def _answer(self) -> None:
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                frame = self._air.frame()
                if frame[0] == PROBE_REQUEST << 4:
                    for cell in list(self._cells):
                        self._air.send(self._frame(PROBE_RESPONSE, frame[10:16], cell))


class Daemon:
    """hostapd or wpa_supplicant, its log and its control socket."""

    def __init__(self, argv: Sequence[str], control: str) -> None:
        self.log = FOLDER / "daemon.log"
        self._own = FOLDER / "own.sock"
        self._control = control
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT)

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, text: str, times: int = 1, limit_s: float = 15.0) -> None:
        """Until the log has this text so often."""
        give_up = time.monotonic() + limit_s
        while self.text().count(text) < times:
            if self.process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError(f"no {text}: {self.text()[-3000:]}")
            time.sleep(0.01)

    def ask(self, command: str, interface: str) -> str:
        """The answer to a command of the control interface."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            self._own.unlink(missing_ok=True)
            sock.bind(str(self._own))
            sock.settimeout(10)
            sock.sendto(command.encode(), f"{self._control}/{interface}")
            return sock.recv(65536).decode(errors="replace").strip()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Scene:
    """One conversation on three virtual radios: theirs first, ours last."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.link: dict[str, Any] = dict(given["link"])
        self.secrets: dict[str, bytes] = {}
        self.stages: list[dict[str, Any]] = []
        self.talk: Conversation | None = None

    def radios(self, ours: Sequence[int]) -> None:
        """Load the radios; each of our radios gets a monitor interface."""
        subprocess.run(["modprobe", "-r", "mac80211_hwsim"], check=False, capture_output=True)
        run("modprobe", "mac80211_hwsim", "radios=3")
        run("iw", "reg", "set", "US")
        for number in ours:
            # A monitor's channel can be set while nothing else is up.
            monitor = f"mon{number}"
            run("iw", "dev", f"wlan{number}", "interface", "add", monitor, "type", "monitor")
            run("ip", "link", "set", monitor, "up")
            run("iw", "dev", monitor, "set", "freq", str(FREQUENCY_MHZ))
            run("ip", "link", "set", f"wlan{number}", "up")

    def play(self, wire: Air, ours: Sequence[str], stage: Mapping[str, Any]) -> bool:
        """Run one more stage; true if all our parties established it."""
        settings = dict(stage)
        name = settings["stage"]
        if settings.pop("cached", False):
            settings["pmkids"] = [list(self.secrets["pmkid"])]
        if name == "eap":
            settings = {"handshake": "eap", **settings, **self._addresses()}
            del settings["stage"]
        else:
            settings.setdefault("link", self.link)
            if name in ("keys", "fast-transition") and "master" not in settings:
                kind = "pmk" if "pmk" in self.secrets else "msk"
                settings["master"] = {kind: list(self.secrets[kind])}
            if name == "keys" and "pmkid" in self.secrets:
                settings.setdefault("pmkid", list(self.secrets["pmkid"]))
            settings = {"handshake": "air", "settings": settings}
        seed = int.from_bytes(os.urandom(7))
        talk = Conversation(settings, ours, [wire], seed).run(limit_s=12.0, timer_s=1.0)
        ends = self.note(name, talk, ours)
        for party in ours:
            self.secrets |= {} if name == "keys" else talk.secrets(party)
        self.talk = talk
        if name == "keys" and self.link["pairwise"] == "ccmp-128":
            wire.key = talk.secrets(ours[0]).get("tk")
            wire.robust = self.link["protection"] != "off"
        return all(end["status"] == "established" for end in ends.values())

    def note(
        self, name: str, talk: Conversation, ours: Sequence[str], first: int = 0
    ) -> dict[str, dict[str, Any]]:
        """Keep what a stage came to, with its messages from the ``first`` on."""
        ends = {
            party: {
                "status": talk.status(party),
                "why": talk.why(party),
                "code": talk.machine.code(party),
                "secrets": {key: value.hex() for key, value in talk.secrets(party).items()},
            }
            for party in ours
        }
        messages = [[*message[:3], message[3].hex()] for message in talk.messages[first:]]
        self.stages.append({"stage": name, "ends": ends, "messages": messages})
        return ends

    def _addresses(self) -> dict[str, str]:
        return {name: self.link[name] for name in ("station", "access_point")}

    def asked_with(self) -> bytes:
        """The RSN element of the station's latest association request."""
        heard = (message for stage in self.stages for message in stage["messages"])
        bodies = [bytes.fromhex(body) for *_, carrier, body in heard if carrier == "management"]
        requests = [body for body in bodies if body[0] == ASSOCIATION_REQUEST << 4]
        return elements(requests[-1][28:])[RSN]

    def files(self) -> list[Path]:
        """The scene's files, written; those of the daemon's configuration first."""
        FOLDER.mkdir(exist_ok=True)
        for name, text in self.given.get("files", {}).items():
            (FOLDER / name).write_text(text)
        paths = []
        for number, text in enumerate(self.given["configurations"]):
            paths.append(FOLDER / f"daemon{number}.conf")
            paths[-1].write_text(text)
        return paths


def join(given: Mapping[str, Any]) -> dict[str, Any]:
    """Our station with hostapd, which has one radio for each configuration."""
    scene = Scene(given)
    scene.radios([2])
    paths = scene.files()
    control = str(FOLDER / "hostapd")
    daemon = Daemon(["hostapd", "-ddKt", *map(str, paths)], control)
    try:
        daemon.wait_for("AP-ENABLED", len(paths))
        parties = ["access-point", "old-access-point"][: len(paths)]
        cells = [address_of(number) for number in range(len(paths))]
        station = {"station": scene.link["station"]}
        air = Air([2], station, dict(zip(parties, cells, strict=True)))
        heard = {cell: air.beacon(cell) for cell in cells}
        for stage in given["stages"]:
            wanted = dict(stage)
            if wanted["stage"] == "leave":
                daemon.ask(f"DEAUTHENTICATE {scene.link['station']}", "wlan0")
                air.key = None
                air.skip(DEAUTHENTICATION)
                continue
            if wanted["stage"] == "rekey":
                assert scene.talk is not None
                daemon.wait_for("AP-STA-CONNECTED")
                before = len(scene.talk.messages)
                daemon.ask("REKEY_GTK", "wlan0")
                scene.talk.listen(0.5)
                scene.note("rekey", scene.talk, ["station"], before)
                continue
            if wanted["stage"] == "keys":
                wanted["access_point_element"] = list(elements(heard[cells[0]])[RSN])
                wanted["station_element"] = list(scene.asked_with())
            if wanted["stage"] == "fast-transition":
                # Before that it has no key for protected action frames.
                daemon.wait_for("AP-STA-CONNECTED")
                air.move({"access-point": cells[1], "old-access-point": cells[0]})
                wanted["link"] = {**scene.link, "access_point": cells[1]}
                wanted["old_access_point"] = cells[0]
            if not scene.play(air, ["station"], wanted):
                break
        else:
            # The last message of a handshake is on its way yet.
            last = sum(stage["stage"] in ("keys", "fast-transition") for stage in given["stages"])
            daemon.wait_for("AP-STA-CONNECTED", last)
        asked = {
            f"wlan{number}": {
                command: daemon.ask(f"{command} {scene.link['station']}", f"wlan{number}")
                for command in ("STA", "GET_PMK")
            }
            for number in range(len(paths))
        }
    finally:
        daemon.stop()
    return {
        "stages": scene.stages,
        "asked": asked,
        "beacons": {cell: body.hex() for cell, body in heard.items()},
        "log": daemon.text(),
    }


def find(daemon: Daemon, cell: str) -> None:
    """Let wpa_supplicant scan until it has heard this access point."""
    for _ in range(20):
        known = daemon.text().count("Scan completed")
        daemon.ask(f"SCAN freq={FREQUENCY_MHZ}", "wlan0")
        daemon.wait_for("Scan completed", known + 1)
        if daemon.ask(f"BSS {cell}", "wlan0"):
            return
    raise RuntimeError(f"{cell} is not heard")


def serve(given: Mapping[str, Any]) -> dict[str, Any]:
    """wpa_supplicant with our access point, and with a second one where a transition is asked."""
    scene = Scene(given)
    scene.radios([1, 2])
    (path,) = scene.files()
    cells = [address_of(2), address_of(1)]
    station = {"station": scene.link["station"]}
    air = Air([2, 1], {"access-point": cells[0]}, station)
    with Beacons([2, 1]) as beacons:
        beacons.add(scene.link)
        argv = ["wpa_supplicant", "-ddKt", "-Dnl80211", "-iwlan0", f"-c{path}"]
        daemon = Daemon(argv, str(FOLDER / "wpa_supplicant"))
        try:
            for stage in given["stages"]:
                wanted = dict(stage)
                ours = ["access-point"]
                if wanted["stage"] == "leave":
                    daemon.wait_for("CTRL-EVENT-CONNECTED")
                    daemon.ask("DISCONNECT", "wlan0")
                    air.key = None
                    air.skip(DEAUTHENTICATION)
                    daemon.ask("RECONNECT", "wlan0")
                    continue
                if wanted["stage"] == "eap":
                    ours.append("authentication-server")
                if wanted["stage"] == "keys":
                    wanted["station_element"] = list(scene.asked_with())
                if wanted["stage"] == "fast-transition":
                    air.move({"access-point": cells[1], "old-access-point": cells[0]})
                    over_the_ds = wanted.get("over_the_ds", False)
                    ours += ["old-access-point"] if over_the_ds else []
                    wanted["link"] = {**scene.link, "access_point": cells[1]}
                    wanted["old_access_point"] = cells[0]
                    daemon.wait_for("CTRL-EVENT-CONNECTED")
                    beacons.add(wanted["link"])
                    find(daemon, cells[1])
                    daemon.ask(f"{'FT_DS' if over_the_ds else 'ROAM'} {cells[1]}", "wlan0")
                if not scene.play(air, ours, wanted):
                    break
            else:
                again = ("fast-transition", "leave")
                moves = sum(stage["stage"] in again for stage in given["stages"])
                daemon.wait_for("CTRL-EVENT-CONNECTED", 1 + moves)
            asked = {command: daemon.ask(command, "wlan0") for command in ("STATUS", "PMKSA")}
        finally:
            daemon.stop()
    return {"stages": scene.stages, "asked": asked, "log": daemon.text()}


def main() -> None:
    """One scene."""
    given = json.loads(sys.stdin.read())
    json.dump({"join": join, "serve": serve}[given["scene"]](given), sys.stdout)


if __name__ == "__main__":
    main()
