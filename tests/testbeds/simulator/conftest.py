"""Recorded trials and what tshark says of them.

Takes a policy and settings; gives a trial's rows, its folder, its reading by tshark and by our own
reader. The fixtures are callables, because test folders are no packages.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from attrs import field, frozen

from airtoll import _native, border
from airtoll.capture import capture_report
from airtoll.plan import Cell
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

#: tshark's checks, which it leaves out unless asked.
_CHECKS = (
    "wlan.enable_decryption:TRUE",
    "wlan.check_checksum:TRUE",
    "ip.check_checksum:TRUE",
    "udp.check_checksum:TRUE",
    "tcp.check_checksum:TRUE",
)
#: Numbers, addresses and octets: values that sharkd does not put into words or cut.
_VALUES = re.compile(r"[0-9a-fx:.,\t-]*")
#: sharkd's words for flags of the frame control field.
_FLAGS = {
    "Data is protected": "1",
    "Data is not protected": "0",
    "Frame is being retransmitted": "1",
    "Frame is not being retransmitted": "0",
    "Frame is entering DS": "1",
    "Frame is not entering DS": "0",
    "Frame is exiting DS": "1",
    "Frame is not exiting DS": "0",
    "STA will go to sleep": "1",
    "STA will stay up": "0",
}
_WRONG = "_ws.malformed || _ws.expert.severity == error || wlan.fcs.status == 0"


@pytest.fixture
def cell() -> Callable[..., Cell]:
    """Makes a cell with one station that joins, and a little traffic."""
    return _cell


@pytest.fixture(scope="session")
def dissectors() -> Iterator[Dissectors]:
    """Wireshark's dissectors in a process of their own, which starts with the first question."""
    opened = Dissectors()
    yield opened
    opened.close()


@pytest.fixture
def record(dissectors: Dissectors) -> Iterator[Callable[..., Recorded]]:
    """Simulates a cell with seed 5 into a folder."""
    made: list[Recorded] = []

    def one(*given: Any, **named: Any) -> Recorded:
        made.append(_record(dissectors, *given, **named))
        return made[-1]

    yield one
    for trial in made:
        trial.close()


@pytest.fixture
def messages() -> Callable[..., Iterator[dict[str, list[str]]]]:
    """Fields of some layers by name, for each packet that passes a filter."""
    return _messages


class Dissectors:
    """sharkd, which comes with tshark: the same filters, without a start of tshark per question.

    It registers its protocols once and forks for each connection: no key of one capture opens
    another.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="airtoll-sharkd-"))
        self._socket = self._folder / "socket"
        self._process: subprocess.Popen[bytes] | None = None

    def connect(self) -> socket.socket:
        """A connection to a process of its own."""
        if self._process is None:
            if shutil.which("sharkd") is None:
                pytest.skip("sharkd, which comes with tshark, is not installed")
            # sharkd goes to the background. The shell ends its group when this process ends.
            script = 'sharkd -a "unix:$0" >"$0.log" 2>&1; cat; kill 0'
            self._process = subprocess.Popen(
                ["sh", "-c", script, str(self._socket)], stdin=subprocess.PIPE, process_group=0
            )
        give_up = time.monotonic() + 30
        while True:
            line = socket.socket(socket.AF_UNIX)
            if line.connect_ex(str(self._socket)) == 0:
                return line
            line.close()
            assert time.monotonic() < give_up, Path(f"{self._socket}.log").read_text()
            time.sleep(0.02)

    def close(self) -> None:
        """End sharkd."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(10)
        shutil.rmtree(self._folder)


class Dissection:
    """One capture, opened with checks and keys."""

    def __init__(self, dissectors: Dissectors, path: Path, keys: list[str]) -> None:
        self._line = dissectors.connect()
        self._words: IO[str] = self._line.makefile("rw", encoding="utf-8")
        self._asked = 0
        for check in _CHECKS:
            name, _, value = check.partition(":")
            self._ask("setconf", name=name, value=value)
        for key in keys:
            self._ask("setconf", name="uat:80211_keys", value=key)
        self._ask("load", file=str(path))

    def frames(self, display_filter: str) -> list[int]:
        """The numbers of the frames that pass the filter."""
        # Without a column sharkd would make those of a list of packets.
        found = self._ask("frames", filter=display_filter, column0="frame.number:0")
        return [int(frame["num"]) for frame in found]

    def fields(self, display_filter: str, names: tuple[str, ...]) -> list[str]:
        """The fields of each frame that passes the filter; all occurrences with commas between."""
        columns = {f"column{place}": f"{name}:0" for place, name in enumerate(names)}
        found = self._ask("frames", filter=display_filter, **columns)
        return ["\t".join(_FLAGS.get(value, value) for value in frame["c"]) for frame in found]

    def close(self) -> None:
        """Close the connection, with which sharkd's process for it ends."""
        self._words.close()
        self._line.close()

    def _ask(self, method: str, **parameters: object) -> Any:
        self._asked += 1
        question = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": parameters}
        self._words.write(json.dumps(question) + "\n")
        self._words.flush()
        answer = json.loads(self._words.readline())
        assert "error" not in answer, f"sharkd: {answer['error']['message']}: {parameters}"
        return answer["result"]


@frozen
class Recorded:
    """A trial that was recorded."""

    folder: Path
    values: dict[str, float]
    _dissectors: Dissectors
    _open: dict[Path, Dissection] = field(factory=dict, init=False)

    @property
    def air(self) -> Path:
        """The capture of the air."""
        return self.folder / "air.pcapng"

    @property
    def wire(self) -> Path:
        """The capture of the wires."""
        return self.folder / "wire.pcapng"

    @property
    def keys(self) -> list[dict[str, str]]:
        """The key log."""
        rows: list[dict[str, str]] = json.loads((self.folder / "keys.json").read_text())
        return rows

    def report(self) -> dict[str, object]:
        """The output of our own reader with the key log."""
        return capture_report([self.air, self.wire], key_logs=[self.folder / "keys.json"]).data

    def wrong(self) -> list[int]:
        """The packets that Wireshark calls malformed or an error, in both captures."""
        return self.passing(_WRONG) + self.passing(_WRONG, path=self.wire)

    def passing(self, display_filter: str, path: Path | None = None) -> list[int]:
        """The numbers of the packets that pass the filter, decrypted with the key log."""
        return self._opened(path or self.air).frames(display_filter)

    def close(self) -> None:
        """Close what was asked of sharkd."""
        for dissection in self._open.values():
            dissection.close()
        self._open.clear()

    def tshark(self, display_filter: str, *fields: str, path: Path | None = None) -> list[str]:
        """The fields of each packet that passes the filter, decrypted with the key log.

        Values as tshark's ``-T fields`` has them: of sharkd, or of tshark where sharkd has words.
        """
        assert fields, "passing() gives the packets without fields"
        told = self._opened(path or self.air).fields(display_filter, fields)
        if all(map(_VALUES.fullmatch, told)):
            return told
        command = ["tshark", "-2", "-r", str(path or self.air), "-Y", display_filter]
        for check in _CHECKS:
            command += ["-o", check]
        for key in _uat(self.keys):
            command += ["-o", f"uat:80211_keys:{key}"]
        command += ["-T", "fields"]
        for name in fields:
            command += ["-e", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    def _opened(self, path: Path) -> Dissection:
        if path not in self._open:
            self._open[path] = Dissection(self._dissectors, path, _uat(self.keys))
        return self._open[path]


def _uat(rows: list[dict[str, str]]) -> list[str]:
    """Rows of a key log as Wireshark's ``80211_keys`` table has them; passphrases instead of PMKs.

    A temporal key is given only where nothing else opens the capture.
    """
    texts = [f'"wep","{row["key"]}"' for row in rows if row["kind"] == "wep"]
    texts += [
        f'"wpa-pwd","{row["passphrase"]}:{row["ssid"]}"'
        for row in rows
        if row["kind"] == "passphrase"
    ]
    if not texts:
        # Wireshark takes no PMK shorter than 32 octets, as LEAP's is.
        masters = [row["key"] for row in rows if row["kind"] == "pmk" and len(row["key"]) >= 64]
        texts += [f'"wpa-psk","{key}"' for key in masters]
    if not texts:
        texts += [f'"tk","{row["key"]}"' for row in rows if row["kind"] in ("tk", "gtk")]
    return texts


def _cell(policy: str, load: dict[str, object] | None = None, **settings: object) -> Cell:
    """A cell with one station that joins, and a little traffic."""
    traffic = load or {"transport": "udp", "offered_mbps": 2, "duration_s": 0.3}
    usual = {"stations": [{"name": "A"}], "phy": "802.11g", "authenticate": True}
    return Cell(
        scenario="s",
        policy=policy,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate({**usual, **settings}),
        load=Traffic.model_validate(traffic),
    )


def _record(
    dissectors: Dissectors,
    planned: Cell,
    folder: Path,
    options: dict[str, object] | None = None,
    change: Callable[[dict[str, Any]], object] | None = None,
) -> Recorded:
    """Simulates a cell with seed 5 into a folder.

    ``options`` go to every association; ``change`` may alter the resolved scenario.
    """
    assert Simulator().check(planned) is None
    resolved = border.plain(scenario(planned))
    if change is not None:
        change(resolved)
    for association in resolved.get("associations", []):
        association["options"] = {**association.get("options", {}), **(options or {})}
    columns = _native.Scenario(json.dumps(resolved)).simulate([5], None, [str(folder)])
    rows = zip(columns["metric"], columns["second"], columns["value"], strict=True)
    values = {str(metric): float(str(value)) for metric, second, value in rows if second is None}
    return Recorded(folder, values, dissectors)


def _messages(
    path: Path, display_filter: str, layers: tuple[str, ...]
) -> Iterator[dict[str, list[str]]]:
    """Fields of these layers by name, for each packet that passes the filter."""
    command = ["tshark", "-r", str(path), "-Y", display_filter, "-T", "pdml"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for packet in ET.fromstring(done.stdout).iter("packet"):
        fields: dict[str, list[str]] = {}
        for layer in packet.findall("proto"):
            if layer.get("name") not in layers:
                continue
            for item in layer.iter("field"):
                name = item.get("name")
                if name:
                    fields.setdefault(name, []).append(item.get("show") or "")
        yield fields
