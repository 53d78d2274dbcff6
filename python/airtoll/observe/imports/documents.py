"""The octets of a file, its text, and the JSON documents in it.

Files are read up to a limit, also where they are compressed (gzip, bzip2). Text may be UTF-8,
UTF-16 or UTF-32, with or without a byte order mark. Documents may follow one another and have lines
of text before, between and behind them. Numbers that JSON does not have but C prints (``nan``,
``-nan(ind)``, ``inf``) are unknown; ``5.924e 06`` is ``5.924e+06``.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from airtoll.errors import DatasetError
from airtoll.foreign_text import shown_line

#: Largest file, and largest text after decompression, octets.
MOST_OCTETS: Final = 128 * 2**20
#: Most values (numbers, texts, lists, objects) of a JSON text: they take up to 100 octets each.
MOST_VALUES: Final = 4_000_000
#: Most documents in a file.
MOST_DOCUMENTS: Final = 10_000
#: Most places of a file that begin like a document and are none.
_MOST_FAULTS: Final = 20

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Words of C libraries for numbers that JSON lacks.
_NO_NUMBER: Final = re.compile(
    r"(?<=[:\[,\s])(?:[-+]?(?:nan|inf(?:inity)?)(?:\([a-z0-9]{0,20}\))?|[-+]?1\.#[a-z]{1,9}0{0,9})"
    r"(?=\s{0,9}[,}\]])",
    re.IGNORECASE,
)
#: An exponent whose plus sign became a blank.
_BLANK_EXPONENT: Final = re.compile(r"(?<=[0-9])([eE]) (?=[0-9]{1,3}\s{0,9}[,}\]])")
#: The rest behind a fault of a file that is cut off: a part of a number or word, or nothing.
_CUT: Final = re.compile(r"[-+.\w]*\s*")
_BEGINS: Final = re.compile(r"^\{", re.MULTILINE)


#: Beginnings of pcapng and of pcap, in microseconds and nanoseconds, either octet order.
_CAPTURES: Final = (
    b"\n\r\r\n", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1",
)  # fmt: skip


@frozen
class Document:
    """A JSON document: the line that it begins in, its value, and the SHA-256 of its text."""

    line: int
    data: Any
    sha256: str


def read_octets(path: Path) -> bytes:
    """The octets of a file. Raises ``DatasetError`` if it is missing, unreadable or too large."""
    try:
        with path.open("rb") as file:
            octets = file.read(MOST_OCTETS + 1)
    except FileNotFoundError as error:
        raise DatasetError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DatasetError(f"{path}: cannot be read: {reason}") from error
    if len(octets) > MOST_OCTETS:
        raise DatasetError(f"has more than {_mib()}; import a shorter test or a part of the file")
    return octets


def text_of(octets: bytes, *, lenient: bool) -> str:
    """The text of a file; ``lenient``: octets that are no text become a replacement character.

    Raises ``DatasetError`` for damaged compression, an encoding that is not known, or a text
    that is too large.
    """
    plain = _decompressed(octets)
    if plain.startswith(_CAPTURES):
        raise DatasetError("is a capture: `airtoll capture report` and `capture compare` read it")
    encoding = next((name for bom, name in _BOMS if plain.startswith(bom)), None)
    encoding = encoding or json.detect_encoding(plain[:4])
    try:
        text = plain.decode(encoding, "replace" if lenient else "strict")
    except UnicodeDecodeError as error:
        name = encoding.upper().removesuffix("-SIG")
        raise DatasetError(
            f"is not {name} text (octet {error.object[error.start]:#04x}); save it as UTF-8"
        ) from error
    if sys.getsizeof(text) > 2 * MOST_OCTETS:
        raise DatasetError(f"its text takes more than {_mib(2)} of memory; import a part of it")
    return text


def documents(text: str) -> tuple[list[Document], list[str]]:
    """The JSON documents of a text, and its faults: places that begin like one and are none.

    A key that stands twice in an object keeps its last value, but iperf3's sums of the second
    direction get the keys that iperf3 gives them since 3.11. Raises ``DatasetError`` for a text
    that is too large or holds no document.
    """
    _refuse_bomb(text)
    found, faults = _parsed(text)
    if faults:
        cleaned = _BLANK_EXPONENT.sub(r"\1+", _NO_NUMBER.sub("null", text))
        if cleaned != text:
            found, faults = _parsed(cleaned)
    if not found:
        raise DatasetError(faults[0] if faults else "holds no JSON")
    return found, faults


def _decompressed(octets: bytes) -> bytes:
    opened: Any
    if octets[:2] == b"\x1f\x8b":
        opened = gzip.GzipFile(fileobj=io.BytesIO(octets))
    elif octets[:3] == b"BZh":
        opened = bz2.BZ2File(io.BytesIO(octets))
    else:
        return octets
    try:
        with opened:
            plain: bytes = opened.read(MOST_OCTETS + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"its compression is damaged: {error}") from error
    if len(plain) > MOST_OCTETS:
        raise DatasetError(
            f"holds more than {_mib()} after decompression; import a shorter test or a part of it"
        )
    return plain


def _mib(times: int = 1) -> str:
    return f"{times * MOST_OCTETS // 2**20} MiB"


def _refuse_bomb(text: str) -> None:
    values = text.count(",") + text.count("[") + text.count("{")
    if values > MOST_VALUES:
        raise DatasetError(
            f"holds about {values / 1e6:.0f} million values, more than {MOST_VALUES / 1e6:.0f} "
            "million; import a shorter test or a part of it"
        )


def _parsed(text: str) -> tuple[list[Document], list[str]]:
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=lambda _name: None)
    found: list[Document] = []
    faults: list[str] = []
    counted, line = 0, 1
    at = _first(text)
    while at is not None:
        line += text.count("\n", counted, at)
        counted = at
        try:
            data, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            faults.append(f"line {line}: {_reason(error, text)}")
            if len(faults) >= _MOST_FAULTS:
                break
            at = _next(text, at + 1)
            continue
        digest = hashlib.sha256(text[at:end].encode("utf-8", "replace")).hexdigest()
        documents_ = data if isinstance(data, list) else [data]
        for number, one in enumerate(documents_):
            own = digest if documents_ is not data else f"{digest}-{number}"
            found.append(Document(line, one, own))
        if len(found) > MOST_DOCUMENTS:
            raise DatasetError(
                f"holds more than {MOST_DOCUMENTS} documents; import a part of the file"
            )
        at = _following(text, end)
    return found, faults


def _first(text: str) -> int | None:
    """Where the first document begins.

    A list of documents (``jq -s``) is taken where it is the whole text: lines of iperf3's output
    for people begin with a bracket, too.
    """
    start = re.match(r"\s*(?:\{|\[(?=\s*\{))", text)
    if start:
        return start.end() - 1
    found = _next(text, 0)
    if found is not None:
        return found
    # Text before the document in its line.
    behind = text.find("{")
    return behind if behind >= 0 else None


def _next(text: str, at: int) -> int | None:
    found = _BEGINS.search(text, at)
    return found.start() if found else None


def _following(text: str, end: int) -> int | None:
    """Where the next document begins: right behind the last one, or at the start of a line."""
    space = re.compile(r"\s*").match(text, end)
    behind = space.end() if space else end
    return behind if text.startswith("{", behind) else _next(text, end)


def _reason(error: Exception, text: str) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return shown_line(str(error))
    if error.msg.startswith("Unterminated string") or _CUT.fullmatch(text, error.pos):
        last = text.rstrip().count("\n") + 1
        return f"a document ends in the middle (line {last}): the file is cut off"
    return f"is no JSON: {error.msg} (line {error.lineno} column {error.colno})"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys may stand twice.

    iperf3 3.7 to 3.10.1 print the sums of both directions of ``--bidir`` under the same keys:
    first those of the direction from the client, then those of the direction to it.
    """
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    found = {}
    for key, value in pairs:
        own = f"{key}_bidir_reverse" if key in found and key in _SUMS else key
        found[own] = value
    return found


_SUMS: Final = ("sum", "sum_sent", "sum_received")
