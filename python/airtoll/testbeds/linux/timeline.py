"""Times and message counts of a trial's negotiation, from its two captures.

Takes the capture of the air and of the wire, and the trial's keys; gives association, EAP, key
handshake and hand-over times, messages by protocol, and whether data was protected on the air.
The capture reader measures all of them: the definitions are those of ``airtoll capture report``
(docs/reference/captures.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from airtoll.border.answers import RoamReport, SessionReport
from airtoll.capture import CaptureReport, Selection, capture_report
from airtoll.capture.reports import SessionTime
from airtoll.errors import CaptureError
from airtoll.observe.metrics import METRICS
from airtoll.testbeds.linux.job import Value

#: Times of a session that are metrics of the same name.
_TIMES: tuple[SessionTime, ...] = (
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "negotiation_time_s",
)


@frozen
class Timeline:
    """The joins of a trial's stations, as its captures show them."""

    report: CaptureReport

    def first(self, station: str) -> SessionReport | None:
        """The first session of a station (MAC address) that connected, or None."""
        for session in self.report.sessions:
            if session["station"] == station and session["outcome"] == "connected":
                return session
        return None

    def moves(self, station: str) -> list[RoamReport]:
        """The moves of a station to another access point during its data."""
        return [roam for roam in self.report.data["roams"] if roam["station"] == station]

    def protected(self, station: str) -> tuple[int, int]:
        """Data frames with and without the Protected bit, EAPOL not counted."""
        mine = [s for s in self.report.sessions if s["station"] == station]
        return sum(s["data_protected"] for s in mine), sum(s["data_clear"] for s in mine)


def read(
    air: Path,
    wire: Path | None = None,
    owners: Mapping[str, str] | None = None,
    keys: Sequence[str] = (),
    key_logs: Sequence[Path] = (),
    inside: Sequence[Path] = (),
) -> Timeline:
    """The timeline of a trial's captures.

    ``owners``: IP address -> MAC address of its station; other addresses are learnt from ARP, DHCP
    and frames on the air. ``keys``: as :func:`airtoll.capture.capture_report` takes them; without
    them key messages that are encrypted are not seen (the group handshake of WPA). ``key_logs``:
    with the keys of ESP, so that messages inside it are seen. ``inside``: captures on the
    interfaces of tunnels that hold others.

    Raises ``CaptureError`` when a file is no capture, or the first one holds no 802.11 frame.
    """
    files = [air, *([wire] if wire is not None and wire.exists() else []), *inside]
    report = capture_report(
        files, keys, key_logs, owners=owners or {}, selection=Selection(steps=False)
    )
    kinds = report.data["kinds"]
    if not kinds["management"] + kinds["control"] + kinds["data"]:
        raise CaptureError(f"{air}: no 802.11 frame is in the capture of the air")
    return Timeline(report)


def pause_s(session: SessionReport) -> float:
    """The time between the link's last message and the tunnel's first: the testbed's own.

    A station would begin at once; the testbed reads back what the link negotiated first.
    """
    link, tunnel = 0.0, None
    for phase in session["phases"]:
        if phase["frames"] and phase["phase"] == "tunnel":
            tunnel = phase["at_s"]
        elif phase["frames"] and phase["phase"] not in ("rekey", "end"):
            link = max(link, phase["at_s"] + phase["duration_s"])
    return 0.0 if tunnel is None else max(0.0, tunnel - link)


def values(timeline: Timeline, station: str, name: str) -> Iterator[Value]:
    """The rows of one station: ``station`` is its MAC address, ``name`` its name in the study.

    Times are those of the first connection, in seconds; the capture point of EAP is the air.
    """
    session = timeline.first(station)
    if session is not None:
        for metric in _TIMES:
            if (taken := session[metric]) is not None:
                if metric == "negotiation_time_s":
                    taken -= pause_s(session)
                yield Value(metric, taken, "s", station=name)
        messages = session["authentication_messages"]
        yield Value("authentication_messages", float(messages), "1", station=name)
        for protocol, count in session["message_counts"].items():
            if protocol in METRICS:
                yield Value(protocol, float(count), "1", station=name)
    gaps = [roam["handover_gap_s"] for roam in timeline.moves(station)]
    if gaps:
        yield Value("handover_gap_s", max(gaps), "s", station=name)
