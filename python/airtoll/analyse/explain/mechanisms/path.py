"""Mechanisms beside the air: wires, path MTU, sleep, the measurement itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airtoll.analyse.explain.evidence import Flow, Reading, Setting
from airtoll.analyse.explain.mechanisms.predicted import (
    Mechanism,
    Predicted,
    Prior,
    Values,
    always,
    fixed,
    freed,
    limited,
    scaled,
    unchanged,
    usual_before,
)

#: Octets around an IP packet on Ethernet: header, FCS, preamble and interframe gap.
_ETHERNET: Final = 38
#: The largest packets in a tunnel that a path with a smaller MTU carries, octets: those of PPPoE,
#: mobile networks and further tunnels (1300 and less pass nearly everywhere).
_PASSES: Final = (1300.0, 1360.0, 1400.0)


def _wire_cap(flow: Flow, mbps: float) -> float:
    return 1e6 * mbps * flow.payload / (flow.packet + _ETHERNET)


def _wire(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """A wired link that both measurements cross.

    Where the first one was above its capacity, or below it, it is not the cause.
    """
    cap = _wire_cap(reading.flow, value[0])
    if reading.quantity == "cable_bps":
        return Predicted(cap, 0.02, below=0.05)
    if reading.quantity != "throughput_bps":
        return None
    octets = unchanged(setting, reading)
    if reading.before is not None and reading.before > 0.9 * cap:
        octets = freed(setting, reading, octets)
    return limited(octets, cap, 0.02, 0.0)


def _wire_before(setting: Setting, reading: Reading, value: Values) -> Predicted:
    return limited(usual_before(setting, reading), _wire_cap(reading.flow, value[0]), 0.02, 0.0)


def _prior_wire(_: Setting) -> Prior:
    return Prior(0.6)


WIRE = Mechanism(
    "wired link",
    "a wired link limits both measurements, not the air",
    _wire,
    fixed((10.0,), (100.0,), (100.0,), (1000.0,), (2500.0,)),
    _prior_wire,
    "look at the speed of every port and cable (ethtool eth0)",
    where="both",
    say=lambda v: f"{v[0]:.0f} Mb/s",
    before=_wire_before,
)


#: A throughput this far above the capacity of a wire did not cross it.
_ABOVE: Final = 1.02


def _slower_wire(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """A wired link of the second measurement alone, below what was measured before."""
    cap = _wire_cap(reading.flow, value[0])
    if reading.quantity == "cable_bps":
        return Predicted(cap, 0.02, below=0.05)
    if reading.quantity != "throughput_bps":
        return None
    if reading.after is not None and reading.after > _ABOVE * cap:
        return None
    return limited(unchanged(setting, reading), cap, 0.02, 0.0)


def _wires_below(setting: Setting) -> Sequence[Values]:
    most = max(air.before for air in setting.air.values())
    return tuple((mbps,) for mbps in (10.0, 100.0, 100.0) if 1e6 * mbps < most)


SLOWER_WIRE = Mechanism(
    "slower wire",
    "a cable or port of the second measurement is slower than that of the first one",
    _slower_wire,
    _wires_below,
    lambda setting: Prior(0.12 if _wires_below(setting) else 0.0),
    "look at the speed of every port and cable (ethtool eth0)",
    where="surroundings",
    say=lambda v: f"{v[0]:.0f} Mb/s",
)


def _black_hole(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """Large packets vanish on the path (RFC 2923, 2.1): TCP stalls, smaller packets pass.

    WireGuard's outer packets may be fragmented, so that large datagrams pass where the path lets
    fragments through.
    """
    share, datagrams, passes = value
    flow = reading.flow
    large = flow.packet > passes and (flow.mtu is None or flow.mtu > passes)
    octets = unchanged(setting, reading)
    if reading.quantity == "throughput_bps":
        if flow.transport == "tcp":
            if flow.mtu is not None and not large:
                return scaled(octets, 0.5, 0.1, 0.5)
            # A segment has the length that the path does not carry, whatever the reading says.
            return Predicted(share * octets.value, 0.4)
        if large and datagrams:
            return Predicted(1e-4 * octets.value, 1.0)
        return None
    if reading.quantity == "loss_ratio" and flow.transport == "udp" and large and datagrams:
        return Predicted(1.0, 0.1)
    return None


def _prior_black_hole(setting: Setting) -> Prior:
    if setting.change.tunnel:
        return Prior(1.0, "a tunnel makes packets longer than the path may carry")
    return Prior(0.02)


BLACK_HOLE = Mechanism(
    "path MTU black hole",
    "packets that are too large vanish on the path",
    _black_hole,
    fixed(
        *((s, d, m) for s in (1e-4, 0.003, 0.01, 0.03, 0.1) for d in (0.0, 1.0) for m in _PASSES)
    ),
    _prior_black_hole,
    "lower the tunnel's MTU to 1280, or clamp the MSS",
)


def _fragments(setting: Setting, reading: Reading, _: Values) -> Predicted | None:
    """Each full packet of a tunnel leaves as two fragments (RFC 791): more frames, more work."""
    air = setting.of(reading.flow)
    if reading.quantity != "throughput_bps" or air.fragmented is None:
        return None
    return scaled(unchanged(setting, reading), air.fragmented / air.after, 0.05, 0.05)


FRAGMENTS = Mechanism(
    "fragments",
    "each full packet of the tunnel travels in two fragments",
    _fragments,
    fixed(()),
    lambda setting: Prior(
        0.3 if any(air.fragmented is not None for air in setting.air.values()) else 0.0
    ),
    "lower the MTU of the tunnel's interface by what the tunnel adds",
)


def _power_save(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """Frames for a dozing station wait for a beacon (IEEE Std 802.11-2020, 11.2.3).

    A station that dozes only when idle has its throughput; one that dozes during traffic loses the
    throughput of TCP windows that wait.
    """
    delay_ms, busy = value
    octets = unchanged(setting, reading)
    if reading.quantity == "delay_s":
        return Predicted((reading.before or 3e-3) + delay_ms * 1e-3, 0.25)
    if reading.quantity != "throughput_bps" or not busy:
        return None
    if reading.flow.transport == "tcp":
        # A window of some hundred KB for each delayed round trip; the air limits the rest.
        return limited(octets, 8 * 262_144 / (delay_ms * 1e-3), 0.3, 0.5)
    return scaled(octets, 0.85, 0.1) if reading.flow.down else None


POWER_SAVE = Mechanism(
    "power save",
    "the station sleeps between beacons, and frames for it wait",
    _power_save,
    fixed(
        *((ms, 0.0) for ms in (8.0, 15.0, 25.0, 50.0, 100.0, 150.0, 250.0)),
        *((ms, 1.0) for ms in (25.0, 50.0, 100.0, 200.0, 300.0)),
    ),
    always(0.3),
    "switch power saving off for the test (iw dev wlan0 set power_save off)",
    where="surroundings",
    say=lambda v: f"{v[0]:.0f} ms{', during traffic, too' if v[1] else ''}",
)


def _short(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """A test that ends while TCP still opens its window (RFC 5681, 3.1), or one that lost early."""
    if reading.quantity == "busy_share":
        return Predicted(value[0] * unchanged(setting, reading).value, 0.25)
    if reading.quantity == "retry_share":
        # The window opens by bursts, which meet the acknowledgements as steady traffic does.
        return unchanged(setting, reading)
    if reading.quantity != "throughput_bps" or reading.flow.transport != "tcp":
        return None
    return scaled(unchanged(setting, reading), value[0], 0.15, 0.05)


SHORT = Mechanism(
    "short measurement",
    "the second measurement was too short for TCP",
    _short,
    fixed(*((share,) for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))),
    always(0.2),
    "measure for 30 s and leave out the first seconds (iperf3 -t 30 -O 5)",
    where="surroundings",
)


def _own_count(setting: Setting, reading: Reading, _: Values) -> Predicted | None:
    """A client that counts what it sent: more than the link can carry."""
    if reading.quantity != "throughput_bps" or reading.flow.transport != "udp":
        return None
    air = setting.of(reading.flow)
    impossible = reading.after is not None and reading.after > 1.05 * air.after
    if not impossible or reading.after is None:
        return None
    return Predicted(reading.after, 0.5)


OWN_COUNT = Mechanism(
    "sender's count",
    "the client counts what it sent, not what arrived: no link carries that much",
    _own_count,
    fixed(()),
    always(0.2),
    "take the receiver's count",
    where="surroundings",
)

PATH: Final = (WIRE, SLOWER_WIRE, BLACK_HOLE, FRAGMENTS, POWER_SAVE, SHORT, OWN_COUNT)
