"""Mechanisms on the air: what a frame is, how many of them, who else sends."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from attrs import evolve

from airtoll.analyse.explain.evidence import Air, Flow, Form, Reading, Setting
from airtoll.analyse.explain.mechanisms.predicted import (
    Mechanism,
    Predicted,
    Prior,
    Values,
    always,
    bits_of,
    capped,
    fixed,
    frame_octets,
    geometric,
    nearby,
    percent,
    scaled,
    shape,
    single,
    unchanged,
)

#: Octets of an MPDU whose losses are the parameter of a weak link.
_FULL_MPDU: Final = 1550


def _octets(_: Setting, __: Reading, ___: Values) -> Predicted | None:
    return None


OCTETS = Mechanism(
    "octets",
    "the octets of security alone: nothing is wrong",
    _octets,
    fixed(()),
    always(2.0),
    "nothing to mend",
)


def _no_aggregation(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    ns_per_octet, way, merged = value
    if way and (way > 0) is not reading.flow.down:
        return _answered_alone(setting, reading, merged=merged > 0)
    if reading.quantity == "mpdus_per_frame":
        return Predicted(1.0, 0.1)
    if reading.quantity == "busy_share":
        return _alone_busy(setting, reading)
    if reading.quantity != "throughput_bps":
        return None
    air = setting.of(reading.flow)
    seconds = bits_of(reading.flow) / air.single + reading.flow.packet * ns_per_octet * 1e-9
    return capped(setting, reading, bits_of(reading.flow) / seconds, 0.15, 0.08)


def _answered_alone(setting: Setting, reading: Reading, *, merged: bool) -> Predicted | None:
    """TCP whose acknowledgements go the way of single frames, and take the air of its segments.

    A receiver acknowledges every second segment (RFC 5681, 4.2), or merges those of an A-MPDU and
    acknowledges them together (Linux, generic receive offload).
    """
    air = setting.of(reading.flow)
    carried = air.answers_merged if merged else air.answers_alone
    if reading.quantity != "throughput_bps" or carried is None:
        return None
    return scaled(unchanged(setting, reading), min(1.0, carried / air.after), 0.1)


#: Preamble with its acknowledgement, s.
_AROUND_S: Final = 80e-6


def _alone_busy(setting: Setting, reading: Reading, rate_bps: float | None = None) -> Predicted:
    """Air in use where each exchange has one MPDU."""
    return Predicted(busy_alone(setting, reading.flow, rate_bps), 0.1)


def busy_alone(setting: Setting, flow: Flow, rate_bps: float | None = None) -> float:
    """The same as a share: frame and acknowledgement over the whole exchange with its waits."""
    air = setting.of(flow)
    carried = air.single if rate_bps is None or air.legacy is None else air.legacy
    rate = rate_bps or air.rate_bps
    frame = 8 * frame_octets(flow) / rate + _AROUND_S
    return min(0.95, frame * carried / bits_of(flow))


def _alone(setting: Setting) -> Sequence[Values]:
    """Time per octet of a CPU that computes TKIP's Michael (802.11-2020, 12.5.2.4), ns, or none;
    the way that is not aggregated: both (0), towards the station alone (1), or from it (-1); and
    whether the receiver of the other way merges segments (1).

    Each end sets up its own way (802.11-2020, 10.25.2): one of both may fail.
    """
    octets: tuple[float, ...] = (0.0,)
    if setting.change.suite == "tkip":
        octets = (0.0, 0.0, 0.0, *geometric(100.0, 1500.0, 6))
    ways: tuple[Values, ...] = ((0.0, 0.0),)
    if len({flow.down for flow in setting.air}) > 1:
        ways = (*ways * 8, (1.0, 0.0), (1.0, 1.0), (-1.0, 0.0), (-1.0, 1.0))
    return tuple((ns, *way) for ns in octets for way in ways)


def _said_alone(value: Values) -> str:
    ns_per_octet, way, _ = value
    words = [{0: "", 1: "towards the station alone", -1: "from the station alone"}[int(way)]]
    if ns_per_octet:
        words.append(f"and a CPU that checks TKIP's frames at {8e3 / ns_per_octet:.2g} Mb/s")
    return " ".join(filter(None, words))


def _aggregates(setting: Setting) -> bool:
    return any(air.aggregates for air in setting.air.values())


#: Weight of a driver that sets no aggregation up under 802.11w. One device is known by public
#: threads, and two leave the cipher to the CPU, whose weight is 0.4: (1 + 1) / (2 + 1) of it.
_FAULT_OF_PMF: Final = 0.27
_USUALLY_SET_UP: Final = "most drivers set it up under 802.11w, too"


def _prior_no_aggregation(setting: Setting) -> Prior:
    """No block ack session under the policy.

    TKIP and WEP may not be used with HT; drivers that keep HT rates do not aggregate (Linux,
    net/mac80211/agg-rx.c and agg-tx.c: no session with such a key). Block ack frames are robust
    Action frames under 802.11w, and drivers have failed to protect them (ath10k, QCA9984), which is
    rarer than a cipher that 802.11w leaves to the CPU (docs/guides/explaining.md).
    """
    if not _aggregates(setting):
        return Prior(0.0)
    if setting.change.no_ht:
        return Prior(2.0, f"{setting.change.suite} may not be aggregated")
    if setting.change.pmf:
        return Prior(
            _FAULT_OF_PMF,
            "802.11w was added, which protects the frames that set up aggregation",
            _USUALLY_SET_UP,
        )
    if setting.change.pmf_perhaps:
        return Prior(
            0.5 * _FAULT_OF_PMF,
            "802.11w was optional: if the station did without, the frames that set up aggregation "
            "are protected only now",
            _USUALLY_SET_UP,
        )
    return Prior(0.25 if setting.change.cipher else 0.02)


def _mend_aggregation(setting: Setting) -> str:
    """A policy that cannot do without 802.11w, or that has no TKIP, is no place to change them."""
    change = setting.change
    if change.no_ht:
        return "use AES (CCMP), not TKIP or WEP"
    update = "update driver and firmware of both ends"
    if not change.pmf and not change.pmf_perhaps:
        return update
    if change.pmf_required:
        needs = f"{update}; {setting.policies[1]} cannot do without 802.11w"
        return f"{needs}: {setting.without_pmf}" if setting.without_pmf else needs
    return f"{update}; try the policy without 802.11w"


NO_AGGREGATION = Mechanism(
    "no aggregation",
    "frames are not aggregated under this policy",
    _no_aggregation,
    _alone,
    _prior_no_aggregation,
    "update driver and firmware of both ends; try the policy without 802.11w, or AES for TKIP",
    say=_said_alone,
    of_air=True,
    remedy_of=_mend_aggregation,
)


def _legacy(setting: Setting, reading: Reading, _: Values) -> Predicted | None:
    air = setting.of(reading.flow)
    if reading.quantity == "throughput_bps":
        if air.legacy is None:
            return None
        old = capped(setting, reading, air.legacy, 0.2, 0.05)
        return evolve(old, deviation=math.hypot(old.deviation, 0.02))
    if reading.quantity == "rate_bps":
        return Predicted(54e6, 0.05, below=0.2)
    if reading.quantity in ("width_mhz", "streams"):
        # OFDM of 802.11a and g has one stream of 20 MHz.
        return Predicted(20.0 if reading.quantity == "width_mhz" else 1.0, 0.02)
    if reading.quantity == "mpdus_per_frame":
        return Predicted(1.0, 0.1)
    if reading.quantity == "busy_share":
        return _alone_busy(setting, reading, 54e6)
    return None


def _prior_legacy(setting: Setting) -> Prior:
    """IEEE Std 802.11-2020, 12.2.4: no HT with WEP and TKIP."""
    if all(air.legacy is None for air in setting.air.values()):
        return Prior(0.0)
    if setting.change.no_ht:
        # Radios of the drafts of 802.11n kept HT rates, and only gave aggregation up.
        weight = 2.5 if setting.phy == "802.11n" else 4.0
        return Prior(
            weight, f"{setting.change.suite} may not be used with rates of 802.11n and later"
        )
    return Prior(0.06 if setting.change.of_frames else 0.02)


LEGACY = Mechanism(
    "legacy rates",
    "the link falls back to rates of 802.11a and g, at most 54 Mb/s",
    _legacy,
    fixed(()),
    _prior_legacy,
    "use AES (CCMP), not TKIP or WEP; keep WMM on; look at the rate of the link",
    of_air=True,
)


def _delimiters(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """Delimiters before every encrypted MPDU of an A-MPDU.

    ath9k inserts ten more, 40 octets (ATH_AGGR_ENCRYPTDELIM, drivers/net/wireless/ath/ath9k).
    """
    air = setting.of(reading.flow)
    if reading.quantity != "throughput_bps" or not air.aggregates:
        return None
    octets = unchanged(setting, reading)
    bits = bits_of(reading.flow)
    longer = bits / octets.value + 8 * value[0] / air.rate_bps
    return scaled(octets, bits / longer / octets.value, 0.01)


def _prior_delimiters(setting: Setting) -> Prior:
    return Prior(0.5 if setting.change.cipher and _aggregates(setting) else 0.0)


DELIMITERS = Mechanism(
    "MPDU delimiters",
    "the driver puts more delimiters before encrypted MPDUs",
    _delimiters,
    single(40.0, 80.0),
    _prior_delimiters,
    "no setting mends it",
    say=lambda v: f"{v[0]:.0f} octets per MPDU",
    of_air=True,
)


def _spacing(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """Minimum MPDU start spacing (IEEE Std 802.11-2020, 9.4.2.55.3) that encryption asks for."""
    air = setting.of(reading.flow)
    if reading.quantity != "throughput_bps" or not air.aggregates:
        return None
    octets = unchanged(setting, reading)
    bits = bits_of(reading.flow)
    on_air = 8 * frame_octets(reading.flow) / air.rate_bps
    longer = bits / octets.value + max(0.0, value[0] * 1e-6 - on_air)
    return scaled(octets, bits / longer / octets.value, 0.02)


SPACING = Mechanism(
    "MPDU spacing",
    "encrypted MPDUs of an A-MPDU keep a minimum distance",
    _spacing,
    single(4.0, 8.0, 16.0),
    _prior_delimiters,
    "no setting mends it",
    say=lambda v: f"{v[0]:.0f} us",
    of_air=True,
)


def lost_mpdus(flow: Flow, share: float) -> float:
    """Share of the MPDUs of a flow that are lost where ``share`` of the full ones are."""
    return float(1 - (1 - share) ** (frame_octets(flow) / _FULL_MPDU))


def _shortened(count: float, lost: float) -> float:
    """MPDUs of a frame where a share of them is lost.

    A lost MPDU holds the window of the block ack agreement, so that the next A-MPDU is shorter.
    The shortening is that of the simulator: 1 / (1 + 0.33 (n p)^0.6) of n MPDUs with losses p.
    """
    return count / (1 + 0.33 * (count * lost) ** 0.6) if count > 1.5 else 1.0


def _lossy(air: Air, flow: Flow, share: float) -> float:
    """Throughput over that without losses: repeated MPDUs, and shorter A-MPDUs."""
    lost = lost_mpdus(flow, share)
    count, around, one = shape(air, flow)
    fewer = _shortened(count, lost)
    return (1 - lost) * (around / count + one) / (around / max(fewer, 1.0) + one)


def _weak(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """Frames are lost on a weak link: retries, lower rates."""
    share, steps, way = value
    if not _in_way(reading.flow, way):
        return None
    octets = unchanged(setting, reading)
    air = setting.of(reading.flow)
    if reading.quantity == "retry_share":
        # Acknowledgements and other short frames are lost less, and count as the others do.
        return Predicted((reading.before or 0.03) + 0.6 * share, 0.03)
    if reading.quantity == "rate_bps":
        return _lower_rate(setting, reading, steps, 0.1)
    if reading.quantity == "busy_share":
        return Predicted(0.96 * octets.value, 0.08)
    if reading.quantity == "throughput_bps":
        rate = slowdown(setting, reading.flow, steps)
        # Fewer MPDUs of a window of TCP wait for one frame than the closed form has.
        own = (0.05 if reading.flow.transport == "tcp" else 0.025) + 0.25 * max(0.0, share - 0.3)
        return scaled(octets, rate * _lossy(air, reading.flow, share), own, 0.03)
    if reading.quantity == "signal_dbm":
        return Predicted(octets.value - _WEAKER_DB, _WEAKER_OFF)
    if reading.quantity == "delay_s":
        return Predicted(octets.value * (1 + 2 * share), 0.4)
    if reading.quantity == "mpdus_per_frame":
        return evolve(octets, value=_shortened(octets.value, share))
    return None


#: Level that a weak link has lost, dB, with its standard deviation; that of a step of the rate: the
#: least levels of MCSs differ by 2 to 4 dB (IEEE Std 802.11-2020, table 21-26).
_WEAKER_DB, _WEAKER_OFF, _STEP_DB = 20.0, 9.0, 3.0
#: Ways of a mechanism: both (three times as likely), down alone, up alone.
_WAYS: Final = (0.0, 0.0, 0.0, 1.0, 2.0)
_WAY_WORDS: Final = ("", ", down only", ", up only")


def _in_way(flow: Flow, way: float) -> bool:
    """Whether a mechanism of one way meets a flow."""
    return way == 0.0 or (way == 1.0) == flow.down


def _lower_rate(setting: Setting, reading: Reading, steps: float, own: float) -> Predicted:
    """The PHY rate some steps lower."""
    air = setting.of(reading.flow)
    at = min(int(steps), len(air.slower_rates))
    factor = air.slower_rates[at - 1] / air.rate_bps if at else 1.0
    return scaled(unchanged(setting, reading), factor, own if at else 0.0)


def slowdown(setting: Setting, flow: Flow, steps: float) -> float:
    """Throughput at a rate some steps lower, over that at the rate of the link."""
    air = setting.of(flow)
    at = min(int(steps), len(air.slower))
    if at == 0:
        return 1.0
    return air.slower[at - 1] / air.after


_LOST: Final = (0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6)
#: Rates that rate control falls on a weak link.
_LOWER: Final = (1.0, 2.0, 4.0, 6.0)

WEAK = Mechanism(
    "weak level",
    "frames are lost on a weak link and sent again",
    _weak,
    fixed(
        *((s, 0.0, way) for s in _LOST for way in _WAYS),
        *((s, n, way) for s in (0.15, 0.22, 0.3) for n in _LOWER for way in _WAYS),
    ),
    always(0.35),
    "measure both at the same place, near the access point",
    where="surroundings",
    say=lambda v: f"{percent(v[0])} of full frames lost{_rates_lower(v[1])}{_WAY_WORDS[int(v[2])]}",
    nearby=nearby(-0.02, -0.01, 0.01, 0.02),
    of_air=True,
)


def _steps(setting: Setting) -> Sequence[Values]:
    most = min(len(air.slower) for air in setting.air.values())
    return tuple(
        (float(steps), way, farther)
        for steps in range(1, most + 1)
        for way in _WAYS
        for farther in (0.0, 1.0)
    )


def _rates_lower(steps: float) -> str:
    return f", {steps:.0f} rates lower" if steps else ""


def _longer(setting: Setting, reading: Reading, factor: float) -> Predicted:
    """Air in use where frames take longer: what lies between them stays, and there are fewer."""
    return Predicted(1 - (1 - unchanged(setting, reading).value) * factor, 0.05)


def _rate_control(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """A lower rate than before, without more retries: the choice of a sender, or a lower level."""
    if reading.quantity == "signal_dbm" and value[2]:
        weaker = unchanged(setting, reading).value - _STEP_DB * value[0]
        return Predicted(weaker, 3.0 + value[0])
    if not _in_way(reading.flow, value[1]):
        return None
    if reading.quantity == "rate_bps":
        return _lower_rate(setting, reading, value[0], 0.05)
    if reading.quantity == "busy_share":
        return _longer(setting, reading, slowdown(setting, reading.flow, value[0]))
    if reading.quantity == "mpdus_per_frame":
        factor = slowdown(setting, reading.flow, value[0]) ** 0.5
        return scaled(unchanged(setting, reading), factor, 0.25)
    if reading.quantity != "throughput_bps":
        return None
    factor = slowdown(setting, reading.flow, value[0])
    return scaled(unchanged(setting, reading), factor, 0.015, 0.02)


RATE_CONTROL = Mechanism(
    "rate control",
    "the link uses lower rates than before (rate control, or another place)",
    _rate_control,
    _steps,
    always(0.3),
    "compare rate and signal of both measurements (iw dev wlan0 link): a lower signal is another "
    "place",
    where="surroundings",
    say=lambda v: (
        f"{v[0]:.0f} rates lower{_WAY_WORDS[int(v[1])]}{', at a lower level' * int(v[2])}"
    ),
    of_air=True,
)


def _reduces(form: Form) -> Callable[[Setting, Reading, Values], Predicted | None]:
    """One part of the link's form at a lower value, or a longer guard interval."""

    def predicts(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
        if reading.quantity == form:
            return Predicted(value[0], 0.02)
        air = setting.of(reading.flow)
        carried, rate_bps = air.reduced[form, value[0]]
        octets = unchanged(setting, reading)
        if reading.quantity == "rate_bps":
            return scaled(octets, rate_bps / air.rate_bps, 0.04)
        if reading.quantity == "throughput_bps":
            return scaled(octets, carried / air.after, 0.02, 0.03)
        if reading.quantity == "mpdus_per_frame":
            return scaled(octets, (carried / air.after) ** 0.5, 0.25)
        if reading.quantity == "busy_share":
            return _longer(setting, reading, carried / air.after)
        return None

    return predicts


def _values_of(form: Form) -> Callable[[Setting], Sequence[Values]]:
    def values(setting: Setting) -> Sequence[Values]:
        held = [
            {value for one, value in air.reduced if one == form} for air in setting.air.values()
        ]
        return tuple((value,) for value in sorted(set.intersection(*held), reverse=True))

    return values


def _prior_of(form: Form, weight: float) -> Callable[[Setting], Prior]:
    return lambda setting: Prior(weight if _values_of(form)(setting) else 0.0)


#: Parts of the link's form that the second measurement may have had otherwise. An access point
#: leaves 40 MHz in 2.4 GHz beside other networks (coexistence, IEEE Std 802.11-2020, 11.15), and a
#: channel with radar (DFS, 11.8) for a narrower one; a link loses streams with an antenna, or by
#: spatial multiplexing power save (11.2.6).
NARROWER = Mechanism(
    "narrower channel",
    "the link uses a narrower channel than before (coexistence, radar, a setting)",
    _reduces("width_mhz"),
    _values_of("width_mhz"),
    _prior_of("width_mhz", 0.1),
    "compare the width of both measurements (iw dev wlan0 link); take a channel without radar, or "
    "fix the width at the access point",
    where="surroundings",
    say=lambda v: f"{v[0]:.0f} MHz",
    of_air=True,
)

FEWER_STREAMS = Mechanism(
    "fewer streams",
    "the link uses fewer spatial streams than before (an antenna is lost, or saves power)",
    _reduces("streams"),
    _values_of("streams"),
    _prior_of("streams", 0.08),
    "compare the streams of both measurements (iw dev wlan0 link: NSS); look at the antennas, "
    "switch SM power save off",
    where="surroundings",
    say=lambda v: f"{v[0]:.0f} stream{'s' if v[0] > 1 else ''}",
    of_air=True,
)

LONG_GUARD = Mechanism(
    "long guard interval",
    "the link uses a longer guard interval than before",
    _reduces("guard_ns"),
    _values_of("guard_ns"),
    _prior_of("guard_ns", 0.06),
    "allow the short guard interval at both ends (iw dev wlan0 link: short GI)",
    where="surroundings",
    say=lambda v: f"{v[0]:.0f} ns",
    of_air=True,
)


def _group(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """Broadcasts at the lowest rate take a share of the air.

    Where the access point has one queue for all, datagrams that fill it keep group frames out.
    """
    share, one_queue = value
    octets = unchanged(setting, reading)
    if reading.quantity == "throughput_bps":
        # A load that the link carries fills no queue.
        if one_queue and reading.flow.transport == "udp" and reading.offered_bps is None:
            share *= _KEPT_IN_DOWN if reading.flow.down else _KEPT_IN_UP
        return scaled(octets, 1 - share, 0.03, 0.02)
    if reading.quantity == "delay_s":
        return Predicted(octets.value + 1e-3 * share, 0.5)
    if reading.quantity == "group_share":
        return Predicted(octets.value + (1 - octets.value) * share, 0.05)
    if reading.quantity in ("busy_share", "mpdus_per_frame"):
        return evolve(octets, deviation=math.hypot(octets.deviation, 0.06))
    return None


#: Share of the group traffic that is left where datagrams fill the one queue of the access point,
#: and where a station sends them (simulated, 802.11a to ax).
_KEPT_IN_DOWN: Final = 0.67
_KEPT_IN_UP: Final = 0.87
#: Width of the loads at which queues overflow where others take the air for milliseconds, in loads.
_TAKEN_AT_A_TIME: Final = 0.12
_SHARES: Final = (0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8)

GROUP = Mechanism(
    "group traffic",
    "broadcasts at the lowest rate take the air",
    _group,
    fixed(*((share, queue) for share in _SHARES for queue in (0.0, 1.0))),
    always(0.25),
    "raise the lowest basic rate; convert multicast to unicast",
    where="surroundings",
    say=lambda v: f"{percent(v[0])} of the air",
    nearby=nearby(-0.024, -0.012, 0.012, 0.024),
    bursts=_TAKEN_AT_A_TIME,
    of_air=True,
)


def _neighbour(setting: Setting, reading: Reading, value: Values) -> Predicted | None:
    """Another network takes a share of the air, and collides now and then.

    A capture holds its frames, or, where it is far off or no Wi-Fi, idle air.
    """
    share, retries, captured = value
    octets = unchanged(setting, reading)
    if reading.quantity == "throughput_bps":
        # Short frames pay the contention with another one as long ones do, and have less payload.
        if frame_octets(reading.flow) > _FULL_MPDU / 2:
            return scaled(octets, 1 - share, 0.05, 0.03)
        return scaled(octets, 0.9 * (1 - share), 0.12, 0.03)
    if reading.quantity == "retry_share":
        return Predicted((reading.before or 0.05) + retries, 0.05)
    if reading.quantity == "delay_s":
        return Predicted(octets.value * (1 + 3 * share), 0.6)
    if reading.quantity == "others_share":
        seen = _OTHERS_SEEN * share * captured
        return Predicted(octets.value + (1 - octets.value) * seen, 0.05)
    if reading.quantity == "busy_share":
        return Predicted(octets.value * (1 - (0.05 if captured else _IDLED * share)), 0.1)
    if reading.quantity == "mpdus_per_frame":
        return evolve(octets, value=_shortened(octets.value, retries - _FEWEST_MORE))
    return None


#: The least retries that another network adds: those of one that waits for its turn.
_FEWEST_MORE: Final = 0.02
#: Airtime of another network over the throughput that it takes, where a capture holds its frames;
#: and idle air where it holds none (simulated, contending and hidden ones).
_OTHERS_SEEN: Final = 0.85
_IDLED: Final = 0.9

#: Weight of another network, and of a device that is no network where none was heard.
_OTHERS, _NO_NETWORK = 0.4, 0.08
#: Share by which networks that were heard may take more than the simulated ones.
_MORE_TAKEN: Final = 0.08


def _taken(setting: Setting) -> Sequence[Values]:
    """Shares of the air, more retries, and whether a capture holds the frames.

    Networks that were heard take no more than they do where they always send.
    """
    heard = setting.heard
    most = 1.0 if heard is None or not heard.networks else heard.most_taken + _MORE_TAKEN
    shares = [share for share in (*_SHARES, 0.9, 0.95) if share <= max(most, _SHARES[0])]
    return tuple(
        (share, more, captured)
        for share in shares
        for more in (_FEWEST_MORE, 0.08, 0.15, 0.25)
        for captured in (0.0, 1.0)
    )


def _prior_neighbour(setting: Setting) -> Prior:
    heard = setting.heard
    if heard is None:
        return Prior(_OTHERS)
    if not heard.networks:
        return Prior(_NO_NETWORK, against="no other network was heard on the channel")
    at, most = f"at {heard.level_dbm:g} dBm", f"{percent(heard.most_taken)} at most"
    words = f"{heard.networks} other networks {at} take {most}"
    if heard.networks == 1:
        words = f"1 other network {at} takes {most}"
    return Prior(_OTHERS, f"{words}, with data to send all the time")


NEIGHBOUR = Mechanism(
    "another network",
    "another network or device uses the channel",
    _neighbour,
    _taken,
    _prior_neighbour,
    "measure both alternately, or on a free channel",
    where="surroundings",
    say=lambda v: f"{percent(v[0])} of the air",
    nearby=nearby(-0.024, -0.012, 0.012, 0.024),
    bursts=_TAKEN_AT_A_TIME,
    of_air=True,
)

AIR: Final = (
    OCTETS,
    NO_AGGREGATION,
    LEGACY,
    DELIMITERS,
    SPACING,
    WEAK,
    RATE_CONTROL,
    NARROWER,
    FEWER_STREAMS,
    LONG_GUARD,
    GROUP,
    NEIGHBOUR,
)
