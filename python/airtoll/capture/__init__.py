"""Captures: timelines, decryption and the airtime ledger of pcap and pcapng files.

Takes files; gives reports and observations. Never needs root or a radio.
"""

from airtoll.capture.frames import CapturedFrame, capture_frames
from airtoll.capture.observations import observations
from airtoll.capture.page import page
from airtoll.capture.reports import (
    CaptureReport,
    Selection,
    Window,
    capture_report,
    watch_capture,
    write_capture_report,
)
from airtoll.capture.wanted import wanted_keys

__all__ = [
    "CaptureReport",
    "CapturedFrame",
    "Selection",
    "Window",
    "capture_frames",
    "capture_report",
    "observations",
    "page",
    "wanted_keys",
    "watch_capture",
    "write_capture_report",
]
