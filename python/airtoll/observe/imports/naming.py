"""The policy that a file or its folder is named after, and the format of a file by its content."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from airtoll.errors import DatasetError, PolicyError
from airtoll.foreign_text import shown_line
from airtoll.observe.imports.documents import Document, documents, read_octets, text_of
from airtoll.policies import resolve

#: Endings of files that are read, and of their compression.
SUFFIXES: Final = (".json", ".flent", ".csv", ".pcap", ".pcapng", ".cap")
#: The same of files that are imported.
READINGS: Final = (".json", ".flent", ".csv")
_COMPRESSED: Final = (".gz", ".bz2", ".zst")
#: First words of names of policies; another word of a longer name is none of a policy.
_FIRST: Final = ("open", "wep", "wpa", "wpa2", "wpa3", "owe", "8021x", "wireguard", "ipsec")
#: Keys of the first document of a format.
_KEYS: Final = (
    ("iperf3", {"start", "intervals"}),
    ("iperf3", {"start", "end"}),
    ("iperf3", {"error"}),
    ("iperf3", {"event", "data"}),
    ("flent", {"metadata", "results"}),
    ("irtt", {"round_trips", "stats"}),
)


def policy_of(path: Path) -> str | None:
    """The policy that a file is named after (``wpa3-2.json``), else its folder (``wpa3/2.json``).

    A folder counts by its whole name or by the beginning of it.
    """
    return policy_in(stem_of(path)) or policy_in(path.absolute().parent.name, anywhere=False)


def policy_in(name: str, *, anywhere: bool = True) -> str | None:
    """The policy of a name, or of a part of its words: ``office-wpa2-down-3``."""
    whole = _resolved(name.lower())
    if whole is not None:
        return whole
    words = re.split(r"[-_. ]+", name.lower())
    for start in range(len(words) if anywhere else 1):
        if words[start] not in _FIRST:
            continue
        for end in range(len(words), start, -1):
            found = _resolved("-".join(words[start:end]))
            if found is not None:
                return found
    return None


def stem_of(path: Path) -> str:
    """The name of a file without the endings of its format."""
    name = path.name
    while Path(name).suffix.lower() in (*SUFFIXES, *_COMPRESSED):
        name = Path(name).stem
    return name


def _resolved(name: str) -> str | None:
    try:
        return resolve(name).name
    except PolicyError:
        return None


def format_of(path: Path) -> str:
    """``iperf3``, ``flent``, ``irtt`` or ``csv``, by the content of a file.

    Raises ``DatasetError`` that names the file for another content.
    """
    if ".csv" in {suffix.lower() for suffix in path.suffixes}:
        return "csv"
    try:
        octets = read_octets(path)
        text = text_of(octets, lenient=True)
        if not text.lstrip().startswith(("{", "[")):
            header = [word.strip().lower() for word in text.partition("\n")[0].split(",")]
            if {"metric", "value"} <= set(header):
                return "csv"
        if b"bits/sec" in octets[: 2**16] and b'"start"' not in octets[: 2**16]:
            # Its reader says that this is output for people.
            return "iperf3"
        found, _ = documents(text)
    except DatasetError as error:
        named = str(error).startswith(f"{path}:")
        raise error if named else DatasetError(f"{path}: {error}") from error
    return format_of_documents(path, found)


def format_of_documents(path: Path, found: list[Document]) -> str:
    """The same, of the documents of a file."""
    data = found[0].data
    keys = set(data) if isinstance(data, dict) else set()
    for fmt, own in _KEYS:
        if own <= keys:
            return fmt
    raise DatasetError(f"{path}: JSON, but none of iperf3 (--json), flent or irtt")


def left_out(path: Path, error: Exception) -> str:
    """``wpa3-3.json ends in the middle (line 200): left out``: a file that cannot be read."""
    name = shown_line(path.name)
    reason = why_left_out(path, error)
    joined = " " if reason.startswith("ends ") else ": "
    return f"{name}{joined}{reason}: left out"


def why_left_out(path: Path, error: Exception) -> str:
    """``ends in the middle (line 200)``: why a file cannot be read."""
    reason = str(error).removeprefix(f"{path}:").strip()
    ends = re.search(r"ends in the middle \(line \d+\)", reason)
    return ends[0] if ends else reason
