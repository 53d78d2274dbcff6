"""Our reading of captures beside tshark's, frame by frame and octet by octet.

``compare_with_tshark.py FOLDER...`` takes folders (or files) of captures; gives every disagreement
on: number of frames, protected data frames, which of them open, EAPOL, EAP and the plaintext.
Keys are in files of Wireshark's ``80211_keys`` form: ``CAPTURE.keys`` next to a capture, else
``80211_keys`` in its folder, else the one given with ``--keys``. Captures without any are compared
without keys. Frames that open here only are counted and are no disagreement: a MIC or ICV that
fits is proof, and tshark does not go back to frames that came before their key. Exits with 1 if
there is a disagreement. Never writes but to the standard output.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from airtoll.capture import capture_frames
from airtoll.errors import CaptureError

_NAMES = re.compile(r"\.(pcap|pcapng|cap|dump)(\.gz|\.zst)?$", re.IGNORECASE)
_FIELDS = ("frame.number", "wlan.fc.type", "wlan.fc.protected", "eapol.type", "eap.code")
_DATA = "2"
_SOURCE = re.compile(r"([A-Z].*) \(\d+ bytes?\):")
_PLAIN = re.compile(r"Decrypted (WEP|TKIP|CCMP|GCMP) data")


@dataclass
class Frame:
    """The reading of one frame by one side."""

    protected: bool = False
    eapol: bool = False
    eap: bool = False
    plain: bytes | None = None


@dataclass
class Comparison:
    """Disagreements on one capture, in words."""

    frames: int = 0
    protected: int = 0
    decrypted: int = 0
    octets_compared: int = 0
    here_only: int = 0
    differences: list[str] = field(default_factory=list)


def compare(capture: Path, keys: Path | None) -> Comparison:
    """Both readings of ``capture`` with the keys of the file ``keys``."""
    ours = read_ours(capture, keys)
    theirs = read_theirs(capture, keys)
    result = Comparison(frames=len(ours))
    if len(ours) != len(theirs):
        result.differences.append(f"{len(ours)} frames, tshark {len(theirs)}")
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=False), start=1):
        result.protected += mine.protected
        result.decrypted += mine.protected and mine.plain is not None
        here_only = mine.plain is not None and other.plain is None
        for name in ("protected",) if here_only else ("protected", "eapol", "eap"):
            left, right = getattr(mine, name), getattr(other, name)
            if left != right:
                result.differences.append(f"frame {number}: {name} {left}, tshark {right}")
        if mine.plain is None and other.plain is not None:
            result.differences.append(f"frame {number}: opened by tshark only")
        elif here_only:
            result.here_only += 1
        elif mine.plain is not None and other.plain is not None:
            result.octets_compared += len(mine.plain)
            if mine.plain != other.plain:
                result.differences.append(
                    f"frame {number}: plaintext {mine.plain.hex()}, tshark {other.plain.hex()}"
                )
    return result


def read_ours(capture: Path, keys: Path | None) -> list[Frame]:
    """Every frame as airtoll reads it."""
    return [
        Frame(seen.protected, seen.eapol, seen.eap, seen.plain)
        for seen in capture_frames([capture], key_logs=[keys] if keys else [])
    ]


def read_theirs(capture: Path, keys: Path | None) -> list[Frame]:
    """Every frame as tshark reads it, with the plaintext from its hex dump."""
    frames = []
    for line in _tshark(capture, keys, "-T", "fields", *_each(_FIELDS)).splitlines():
        _, kind, protected, eapol, eap = (line.split("\t") + [""] * 5)[:5]
        frames.append(
            Frame(
                protected=kind.split(",")[0] == _DATA and protected[:1] in ("1", "T"),
                eapol=eapol != "",
                eap=eap != "",
            )
        )
    columns = ("-o", 'gui.column.format:"No.","%m"', "-P", "-x", "-Y", "wlan.fc.protected == 1")
    number = 0
    at: Frame | None = None
    for line in _tshark(capture, keys, *columns).splitlines():
        if re.fullmatch(r"\s*\d+\s*", line):
            number, at = int(line), None
        elif source := _SOURCE.fullmatch(line):
            at = frames[number - 1] if _PLAIN.match(source[1]) else None
            if at is not None:
                at.plain = b""
        elif at is not None and at.plain is not None and re.match(r"[0-9a-f]{4}  ", line):
            at.plain += bytes.fromhex(line[6:53])
    return frames


def _tshark(capture: Path, keys: Path | None, *arguments: str) -> str:
    command = ["tshark", "-2", "-n", "-r", str(capture), "-o", "wlan.enable_decryption:TRUE"]
    for line in keys.read_text().splitlines() if keys else []:
        if line.startswith('"'):
            command += ["-o", f"uat:80211_keys:{line}"]
    with tempfile.TemporaryDirectory() as folder:
        environment = {"WIRESHARK_CONFIG_DIR": folder, "PATH": "/usr/bin:/usr/local/bin:/bin"}
        done = subprocess.run(
            [*command, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env=environment,
        )
    return done.stdout


def _each(fields: tuple[str, ...]) -> list[str]:
    return [part for name in fields for part in ("-e", name)]


def keys_of(capture: Path, given: Path | None) -> Path | None:
    """The key file that belongs to a capture."""
    own = capture.with_name(capture.name + ".keys")
    shared = capture.with_name("80211_keys")
    return next((file for file in (own, shared) if file.exists()), given)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--keys", type=Path)
    parser.add_argument("--most", type=int, default=10, help="disagreements printed per capture")
    options = parser.parse_args()
    files = [
        file
        for place in options.places
        for file in (sorted(place.rglob("*")) if place.is_dir() else [place])
        if file.is_file() and _NAMES.search(file.name)
    ]
    total = Comparison()
    differing = 0
    for file in files:
        try:
            result = compare(file, keys_of(file, options.keys))
        except CaptureError as error:
            theirs = len(read_theirs(file, None))
            if theirs:
                differing += 1
                print(f"{file}: {error}; tshark reads {theirs} frames")
            continue
        total.frames += result.frames
        total.protected += result.protected
        total.decrypted += result.decrypted
        total.octets_compared += result.octets_compared
        total.here_only += result.here_only
        if result.differences:
            differing += 1
            print(f"{file}: {len(result.differences)} disagreements", flush=True)
            for text in result.differences[: options.most]:
                print(f"  {text[:200]}")
    print(
        f"{len(files)} captures, {total.frames} frames, {total.protected} protected, "
        f"{total.decrypted} decrypted ({total.here_only} here only), "
        f"{total.octets_compared} octets of plaintext compared; {differing} captures differ"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
