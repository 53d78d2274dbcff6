"""Mechanisms in devices: ciphers on CPUs, cards, hosts that limit, faults of drivers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from attrs import evolve

from airtoll.analyse import cost_curve
from airtoll.analyse.explain.evidence import Air, Flow, Reading, Setting
from airtoll.analyse.explain.mechanisms.predicted import (
    Mechanism,
    Predicted,
    Prior,
    Values,
    bits_of,
    fewer_collisions,
    fixed,
    freed,
    geometric,
    limited,
    nearby,
    nearby_both,
    percent,
    rounded,
    scaled,
    unchanged,
    usual_before,
)

#: Octets of the LLC and SNAP header, which a cipher covers (IEEE Std 802.2).
LLC_OCTETS: Final = 8
#: Octets of the packet that acknowledges TCP segments, and such packets per segment.
_ACK_OCTETS: Final = 60
_ACKS: Final = 0.5


def _work_s(flow: Flow, per_packet_s: float, per_octet_s: float) -> float:
    """Time of a CPU for a packet with its share of an acknowledgement, s."""
    seconds = per_packet_s + flow.packet * per_octet_s
    if flow.transport == "tcp":
        seconds += _ACKS * (per_packet_s + _ACK_OCTETS * per_octet_s)
    return seconds


#: Datagrams that cost CPU time before they are dropped: none, those down, those up.
_LIVELOCKS: Final = (0.0, 0.0, 1.0, 2.0)


#: Cost of a frame up over that of one down: a CPU may open frames faster or slower than it seals.
_UP_COSTS: Final = (0.7, 1.4)


def _worked(setting: Setting, reading: Reading, cap: float, livelock: float) -> Predicted:
    """Throughput under a CPU.

    Datagrams that are dropped after they were received cost time, too (receive livelock: Mogul and
    Ramakrishnan, ACM TOCS 15(3), 1997): a faster sender has less throughput.
    """
    octets = unchanged(setting, reading)
    flow = reading.flow
    if flow.transport == "udp" and livelock == (1.0 if flow.down else 2.0) and cap < octets.value:
        cap *= cap / octets.value
    return limited(octets, cap)


def _later(setting: Setting, reading: Reading, seconds: float) -> Predicted:
    """Delay of a packet that waits for nothing but the CPU's work on it, and on its answer."""
    octets = unchanged(setting, reading)
    return evolve(octets, value=octets.value + 1.5 * seconds)


def _software_cipher(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """A CPU that ciphers the octets of every frame: one limit, both ways."""
    if reading.quantity == "software_share":
        return Predicted(1.0, 0.05)
    seconds = _ciphered_s(reading.flow, value)
    if reading.quantity == "delay_s":
        return _later(setting, reading, seconds)
    if reading.quantity != "throughput_bps":
        return None
    return _worked(setting, reading, bits_of(reading.flow) / seconds, value[2])


def _ciphered_s(flow: Flow, value: Values) -> float:
    """Time of the CPU for a packet, s: besides the octets a driver spends some on each frame."""
    ns_per_octet, octets_per_frame, _, up = value
    each = ns_per_octet * 1e-9 * (1.0 if flow.down else up)
    return _work_s(flow, (octets_per_frame + LLC_OCTETS) * each, each)


def _slower_than_air(
    setting: Setting, values: Sequence[Values], cap_bps: Callable[[Flow, Values], float]
) -> Sequence[Values]:
    """The values whose CPU is slower than the air for some flow; all of them where none is.

    A prior is the weight of a cause, and a CPU that keeps up with the air causes nothing.
    """
    air = setting.air.items()
    slow = tuple(v for v in values if any(cap_bps(flow, v) < of.after for flow, of in air))
    return slow or values


def _prior_software(setting: Setting) -> Prior:
    """Without hardware for a cipher mac80211 works it out on the CPU (Linux, net/mac80211).

    Drivers whose radio cannot protect management frames give the whole link to the CPU under
    802.11w, with the cipher that it had (Linux, rt2800 and chips of ath9k without MFP).
    """
    change = setting.change
    if not change.cipher:
        if change.suite is not None and change.pmf_perhaps:
            return Prior(
                0.2,
                "802.11w was optional: if the station did without, some radios leave the cipher "
                "to the CPU only now",
            )
        if not change.pmf or change.suite is None:
            return Prior(0.0)
        return Prior(0.4, "802.11w was added, with which some radios leave the cipher to the CPU")
    if change.no_ht:
        return Prior(0.1)
    if setting.in_software:
        return Prior(4.0, "; ".join(setting.in_software.values()))
    rare = change.suite is not None and change.suite not in (
        "ccmp-128",
        "tkip",
        "wep-104",
        "wep-40",
    )
    # The other end is not known to have the cipher in hardware.
    against = "; ".join(setting.in_hardware.values())
    share = {0: 1.0, 1: 0.5}.get(len(setting.in_hardware), 0.1)
    if rare:
        return Prior(share, f"many radios lack {change.suite} in hardware", against)
    return Prior(0.7 * share, against=against)


def _mend_software(setting: Setting) -> str:
    """Another cipher where it changed; else 802.11w put it on the CPU.

    A named radio that has the cipher leaves it to its CPU only by a fault, or the other end does.
    """
    change = setting.change
    look = "`airtoll doctor --radio --host root@ROUTER` names the cipher that the CPU works out"
    if change.cipher and setting.in_hardware:
        return f"{look}; update the driver of that end, or take another radio there"
    if change.cipher:
        return f"{look}; choose a cipher that the radio has in hardware"
    radio = f"{look}; take a radio that keeps its cipher in hardware with 802.11w"
    if not change.pmf_required:
        return f"{radio}, or the policy without 802.11w"
    return f"{radio}; {setting.without_pmf}" if setting.without_pmf else radio


#: Octets that take as long as the rest of the work on a frame.
_FRAMES: Final = (40.0, 120.0, 300.0, 700.0)
_CIPHERING: Final[Sequence[Values]] = (
    *(
        (ns, frame, livelock, 1.0)
        for ns in geometric(1.5, 5000.0, 60)
        for frame in _FRAMES
        for livelock in _LIVELOCKS
    ),
    *(
        (ns, frame, 0.0, up)
        for ns in geometric(1.5, 5000.0, 60)
        for frame in (40.0, 300.0)
        for up in _UP_COSTS
    ),
)


#: Parts of a priced CPU's values: factors on the time that its profile gives, as the AES of a
#: kernel and of OpenSSL differ; and the share of the weight that they have where its radio has the
#: cipher in hardware, and where it has not. Judgements (docs/guides/explaining.md).
_OF_PRICED: Final = geometric(0.7, 1.5, 8)
_PRICED_AGAINST, _PRICED_FOR = 0.25, 0.5


def _ciphering(setting: Setting) -> Sequence[Values]:
    """The values; those of a CPU whose profile prices AES are repeated, and weigh more for it."""
    slow = _limiting(setting)
    for place, ns in setting.aes_ns.items():
        share = _PRICED_AGAINST if place in setting.in_hardware else _PRICED_FOR
        priced = tuple((ns * part, frame, 0.0, 1.0) for part in _OF_PRICED for frame in _FRAMES)
        times = max(1, round(share / (1 - share) * len(slow) / len(priced)))
        slow = (*slow, *priced * times)
    return slow


def _limiting(setting: Setting) -> Sequence[Values]:
    return _slower_than_air(
        setting, _CIPHERING, lambda flow, value: bits_of(flow) / _ciphered_s(flow, value)
    )


SOFTWARE_CIPHER = Mechanism(
    "software cipher",
    "a CPU ciphers the frames, on the station or on the access point",
    _software_cipher,
    _ciphering,
    _prior_software,
    "choose a cipher that the radio has in hardware; where 802.11w alone put it on the CPU, take "
    "another radio",
    say=lambda v: f"it ciphers at most {8e3 / v[0]:.2g} Mb/s",
    of_cpu=True,
    remedy_of=_mend_software,
    nearby=nearby_both((0.9, 0.94, 0.97, 1.0, 1.03, 1.06, 1.1), (0.65, 0.8, 1.0, 1.25, 1.55)),
)


def _of_profile(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """The throughput with the costs of a device's profile."""
    if reading.quantity != "throughput_bps" or not setting.device_bps:
        return None
    caps = list(setting.device_bps.values())[int(value[0])]
    cap = caps.get(reading.flow.alone)
    if cap is None or cap >= 0.98 * setting.of(reading.flow).after:
        return None
    return limited(unchanged(setting, reading), cap, 0.08, 0.2)


def _prior_profile(setting: Setting) -> Prior:
    """A profile whose figures limit is evidence of its own."""
    slow = any(
        cap < 0.9 * setting.of(flow).after
        for caps in setting.device_bps.values()
        for flow, cap in caps.items()
    )
    if not slow:
        return Prior(0.0)
    return Prior(4.0, f"the profile of the {' and of the '.join(setting.device_bps)} says so")


OF_PROFILE = Mechanism(
    "CPU of the profile",
    "the CPU of the named device ciphers or forwards, at the cost of its profile",
    _of_profile,
    lambda setting: tuple((float(n),) for n in range(len(setting.device_bps))),
    _prior_profile,
    "choose a cipher that the radio has in hardware; end tunnels on a faster device",
    of_cpu=True,
)


_PLACES: Final = ("station", "ap")


def _serial_card(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """A card that does nothing else while it ciphers a frame, at one end.

    Traffic of the other end meets it only by the acknowledgements.
    """
    us, place = value
    if reading.quantity == "retry_share":
        # A card of the access point waits while the station sends its acknowledgements.
        usual = unchanged(setting, reading)
        return fewer_collisions(usual) if _PLACES[int(place)] == "ap" else usual
    if reading.quantity != "throughput_bps":
        return None
    air = setting.of(reading.flow)
    return scaled(unchanged(setting, reading), _carded(air, _PLACES[int(place)], us), 0.03, 0.01)


def _carded(air: Air, place: str, us: float) -> float:
    """Throughput with a card over that without."""
    known = {cost: bps for (where, cost), bps in air.carded.items() if where == place}
    return cost_curve.at({0.0: air.after, **known}, us) / air.after


def _cards(setting: Setting) -> Sequence[Values]:
    return tuple(
        (us, float(number))
        for us in geometric(4.0, cost_curve.LONGEST_US, 22)
        for number, place in enumerate(_PLACES)
        if any(place == where for air in setting.air.values() for where, _ in air.carded)
    )


def _prior_card(setting: Setting) -> Prior:
    """Cards of 802.11b and g (identified in the data sets tripathi2008 and mccarter2006)."""
    known = any(air.carded for air in setting.air.values())
    if not known or not setting.change.cipher:
        return Prior(0.0)
    return Prior(0.08 if any(air.aggregates for air in setting.air.values()) else 1.0)


SERIAL_CARD = Mechanism(
    "serial card",
    "a card does nothing else while it ciphers a frame",
    _serial_card,
    _cards,
    _prior_card,
    "no setting mends it: another card does",
    say=lambda v: f"{v[0]:.0f} us per frame, {'access point' if v[1] else 'station'}",
    nearby=nearby(0.9, 0.95, 1.05, 1.1, ratio=True),
)


def _host(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """A CPU that forwards or ends a tunnel: a time per packet and per octet, both ways."""
    pps, octet_share, livelock = value
    if reading.quantity == "cable_bps":
        return limited(unchanged(setting, reading), _host_cap(reading.flow, pps, octet_share), 0.15)
    if reading.quantity == "delay_s":
        seconds = bits_of(reading.flow) / _host_cap(reading.flow, pps, octet_share)
        return _later(setting, reading, seconds)
    if reading.quantity != "throughput_bps":
        return None
    return _worked(setting, reading, _host_cap(reading.flow, pps, octet_share), livelock)


def _host_cap(flow: Flow, pps: float, octet_share: float) -> float:
    """bit/s of a CPU with ``pps`` full packets per second, a share of them for the octets."""
    per_octet = octet_share / pps / 1500
    return bits_of(flow) / _work_s(flow, (1 - octet_share) / pps, per_octet)


def _prior_host(setting: Setting) -> Prior:
    """Ends of tunnels in software (data sets wg-bench, tunnels-on-routers)."""
    if setting.change.new_tunnel:
        return Prior(2.0, "a CPU seals and opens the packets of the tunnel")
    return Prior(0.5 if setting.change.tunnel else 0.1)


_FORWARDING: Final[Sequence[Values]] = tuple(
    (pps, share, livelock)
    for pps in geometric(500.0, 300_000.0, 56)
    for share in (0.0, 0.12, 0.25, 0.4, 0.65)
    for livelock in _LIVELOCKS
)


def _forwarding(setting: Setting) -> Sequence[Values]:
    return _slower_than_air(
        setting, _FORWARDING, lambda flow, value: _host_cap(flow, value[0], value[1])
    )


HOST = Mechanism(
    "CPU of a host",
    "the CPU of a host, a router or an end of a tunnel limits",
    _host,
    _forwarding,
    _prior_host,
    "look at the load of the CPU; end the tunnel on another device",
    say=lambda v: f"{rounded(v[0])} full packets per second",
    of_cpu=True,
    nearby=nearby(0.95, 0.975, 1.025, 1.05, ratio=True),
)


def _standing_host(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    if reading.quantity == "cable_bps":
        return limited(unchanged(setting, reading), _host_cap(reading.flow, value[0], 0.25), 0.2)
    if reading.quantity != "throughput_bps":
        return None
    octets = unchanged(setting, reading)
    cap = _host_cap(reading.flow, value[0], 0.25)
    if reading.before is not None and reading.before < 0.9 * cap:
        return None
    return limited(freed(setting, reading, octets), cap, 0.04, 0.02)


def _standing_before(setting: Setting, reading: Reading, value: Values) -> Predicted:
    cap = _host_cap(reading.flow, value[0], 0.25)
    return limited(usual_before(setting, reading), cap, 0.05, 0.05)


STANDING_HOST = Mechanism(
    "CPU in both",
    "a CPU limits both measurements (the access point as iperf3 server, a slow host or router)",
    _standing_host,
    fixed(*((pps,) for pps in geometric(1000.0, 300_000.0, 30))),
    lambda _: Prior(0.4),
    "measure against a wired host, and look at the load of each CPU",
    where="both",
    say=lambda v: f"{rounded(v[0])} full packets per second",
    before=_standing_before,
    of_cpu=True,
    nearby=nearby(0.91, 0.94, 0.97, 1.03, 1.06, 1.09, ratio=True),
)


def _reordered(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """Packet numbers leave the sender out of order, and the receiver drops frames.

    The replay check refuses a packet number that is not above the last one of its access category
    (IEEE Std 802.11-2020, 12.5.3.4.4); several flows, cores or queues reorder.
    """
    several = reading.flow.flows > 1
    share = value[0] if several else 0.03 * value[0]
    octets = unchanged(setting, reading)
    if reading.quantity == "reordered_share":
        return Predicted(share, 0.05)
    if reading.quantity == "loss_ratio" and reading.flow.transport == "udp":
        return Predicted((reading.before or 0.0) + share, 0.04)
    if reading.quantity == "throughput_bps":
        if reading.flow.transport == "udp":
            return scaled(octets, 1 - share, 0.05)
        return scaled(octets, 0.3 if several else 0.95, 0.6 if several else 0.1)
    return None


REORDERED = Mechanism(
    "packet numbers reordered",
    "packet numbers of the cipher arrive out of order, and the receiver drops the frames",
    _reordered,
    fixed(*((share,) for share in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5))),
    lambda setting: Prior(0.5 if setting.change.cipher and not setting.change.no_ht else 0.0),
    "a fault of a driver: update it; one flow at a time avoids it",
    say=lambda v: f"{percent(v[0])} of the frames of several flows, few of a single one",
)


def _fault(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    if reading.quantity != "throughput_bps":
        return None
    return scaled(unchanged(setting, reading), value[0], 0.3, 0.1)


def _prior_fault(setting: Setting) -> Prior:
    """Two policies with the same frames have no steady cost; one policy has not changed at all."""
    if setting.change.of_frames:
        return Prior(0.0)
    if setting.policies[0] == setting.policies[1]:
        return Prior(0.15)
    if setting.change.pmf_perhaps:
        return Prior(
            1.0,
            "cipher and tunnel are the same in both, and 802.11w, too, if the station had it "
            "before (MFP in `iw dev wlan0 station dump`), so that no steady cost exists",
        )
    return Prior(
        1.5, "cipher, 802.11w and tunnel are the same in both, so that no steady cost exists"
    )


FAULT = Mechanism(
    "implementation fault",
    "no cost of security: a device is at fault",
    _fault,
    fixed(*((factor,) for factor in geometric(0.005, 0.8, 16))),
    _prior_fault,
    "update access point and station; report it to their makers with both measurements",
    say=lambda v: f"{percent(v[0])} of the throughput is left",
)

DEVICES: Final = (
    SOFTWARE_CIPHER,
    OF_PROFILE,
    SERIAL_CARD,
    HOST,
    STANDING_HOST,
    REORDERED,
    FAULT,
)
