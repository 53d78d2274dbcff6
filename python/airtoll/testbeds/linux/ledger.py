"""The airtime ledger of a trial's traffic, as far as its capture shows it.

Takes a trial's capture of the air, its key log, when the traffic began and ended, and what a medium
counted; gives rows of the ledger (``airtime_*_s``). Back-off, interframe spaces and hosts are not
in it, because no frame carries them. Acknowledgements are in it where the capture shows their rate
or a medium has counted them. Virtual radios show a frame once for any number of transmissions by
the medium; the retries are then the medium's count, at the mean airtime of an attempt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from airtoll.border.answers import MediumStatistics
from airtoll.capture import Window, capture_report
from airtoll.capture.observations import LEDGER_KINDS
from airtoll.capture.reports import by_kind
from airtoll.testbeds.linux.job import Value

_KINDS: Final = LEDGER_KINDS | {"ack": ("control",)}


def values(
    air: Path,
    keys: Sequence[Mapping[str, str]],
    window: tuple[float, float],
    counts: MediumStatistics | None = None,
) -> tuple[list[Value], str | None]:
    """The ledger of the traffic between two Unix times (s), and what is missing in it, or None.

    ``counts``: a medium's statistics over the same time. Empty, with the reason, where a capture
    has no airtime or its data cannot be decrypted.
    Raises ``CaptureError`` for a file that is no capture.
    """
    report = capture_report([air], list(key_words(keys)), window=Window(*window))
    total = report.ledger["total"]
    airtime = by_kind(total["airtime_s"])
    if not airtime["payload"] + airtime["security"]:
        return [], "not taken apart: no data in the capture, or radio headers that name no rates"
    if not total["octets"]["payload"]:
        return [], "not taken apart: the data in the capture cannot be decrypted"
    parts = {part: sum(airtime[kind] for kind in kinds) for part, kinds in _KINDS.items()}
    if counts is not None:
        parts |= counted(parts, counts)
    rows = [Value(f"airtime_{part}_s", spent, "s") for part, spent in parts.items()]
    return [row for row in rows if row.value > 0 or row.metric != "airtime_ack_s"], None


def counted(parts: Mapping[str, float], counts: MediumStatistics) -> dict[str, float]:
    """Retries and acknowledgements (s) by a medium's statistics, beside the parts of a capture.

    A radio's time on the air is that of its frames, its retries and its responses.
    """
    radios = [radio for radio in counts["radios"] if radio["attempts"]]
    retry = sum(radio["air_s"] * radio["retries"] / radio["attempts"] for radio in radios)
    captured = sum(spent for part, spent in parts.items() if part not in ("retry", "ack"))
    total = sum(radio["air_s"] for radio in counts["radios"])
    return {"retry": retry, "ack": max(0.0, total - captured - retry)}


def key_words(keys: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """A key log's link keys as the reader of captures takes them; others are left out."""
    for key in keys:
        if key["kind"] == "wep":
            yield f"wep:{key['key']}"
        elif key["kind"] == "pmk":
            yield f"pmk:{key['key']}"
        elif key["kind"] == "passphrase":
            yield f"wpa-pwd:{quote(key['passphrase'], safe='')}:{quote(key['ssid'], safe='')}"
