"""The corpus beside tshark: frame by frame and octet by octet, by the tool that anyone can run."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

CORPUS = Path(__file__).parent / "corpus" / "linux"
FOLDERS = sorted(path.parent for path in CORPUS.glob("*/air.pcap"))
#: Captures of ciphers and joins of which others are a variant.
VARIANTS = {
    "open",
    "owe-ccmp",
    "wep-104-shared",
    "wep-40",
    "wpa2-ft-psk-ccmp",
    "wpa2-psk-ccmp",
    "wpa2-psk-ccmp-256",
    "wpa2-psk-gcmp",
    "wpa2-psk-gcmp-256",
}
TOOL = Path(__file__).parents[2] / "tools" / "compare_with_tshark.py"

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_with_tshark", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _key_lines(folder: Path) -> str:
    lines = []
    for row in json.loads((folder / "keys.json").read_text()):
        if row["kind"] == "wep":
            lines.append(f'"wep","{row["key"]}"')
        elif row["kind"] == "pmk":
            lines.append(f'"wpa-psk","{row["key"]}"')
        elif row["kind"] == "passphrase":
            lines.append(f'"wpa-pwd","{row["passphrase"]}:{row["ssid"]}"')
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(
            folder, marks=[pytest.mark.thorough] * (folder.name in VARIANTS), id=folder.name
        )
        for folder in FOLDERS
    ],
)
def test_every_octet_agrees(tool: ModuleType, folder: Path, tmp_path: Path) -> None:
    keys = tmp_path / "80211_keys"
    keys.write_text(_key_lines(folder))
    result = tool.compare(folder / "air.pcap", None if folder.name == "open" else keys)
    assert result.differences == []
    assert result.decrypted == result.protected
    assert (result.octets_compared > 0) == (folder.name != "open")
    keyed = folder.name != "open" and not folder.name.startswith("wep")
    assert (result.key_messages >= 4) == (result.joins == 1) == keyed


def test_a_disagreement_on_keys_and_times_is_seen(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CORPUS / "wpa2-psk-ccmp"
    keys = tmp_path / "80211_keys"
    keys.write_text(_key_lines(folder))
    theirs = tool.tshark_joins(folder / "air.pcap", keys)
    theirs.messages.pop()
    theirs.four_way_s[0] += 1e-3
    monkeypatch.setattr(tool, "tshark_joins", lambda *_: theirs)
    differences = tool.compare(folder / "air.pcap", keys).differences
    assert len(differences) == 2
    assert "key message 4 here only" in differences[0]
    assert differences[1].startswith("four_way_s: ")


def test_a_disagreement_is_seen(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CORPUS / "wpa2-psk-ccmp"
    keys = tmp_path / "80211_keys"
    keys.write_text(_key_lines(folder))
    theirs = tool.read_theirs(folder / "air.pcap", keys)
    at = next(index for index, frame in enumerate(theirs) if frame.plain)
    theirs[at].plain = b"\0" + theirs[at].plain[1:]
    theirs[0].eapol = True
    monkeypatch.setattr(tool, "read_theirs", lambda *_: theirs)
    differences = tool.compare(folder / "air.pcap", keys).differences
    assert len(differences) == 2
    assert "eapol False, tshark True" in differences[0]
    assert f"frame {at + 1}: plaintext" in differences[1]
