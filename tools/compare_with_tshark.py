"""Our reading of captures beside tshark's, frame by frame and octet by octet.

``compare_with_tshark.py FOLDER...`` takes folders (or files) of captures; gives every disagreement
on: number of frames, protected data frames, which of them open, EAPOL, EAP, the plaintext, key
messages, 4-way times from the last message 1, and join times.
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

from airtoll.capture import capture_frames, capture_report
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
    key_messages: int = 0
    joins: int = 0
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
    compare_joins(capture, keys, result)
    return result


#: Fields of tshark that joins are made of.
_JOIN_FIELDS = (
    "frame.number",
    "frame.time_epoch",
    "wlan.sa",
    "wlan.da",
    "wlan.bssid",
    "wlan.fc.retry",
    "wlan.fc.protected",
    "wlan.fc.type_subtype",
    "wlan.fixed.auth_seq",
    "wlan_rsna_eapol.keydes.key_info.key_type",
    "wlan_rsna_eapol.keydes.msgnr",
)
_AUTHENTICATION = 11
#: Times that differ by less are equal (s): tshark prints nanoseconds, a report has doubles.
_TOLERANCE = 1e-6


@dataclass
class Joins:
    """Key messages and times of a capture, by the rule of docs/reference/captures.md."""

    messages: list[tuple[int, int]] = field(default_factory=list)
    four_way_s: list[float] = field(default_factory=list)
    join_s: list[float] = field(default_factory=list)


def tshark_joins(capture: Path, keys: Path | None) -> Joins:
    """Key messages, 4-way times and join times from tshark's frames.

    A frame with the retry bit is left out. For each pair of station and AP: a station's
    authentication frame 1 starts a join, unless one is open. Message 1 in clear starts a 4-way
    handshake anew; message 4 in clear ends it, and ends the open join. Encrypted ones renew keys.
    """
    found = Joins()
    asked: dict[tuple[str, str], float] = {}
    first: dict[tuple[str, str], float] = {}
    for line in _tshark(capture, keys, "-T", "fields", *_each(_JOIN_FIELDS)).splitlines():
        row = (line.split("\t") + [""] * len(_JOIN_FIELDS))[: len(_JOIN_FIELDS)]
        number, at, source, target, bssid, retry, protected, kind, sequence, pairwise, message = row
        if retry[:1] in ("1", "T") or not (sequence or message):
            continue
        station = target if source == bssid else source
        pair, at_s = (station, bssid), float(at)
        if kind and int(kind, 0) == _AUTHENTICATION and int(sequence or "0", 0) == 1:
            if source == station:
                asked.setdefault(pair, at_s)
            continue
        if not message or pairwise[:1] not in ("1", "T"):
            continue
        found.messages.append((int(number), int(message)))
        if protected[:1] in ("1", "T"):
            continue
        if message == "1":
            first[pair] = at_s
        elif message == "4" and pair in first:
            found.four_way_s.append(at_s - first.pop(pair))
            if pair in asked:
                found.join_s.append(at_s - asked.pop(pair))
    return found


def airtoll_joins(capture: Path, keys: Path | None) -> Joins:
    """The same from a report."""
    found = Joins()
    report = capture_report([capture], key_logs=[keys] if keys else [])
    for session in report.sessions:
        steps = session["steps"]
        columns = zip(steps["frame"], steps["what"], steps["again"], strict=True)
        for number, what, again in columns:
            if what.startswith("4-way ") and not again:
                found.messages.append((number, int(what.removeprefix("4-way "))))
        if session["four_way_time_s"] is not None:
            found.four_way_s.append(session["four_way_time_s"])
            if session["join_time_s"] is not None:
                found.join_s.append(session["join_time_s"])
    found.messages.sort()
    return found


def compare_joins(capture: Path, keys: Path | None, result: Comparison) -> None:
    """Add the disagreements on key messages and times to ``result``."""
    ours, theirs = airtoll_joins(capture, keys), tshark_joins(capture, keys)
    result.key_messages += len(ours.messages)
    result.joins += len(ours.join_s)
    here, there = set(ours.messages), set(theirs.messages)
    result.differences += [
        f"frame {number}: key message {message} in tshark only"
        for number, message in sorted(there - here)
    ]
    result.differences += [
        f"frame {number}: key message {message} here only"
        for number, message in sorted(here - there)
    ]
    for name in ("four_way_s", "join_s"):
        left, right = sorted(getattr(ours, name)), sorted(getattr(theirs, name))
        far = any(abs(a - b) > _TOLERANCE for a, b in zip(left, right, strict=False))
        if len(left) != len(right) or far:
            result.differences.append(f"{name}: {left}, tshark {right}")


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
        total.key_messages += result.key_messages
        total.joins += result.joins
        if result.differences:
            differing += 1
            print(f"{file}: {len(result.differences)} disagreements", flush=True)
            for text in result.differences[: options.most]:
                print(f"  {text[:200]}")
    print(
        f"{len(files)} captures, {total.frames} frames, {total.protected} protected, "
        f"{total.decrypted} decrypted ({total.here_only} here only), "
        f"{total.octets_compared} octets of plaintext, {total.key_messages} key messages and "
        f"{total.joins} join times compared; {differing} captures differ"
    )
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
