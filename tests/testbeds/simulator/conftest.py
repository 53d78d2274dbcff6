"""Recorded trials and what tshark says of them.

Takes a policy and settings; gives a trial's rows, its folder, its reading by tshark and by our own
reader. The fixtures are callables, because test folders are no packages.
"""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

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
_WRONG = "_ws.malformed || _ws.expert.severity == error || wlan.fcs.status == 0"


@pytest.fixture
def cell() -> Callable[..., Cell]:
    """Makes a cell with one station that joins, and a little traffic."""
    return _cell


@pytest.fixture
def record() -> Callable[..., Recorded]:
    """Simulates a cell with seed 5 into a folder."""
    return _record


@pytest.fixture
def messages() -> Callable[..., Iterator[dict[str, list[str]]]]:
    """Fields of some layers by name, for each packet that passes a filter."""
    return _messages


@frozen
class Recorded:
    """A trial that was recorded."""

    folder: Path
    values: dict[str, float]

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

    def wrong(self) -> list[str]:
        """The packets that tshark calls malformed or an error, in both captures."""
        return self.tshark(_WRONG) + self.tshark(_WRONG, path=self.wire)

    def tshark(self, display_filter: str, *fields: str, path: Path | None = None) -> list[str]:
        """One line for each packet that passes the filter, decrypted with the key log."""
        command = ["tshark", "-2", "-r", str(path or self.air), "-Y", display_filter]
        for check in _CHECKS:
            command += ["-o", check]
        for key in _uat(self.keys):
            command += ["-o", f"uat:80211_keys:{key}"]
        if fields:
            command += ["-T", "fields"]
            for name in fields:
                command += ["-e", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()


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
    columns = _native.simulate(json.dumps(resolved), [5], None, [str(folder)])
    rows = zip(columns["metric"], columns["second"], columns["value"], strict=True)
    values = {str(metric): float(str(value)) for metric, second, value in rows if second is None}
    return Recorded(folder, values)


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
