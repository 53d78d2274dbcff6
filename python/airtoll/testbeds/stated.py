"""Where a study states what the resolved scenario holds.

Takes the native code's problem with a resolved scenario (the path of a field, its value, what is
allowed); gives one line that names the study's key and the study's value.
"""

from __future__ import annotations

import re
from typing import Any, Final

from airtoll._native import InvalidScenario
from airtoll.plan import Cell
from airtoll.study import Station

_CATEGORIES: Final = ("background", "best_effort", "video", "voice")
#: Resolved field -> key of the scenario.
_BSS: Final = {
    "aggregation.ampdu_max_octets": "ampdu_max_octets",
    "aggregation.amsdu_max_octets": "amsdu_max_octets",
    "aggregation.window": "block_ack_window",
    "band": "band",
    "basic_rates_mbps": "basic_rates_mbps",
    "beacons.interval_us": "beacon_interval_tu",
    "coding": "coding",
    "cw_max": "cw_max",
    "cw_min": "cw_min",
    "deauthenticate_at_s": "join.deauthenticate_at_s",
    "fragmentation_threshold_octets": "fragmentation_threshold_octets",
    "frame_burst_us": "frame_bursting_us",
    "group_rekey_on_leave": "join.group_rekey_on_leave",
    "group_rekey_s": "join.group_rekey_s",
    "guard_interval_ns": "guard_interval_ns",
    "max_attempts": "retry_limit",
    "ofdma": "ofdma",
    "restart_at_s": "ap.restart_at_s",
    "rate.control": "mcs",
    "rate.mbps": "rate_mbps",
    "rate.mcs": "mcs",
    "rate.streams": "streams",
    "width_mhz": "width_mhz",
}
_NODE: Final = {
    "frame_burst_us": "frame_bursting_us",
    "mtu_octets": "mtu_octets",
    "power_save.listen_interval": "listen_interval",
    "power_save.retrieval": "retrieval",
    "power_save.twt.broadcast": "twt_broadcast",
    "power_save.twt.duration_us": "twt_duration_ms",
    "power_save.twt.interval_us": "twt_interval_ms",
    "queue.airtime_fairness": "airtime_fairness",
    "queue.max_delay_ms": "queue_max_delay_ms",
    "queue.packets": "queue_packets",
    "rate.control": "mcs",
    "rate.mbps": "rate_mbps",
    "rate.mcs": "mcs",
    "rate.streams": "streams",
    "tunnels.mtu_octets": "tunnel_mtu_octets",
}
_LINK: Final = {
    "delay_s": "wired.delay_us",
    "rate_bps": "wired.rate_mbps",
    "loss_ratio": "wired.loss_ratio",
}
_WHOLE: Final = {"association_limit_s": "join.limit_s"}
#: Resolved field of a flow -> key of the traffic.
_FLOW: Final = {
    "pattern.answer_octets": "answer_bytes",
    "pattern.octets": "transfer_bytes",
    "pattern.query_octets": "query_bytes",
    "pattern.rate_bps": "offered_mbps",
    "pattern.request_octets": "request_bytes",
    "pattern.response_octets": "response_bytes",
    "transport.ack_every": "delayed_ack_segments",
    "transport.delayed_ack_segments": "delayed_ack_segments",
    "transport.delayed_ack_timeout_ms": "delayed_ack_ms",
    "transport.hystart": "hystart",
    "transport.loss_detection": "loss_detection",
    "transport.mss": "mss_bytes",
    "transport.receive_window": "window_kbytes",
    "transport.socket_buffer_octets": "socket_buffer_kbytes",
    "transport.window_octets": "window_kbytes",
}


def in_study(cell: Cell, problem: InvalidScenario) -> str:
    """The problem in the words of the study: its key, its value, what is allowed."""
    field, value, allowed = problem.field, problem.value, problem.allowed
    found = _stated(cell, field) if field else None
    if found is None:
        where = f"scenario.{cell.scenario}"
        return f"{where}: resolved field {field} is {value}: {allowed}" if field else allowed
    place, own = found
    return f"{place} is {_shown(own) if own is not None else value}: {allowed}"


def _stated(cell: Cell, field: str) -> tuple[str, Any] | None:
    """The key of the study and its value (``None``: not stated there)."""
    table, _, rest = field.partition(".")
    number = re.search(r"\[(\d+)\]$", table)
    name = table.partition("[")[0]
    own = re.sub(r"\[\d+\]", "", rest)
    scenario = f"scenario.{cell.scenario}"
    if name in ("duration_s", "warm_up_s"):
        return f"traffic.{cell.traffic}.{name}", getattr(cell.load, name)
    if name in _WHOLE:
        return f"{scenario}.{_WHOLE[name]}", _value(cell.settings, _WHOLE[name])
    if name == "bss":
        key = _edca(rest) or _BSS.get(own)
        return None if key is None else (f"{scenario}.{key}", _value(cell.settings, key))
    if name == "links" and own in _LINK and number is not None and number[1] == "0":
        return f"{scenario}.{_LINK[own]}", _value(cell.settings, _LINK[own])
    if name == "nodes" and number is not None:
        key = _edca(rest) or _NODE.get(own)
        return None if key is None else _of_node(cell, int(number[1]), key)
    if name == "flows" and number is not None:
        return _of_flow(cell, int(number[1]), own)
    return None


def _of_node(cell: Cell, number: int, key: str) -> tuple[str, Any]:
    """A value of a station's own stands before that of the scenario."""
    scenario = f"scenario.{cell.scenario}"
    stations = cell.settings.stations
    if number < len(stations) and key in Station.model_fields:
        own = getattr(stations[number], key)
        if own is not None or not hasattr(cell.settings, key):
            return f"{scenario}.stations[{number}].{key}", own
    return f"{scenario}.{key}", _value(cell.settings, key)


def _of_flow(cell: Cell, number: int, own: str) -> tuple[str, Any] | None:
    from airtoll.testbeds.resolve import scenario as resolved

    flow = resolved(cell).flows[number].name
    load: Any = cell.load
    place = f"traffic.{cell.traffic}"
    for one in cell.load.beside:
        if flow.startswith(f"{one.name}-"):
            load, place = one, f"{place}.beside[{one.name}]"
    key = _FLOW.get(own)
    if own == "pattern.payload_octets":
        key = "payload_bytes" if load.transport == "udp" else "write_bytes"
    return None if key is None else (f"{place}.{key}", getattr(load, key))


def _edca(rest: str) -> str | None:
    """``edca_parameters[2].cw_min`` as the key of the category."""
    match = re.fullmatch(r"edca_parameters\[(\d)\]\.(\w+)", rest)
    return match and f"edca_parameters.{_CATEGORIES[int(match[1])]}.{match[2]}"


def _value(table: Any, key: str) -> Any:
    for part in key.split("."):
        table = getattr(table, part, None)
    return table


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_shown, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)
