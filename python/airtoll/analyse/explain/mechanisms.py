"""What each mechanism predicts: one function per mechanism from a reading to its value after.

A mechanism may have one unknown parameter with a range of values, over which its likelihood is
averaged: a mechanism that can predict anything is thereby worth less than one that predicts the
reading. Sources of the mechanisms and of their sizes stand beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import frozen

from airtoll.analyse.explain.evidence import FACTORS, Air, Flow, Reading, Setting

#: Standard deviation of a prediction by the air alone, of the logarithm of a throughput.
_AIR: Final = 0.04
#: The same where a mechanism is known to its order of magnitude.
_ROUGH: Final = 0.2
#: Standard deviation of a share that a mechanism leaves as it was.
_SHARE: Final = 0.015
#: Standard deviation of a delay (logarithm) that a mechanism leaves as it was.
_DELAY: Final = 0.35


@frozen
class Predicted:
    """Value after, and its standard deviation: of the logarithm for factors, else of the share."""

    value: float
    deviation: float


@frozen
class Mechanism:
    """A cause with the words for it.

    ``predicts``: from the setting, a reading and a value of the parameter to the value after; None:
    it leaves this reading as octets alone do. ``values``: of the parameter. ``prior``: weight
    before any reading, from the setting (0: it cannot be the cause). ``evidence``: what would
    confirm it. ``remedy``: what the reader can do.
    """

    name: str
    words: str
    predicts: Callable[[Setting, Reading, float], Predicted | None]
    values: Sequence[float]
    prior: Callable[[Setting], float]
    remedy: str
    parameter: str = ""


def unchanged(setting: Setting, reading: Reading) -> Predicted:
    """Octets alone: throughput by what the air carries of both policies, all else as before."""
    before = reading.before
    if reading.quantity == "throughput_bps":
        air = setting.air[reading.flow]
        if before is None:
            # Hosts and the air of a home take a fifth off what a clear link carries.
            return Predicted(0.85 * air.after, 0.25)
        return Predicted(before * air.after / air.before, _AIR)
    if reading.quantity in FACTORS:
        deviation = _DELAY if reading.quantity == "delay_s" else 0.25
        usual = 3e-3 if reading.quantity == "delay_s" else 10.0
        return Predicted(usual if before is None else before, deviation if before else 1.0)
    usual = {"retry_share": 0.08}.get(reading.quantity, 0.0)
    if before is None:
        return Predicted(usual, 0.05)
    return Predicted(before, _SHARE + 0.3 * math.sqrt(max(before, 0.0)) * 0.2)


def _efficiency(setting: Setting, reading: Reading) -> float:
    """The share of what the air carries that was measured before; 1 where it is unknown."""
    air = setting.air[reading.flow]
    if reading.before is None or reading.before <= 0:
        return 0.85
    return min(1.0, reading.before / air.before)


def _capped(setting: Setting, reading: Reading, cap: float, deviation: float) -> Predicted:
    """Throughput under a limit of the air: it meets the losses of the link in part."""
    octets = unchanged(setting, reading)
    loss = math.log(_efficiency(setting, reading))
    wide = math.hypot(deviation, loss / 3)
    return Predicted(min(octets.value, cap * math.exp(loss / 2)), wide)


def _limited(octets: Predicted, cap: float, deviation: float) -> Predicted:
    """Throughput under a limit that is not of the air."""
    value = min(octets.value, cap)
    near = 1 / (1 + (octets.value / cap) ** 8) if cap > 0 else 0.0
    return Predicted(value, deviation * (1 - near) + octets.deviation * near)


def _octets(_: Setting, __: Reading, ___: float) -> Predicted | None:
    return None


def _no_aggregation(setting: Setting, reading: Reading, _: float) -> Predicted | None:
    if reading.quantity == "throughput_bps":
        return _capped(setting, reading, setting.air[reading.flow].single, 0.12)
    if reading.quantity == "mpdus_per_frame":
        return Predicted(1.0, 0.1)
    return None


def _legacy(setting: Setting, reading: Reading, _: float) -> Predicted | None:
    if reading.quantity == "throughput_bps":
        legacy = setting.air[reading.flow].legacy
        return None if legacy is None else _capped(setting, reading, legacy, 0.12)
    if reading.quantity == "legacy_share":
        return Predicted(1.0, 0.05)
    if reading.quantity == "mpdus_per_frame":
        return Predicted(1.0, 0.1)
    return None


def _software_cipher(setting: Setting, reading: Reading, ns_per_octet: float) -> Predicted | None:
    """A CPU that ciphers the octets of every frame: one limit in octets per second, both ways."""
    if reading.quantity != "throughput_bps":
        return None
    packet = reading.flow.packet
    # Besides the octets a driver spends some microseconds on each frame.
    seconds = (ns_per_octet * packet + 40 * ns_per_octet) * 1e-9
    return _limited(unchanged(setting, reading), 8 * reading.flow.payload / seconds, 0.1)


def _of_profile(setting: Setting, reading: Reading, number: float) -> Predicted | None:
    """The throughput with the costs of a device's profile."""
    if reading.quantity != "throughput_bps" or not setting.device_bps:
        return None
    caps = list(setting.device_bps.values())[int(number) % len(setting.device_bps)]
    cap = caps.get(reading.flow)
    return None if cap is None else _limited(unchanged(setting, reading), cap, 0.15)


def _serial_card(setting: Setting, reading: Reading, us: float) -> Predicted | None:
    """A card that does nothing else while it ciphers a frame: a fixed time more per frame."""
    if reading.quantity != "throughput_bps":
        return None
    octets = unchanged(setting, reading)
    # The receiver's acknowledgement packets are ciphered, too.
    frames = 1.5 if reading.flow.transport == "tcp" else 1.0
    bits = 8 * reading.flow.payload
    return Predicted(bits / (bits / octets.value + frames * us * 1e-6), octets.deviation + 0.02)


def _delimiters(setting: Setting, reading: Reading, extra_octets: float) -> Predicted | None:
    """Delimiters before every encrypted MPDU of an A-MPDU (ath9k inserts ten more, 40 octets)."""
    if reading.quantity != "throughput_bps":
        return None
    air = setting.air[reading.flow]
    if not air.aggregates:
        return None
    octets = unchanged(setting, reading)
    bits = 8 * reading.flow.payload
    longer = bits / octets.value + 8 * extra_octets / air.rate_bps
    return Predicted(bits / longer, octets.deviation)


def _spacing(setting: Setting, reading: Reading, us: float) -> Predicted | None:
    """Minimum MPDU start spacing (IEEE Std 802.11-2020, 9.4.2.55.3) that encryption asks for."""
    if reading.quantity != "throughput_bps":
        return None
    air = setting.air[reading.flow]
    if not air.aggregates:
        return None
    octets = unchanged(setting, reading)
    bits = 8 * reading.flow.payload
    on_air = 8 * (reading.flow.packet + 50) / air.rate_bps
    longer = bits / octets.value + max(0.0, us * 1e-6 - on_air)
    return Predicted(bits / longer, octets.deviation)


def _power_save(setting: Setting, reading: Reading, delay_ms: float) -> Predicted | None:
    """Frames for a dozing station wait for a beacon: delay of part of a beacon interval."""
    octets = unchanged(setting, reading)
    if reading.quantity == "delay_s":
        return Predicted((reading.before or 3e-3) + delay_ms * 1e-3, 0.3)
    if reading.quantity == "throughput_bps" and reading.flow.transport == "tcp":
        # A window of 64 KiB to 4 MiB per delayed round trip; the air limits the rest.
        window = 8 * 262_144 / (delay_ms * 1e-3)
        return _limited(octets, window, 0.8)
    if reading.quantity == "throughput_bps" and reading.flow.down:
        return Predicted(0.9 * octets.value, 0.12)
    return None


def _black_hole(setting: Setting, reading: Reading, share: float) -> Predicted | None:
    """Large packets vanish on the path: TCP stalls, small datagrams and a smaller MTU pass."""
    flow = reading.flow
    octets = unchanged(setting, reading)
    passes = flow.mtu is not None and flow.mtu <= 1300
    large = flow.packet > 1350 and not passes
    if reading.quantity == "throughput_bps":
        if flow.transport == "tcp":
            if passes:
                return Predicted(0.45 * octets.value, 0.5)
            return Predicted(share * octets.value, 0.6)
        return Predicted(1e-3 * octets.value, 1.0) if large else None
    if reading.quantity == "loss_ratio" and flow.transport == "udp" and large:
        return Predicted(1.0, 0.1)
    return None


def _host(setting: Setting, reading: Reading, packets_per_s: float) -> Predicted | None:
    """A CPU that forwards or ends a tunnel: a limit in packets per second, both ways."""
    if reading.quantity == "throughput_bps":
        cap = 8 * reading.flow.payload * packets_per_s
        if reading.flow.transport == "tcp":
            # An acknowledgement for every second segment passes the same CPU.
            cap /= 1.25
        return _limited(unchanged(setting, reading), cap, 0.1)
    if reading.quantity == "loss_ratio" and reading.flow.transport == "udp":
        cap = 8 * reading.flow.payload * packets_per_s
        offered = setting.air[reading.flow].after
        return Predicted(max(0.0, 1 - cap / offered) if cap < offered else 0.0, 0.3)
    return None


def _wire(setting: Setting, reading: Reading, mbps: float) -> Predicted | None:
    """A wired link that both measurements meet."""
    if reading.quantity != "throughput_bps":
        return None
    payload = reading.flow.payload
    cap = 1e6 * mbps * payload / (payload + (66 if reading.flow.transport == "udp" else 90))
    octets = unchanged(setting, reading)
    if octets.value < 0.9 * cap and (reading.before is None or reading.before < 0.9 * cap):
        return None
    return Predicted(min(cap, max(octets.value, cap)), 0.02)


def _weak(setting: Setting, reading: Reading, retries: float) -> Predicted | None:
    """Frames are lost on a weak link: retries, lower rates, both ways."""
    octets = unchanged(setting, reading)
    if reading.quantity == "retry_share":
        return Predicted(max(retries, reading.before or 0.0), 0.08)
    if reading.quantity == "throughput_bps":
        return Predicted(octets.value * (1 - retries) ** 1.5, 0.25)
    if reading.quantity == "loss_ratio":
        return Predicted((reading.before or 0.0) + retries**4, 0.05)
    if reading.quantity == "delay_s":
        return Predicted((reading.before or 3e-3) * (1 + 3 * retries), 0.5)
    return None


def _reordered(setting: Setting, reading: Reading, share: float) -> Predicted | None:
    """Packet numbers leave the sender out of order, and the receiver drops each (replay check)."""
    several = reading.flow.flows > 1
    share = share if several else 0.02 * share
    octets = unchanged(setting, reading)
    if reading.quantity == "reordered_share":
        return Predicted(share, 0.05)
    if reading.quantity == "loss_ratio" and reading.flow.transport == "udp":
        return Predicted((reading.before or 0.0) + share, 0.05)
    if reading.quantity == "throughput_bps":
        if reading.flow.transport == "udp":
            return Predicted(octets.value * (1 - share), 0.08)
        return Predicted(octets.value * (0.3 if several else 0.97), 0.6 if several else 0.08)
    return None


def _rate_control(setting: Setting, reading: Reading, steps: float) -> Predicted | None:
    """A lower MCS than the link allows, without more retries."""
    if reading.quantity != "throughput_bps":
        return None
    slower = setting.air[reading.flow].slower
    at = int(steps) - 1
    if at >= len(slower):
        return None
    air = setting.air[reading.flow]
    octets = unchanged(setting, reading)
    return Predicted(octets.value * slower[at] / air.after, 0.08)


def _group(setting: Setting, reading: Reading, share: float) -> Predicted | None:
    """Broadcasts at the lowest rate take a share of the air."""
    octets = unchanged(setting, reading)
    if reading.quantity == "throughput_bps":
        return Predicted(octets.value * (1 - share), 0.06)
    if reading.quantity == "delay_s":
        return Predicted((reading.before or 3e-3) / (1 - share), 0.4)
    return None


def _neighbour(setting: Setting, reading: Reading, share: float) -> Predicted | None:
    """Another network takes a share of the air, and collides now and then."""
    octets = unchanged(setting, reading)
    if reading.quantity == "throughput_bps":
        return Predicted(octets.value * (1 - share), 0.12)
    if reading.quantity == "retry_share":
        return Predicted((reading.before or 0.05) + 0.25 * share, 0.06)
    if reading.quantity == "delay_s":
        return Predicted((reading.before or 3e-3) * (1 + 4 * share), 0.5)
    return None


def _measurement(setting: Setting, reading: Reading, kind: float) -> Predicted | None:
    """The measurement itself: a value that no link can carry, or a client that counts its own."""
    if reading.quantity != "throughput_bps":
        return None
    air = setting.air[reading.flow]
    octets = unchanged(setting, reading)
    impossible = reading.after is not None and reading.after > 1.03 * air.after
    if kind == 0:
        return Predicted(reading.after or octets.value, 0.1) if impossible else octets
    # A test that ends while TCP still opens its window.
    if reading.flow.transport == "tcp":
        return Predicted(octets.value * kind, 0.15)
    return None


def _always(weight: float) -> Callable[[Setting], float]:
    return lambda _: weight


def _when(condition: Callable[[Setting], bool], yes: float, no: float) -> Callable[[Setting], float]:
    return lambda setting: yes if condition(setting) else no


def _geometric(first: float, last: float, count: int) -> tuple[float, ...]:
    ratio = (last / first) ** (1 / (count - 1))
    return tuple(first * ratio**n for n in range(count))


MECHANISMS: Final[Mapping[str, Mechanism]] = {
    one.name: one
    for one in (
        Mechanism(
            "octets", "the octets of security alone: nothing is wrong", _octets, (0.0,),
            _always(2.0), "nothing to mend",
        ),
        Mechanism(
            "no aggregation", "frames are not aggregated under this policy", _no_aggregation,
            (0.0,), _when(lambda s: any(a.aggregates for a in s.air.values()), 1.0, 0.0),
            "look for a driver or firmware update; try the policy without 802.11w",
        ),
        Mechanism(
            "legacy rates", "the policy forbids 802.11n rates: the link falls back to 54 Mb/s",
            _legacy, (0.0,), _when(lambda s: s.falls_back, 4.0, 0.1),
            "use AES (CCMP) instead of TKIP or WEP",
        ),
        Mechanism(
            "software cipher", "a CPU ciphers the frames, on the station or on the access point",
            _software_cipher, _geometric(2.0, 1500.0, 28),
            _when(lambda s: s.encrypts and not s.tunnel, 1.0, 0.15),
            "choose a cipher that the radio has in hardware", "ns per octet",
        ),
        Mechanism(
            "CPU of the profile", "the device's CPU ciphers or forwards, by its profile",
            _of_profile, (0.0, 1.0), _when(lambda s: bool(s.device_bps), 2.5, 0.0),
            "choose a cipher that the radio has in hardware; end tunnels on a faster device",
        ),
        Mechanism(
            "serial card", "the card is idle on the air while it ciphers a frame",
            _serial_card, _geometric(3.0, 480.0, 24), _when(lambda s: s.encrypts, 0.6, 0.05),
            "no setting mends it: another card does", "us per frame",
        ),
        Mechanism(
            "MPDU delimiters", "the driver puts more delimiters before encrypted MPDUs",
            _delimiters, (40.0, 80.0), _when(lambda s: s.encrypts, 0.5, 0.05),
            "no setting mends it", "octets per MPDU",
        ),
        Mechanism(
            "MPDU spacing", "encrypted MPDUs of an A-MPDU keep a minimum distance",
            _spacing, (4.0, 8.0, 16.0), _when(lambda s: s.encrypts, 0.4, 0.05),
            "no setting mends it", "us",
        ),
        Mechanism(
            "power save", "the station sleeps between beacons", _power_save,
            (10.0, 25.0, 50.0, 100.0, 200.0, 300.0), _always(0.5),
            "switch Wi-Fi power saving off for the test (iw dev wlan0 set power_save off)", "ms",
        ),
        Mechanism(
            "path MTU black hole", "packets that are too large vanish on the path", _black_hole,
            (0.003, 0.01, 0.03, 0.1), _when(lambda s: s.tunnel, 1.0, 0.05),
            "lower the tunnel's MTU to 1280, or clamp the MSS",
        ),
        Mechanism(
            "CPU of a host", "the CPU of a host, router or tunnel end limits", _host,
            _geometric(500.0, 400_000.0, 32), _when(lambda s: s.tunnel, 1.5, 0.3),
            "look at the CPU's load; end the tunnel on another device", "packets/s",
        ),
        Mechanism(
            "wired link", "a wired link behind the access point limits", _wire,
            (10.0, 100.0, 1000.0, 2500.0), _always(0.5),
            "look at the speed of every port and cable", "Mb/s",
        ),
        Mechanism(
            "weak level", "frames are lost on a weak link and sent again", _weak,
            (0.2, 0.3, 0.4, 0.5, 0.6, 0.7), _always(0.6),
            "measure both at the same place, near the access point", "share of retries",
        ),
        Mechanism(
            "packet numbers reordered", "packet numbers of the cipher arrive out of order and are "
            "dropped", _reordered, (0.05, 0.1, 0.15, 0.25, 0.4), _when(lambda s: s.encrypts, 0.5, 0.0),
            "a driver fault: update it; one flow at a time avoids it", "share",
        ),
        Mechanism(
            "rate control", "the link uses lower rates than it could", _rate_control,
            (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0), _always(0.5),
            "compare the rates of both measurements (iw dev wlan0 link)", "MCS steps",
        ),
        Mechanism(
            "group traffic", "broadcasts at the lowest rate take the air", _group,
            (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), _always(0.3),
            "raise the lowest basic rate; convert multicast to unicast", "share of the air",
        ),
        Mechanism(
            "another network", "another network uses the channel", _neighbour,
            (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), _always(0.4),
            "measure both alternately, or on a free channel", "share of the air",
        ),
        Mechanism(
            "measurement", "the measurement is at fault: it is too short, or counts what was not "
            "delivered", _measurement, (0.0, 0.5, 0.7, 0.85), _always(0.2),
            "30 s with the receiver's count, against a wired host",
        ),
    )
}  # fmt: skip


def predicted(
    mechanism: Mechanism, setting: Setting, reading: Reading, value: float
) -> Predicted:
    """The value after a change by a mechanism; of readings that it leaves alone by octets alone."""
    return mechanism.predicts(setting, reading, value) or unchanged(setting, reading)


def air_of(setting: Setting, flow: Flow) -> Air:
    """The figures of the air of a flow. Raises ``KeyError``."""
    return setting.air[flow]
