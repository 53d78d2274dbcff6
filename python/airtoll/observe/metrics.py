"""The known metrics: unit, meaning, and the total over the flows and stations of a cell.

Imports nothing but the standard library: the real stack's guests read it, too, and a table library
would take longer to load there than a trial to begin.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

#: Prefix of a caveat: the CPU, not the air, limited the measured values.
NOT_RADIO: Final = "no radio throughput: "
#: Prefix of a caveat: the cause for which the halves of a trial differ, and the cure.
NOT_SETTLED_BY: Final = "not settled: "
#: Prefix of a caveat: a tunnel cuts datagrams into fragments.
FRAGMENTS: Final = "fragments: "
#: Prefix of a caveat: a cipher runs on a device whose profile has no cost of it.
UNPRICED: Final = "cost unknown: "

#: Prefix of a caveat: rates that the study does not state.
RATE: Final = "rate: "
#: Prefix of a caveat: a level that is too low for the rate, alone or beside frames of neighbours.
WEAK: Final = "level: "
#: Prefix of a caveat: a queue, a window or a wire, not the air, limits the throughput.
LIMIT: Final = "limit: "

#: Which of two values is better: more of it, less of it, or neither.
Direction = Literal["more", "less", "neither"]


class Total(NamedTuple):
    """How the values of the flows and stations of one trial become that of the whole cell.

    ``sum``; ``mean``, weighted by the sum of the metrics in ``by``, or alike without them; ``max``;
    ``pooled``: the percentile of the packets of all flows; ``none``: no value stands for all.
    ``complete``: only where every flow with a throughput or an offered load has the metric.
    """

    kind: Literal["sum", "mean", "max", "pooled", "none"]
    by: tuple[str, ...] = ()
    complete: bool = False

    @property
    def words(self) -> str:
        """The reduction in words, for the reference."""
        if self.kind == "mean" and self.by:
            return f"mean, weighted by {' + '.join(self.by)}"
        return {
            "sum": "sum, where every flow has it" if self.complete else "sum",
            "mean": "mean",
            "max": "largest",
            "pooled": "of the packets of all flows",
            "none": "-",
        }[self.kind]


class Metric(NamedTuple):
    """Unit, meaning, total, direction and name of a metric, for every place that needs them.

    ``total``: the value of the whole cell. ``better``: which of two values is better. ``name``: for
    people (:func:`name_of`). ``percent``: a share that people read in percent.
    """

    unit: str
    meaning: str
    total: Total
    better: Direction = "neither"
    name: str = ""
    percent: bool = False


def mean_by(*metrics: str) -> Total:
    """A mean over flows or stations, weighted by the sum of these metrics."""
    return Total("mean", metrics)


SUM: Final = Total("sum")
SUM_OF_ALL: Final = Total("sum", complete=True)
MEAN: Final = Total("mean")
LARGEST: Final = Total("max")
POOLED: Final = Total("pooled")
NONE: Final = Total("none")

MORE: Final[Direction] = "more"
LESS: Final[Direction] = "less"

METRICS: Final[dict[str, Metric]] = {
    "throughput_bps": Metric(
        "bit/s",
        "application octets delivered per second, times 8",
        SUM_OF_ALL,
        MORE,
        name="throughput",
    ),
    "offered_bps": Metric(
        "bit/s",
        "application octets offered per second, times 8; requests, responses and repetitions",
        SUM_OF_ALL,
    ),
    "fairness_ratio": Metric(
        "1",
        "Jain's index of the stations' throughputs: 1 if all are equal, 1 / n if one of n has all",
        NONE,
        MORE,
        name="fairness of throughputs (Jain)",
    ),
    "throughput_drift_bps": Metric(
        "bit/s",
        "throughput in the second half of the measured time less that in the first; only where "
        "they differ by more than 5 % of their mean",
        NONE,
    ),
    "measured_s": Metric(
        "s",
        "time over which the rates of a flow count, where its station joined during the traffic",
        NONE,
    ),
    "loss_ratio": Metric(
        "1",
        "datagrams sent and not delivered / sent",
        mean_by("packets_received", "packets_lost"),
        LESS,
        name="loss",
        percent=True,
    ),
    "delay_s": Metric(
        "s",
        "one-way delay, mean over packets",
        mean_by("packets_received"),
        LESS,
        name="mean delay",
    ),
    "delay_drift_s": Metric(
        "s",
        "mean delay in the second half of the measured time less that in the first; only where "
        "they differ by more than 5 % of their mean",
        NONE,
    ),
    "delay_p50_s": Metric("s", "one-way delay, median", POOLED, LESS),
    "delay_p95_s": Metric("s", "one-way delay, 95th percentile", POOLED, LESS, name="95 % delay"),
    "delay_p99_s": Metric("s", "one-way delay, 99th percentile", POOLED, LESS),
    "jitter_s": Metric(
        "s",
        "interarrival jitter (RFC 3550, 6.4.1) at the end of each second, mean",
        mean_by("packets_received"),
        LESS,
        name="jitter",
    ),
    "response_time_s": Metric("s", "request to response", MEAN, LESS, name="response time"),
    "response_p50_s": Metric("s", "request to response, median", POOLED, LESS),
    "response_p95_s": Metric("s", "request to response, 95th percentile", POOLED, LESS),
    "response_p99_s": Metric("s", "request to response, 99th percentile", POOLED, LESS),
    "voice_mos": Metric(
        "1", "mean opinion score of a call (ITU-T G.107 annex B); late packets are lost", MEAN, MORE
    ),
    "transfer_delay_s": Metric(
        "s", "sender to receiver, first octet sent to last octet delivered", MEAN, LESS
    ),
    "association_time_s": Metric(
        "s", "first authentication frame to association response", MEAN, LESS
    ),
    "eap_time_s": Metric(
        "s",
        "first EAP message from the client to Access-Accept / EAP-Success",
        MEAN,
        LESS,
        name="time of EAP",
    ),
    "key_handshake_time_s": Metric("s", "first to last message of the key handshake", MEAN, LESS),
    "join_time_s": Metric(
        "s", "start of the join to the last key and tunnel, CPU times included", MEAN, LESS
    ),
    "stations_joined": Metric("1", "stations that joined, of a cell with several", NONE, MORE),
    "joined_ratio": Metric(
        "1",
        "stations that joined / stations of the cell",
        NONE,
        MORE,
        name="share of clients that joined",
        percent=True,
    ),
    "join_attempts": Metric(
        "1", "times that a station began to join, where a failed join is repeated", MEAN, LESS
    ),
    "join_all_time_s": Metric(
        "s",
        "start of the first join to the end of the last",
        LARGEST,
        LESS,
        name="time until every client has joined",
    ),
    "negotiation_time_s": Metric(
        "s",
        "first to last packet of all that the policy negotiates",
        MEAN,
        LESS,
        name="time of a negotiation",
    ),
    "authentication_messages": Metric(
        "1", "messages of all that the policy negotiates", MEAN, LESS
    ),
    "authentication_octets": Metric(
        "octet", "octets of these messages: EAPOL PDUs, 802.11 frames, UDP payloads", MEAN, LESS
    ),
    "messages_ieee80211": Metric(
        "1", "authentication and association frames, repetitions included", MEAN, LESS
    ),
    "messages_eap": Metric("1", "EAP packets and EAPOL-Starts between station and AP", MEAN, LESS),
    "messages_eapol_key": Metric("1", "EAPOL-Key frames", MEAN, LESS),
    "messages_radius": Metric("1", "RADIUS packets between AP and server", MEAN, LESS),
    "messages_mobile_ip": Metric(
        "1", "Mobile IP messages, solicitations and advertisements included", MEAN, LESS
    ),
    "messages_ikev1": Metric("1", "IKEv1 messages", MEAN, LESS),
    "messages_ikev2": Metric("1", "IKEv2 messages", MEAN, LESS),
    "messages_wireguard": Metric("1", "WireGuard handshake messages", MEAN, LESS),
    "messages_openvpn": Metric("1", "packets of OpenVPN's control channel", MEAN, LESS),
    "mobile_ip_advertisements": Metric("1", "unsolicited agent advertisements on the air", SUM),
    "group_rekeys": Metric("1", "renewals of the AP's group keys during the traffic", SUM),
    "group_rekey_messages": Metric(
        "1", "messages of these renewals, repetitions included", SUM, LESS
    ),
    "group_rekey_time_s": Metric(
        "s",
        "start of a renewal until the last station has the keys, mean",
        mean_by("group_rekeys"),
        LESS,
        name="time of a group key renewal",
    ),
    "group_rekey_longest_s": Metric("s", "the longest of these times", LARGEST, LESS),
    "sae_commits_forged": Metric(
        "1", "forged SAE commits that were sent (`join.flood_per_s`)", SUM
    ),
    "sae_frames_dropped": Metric(
        "1",
        "frames for the AP under a flood that its full socket lost, those of stations included",
        SUM,
        LESS,
    ),
    "sae_commits_computed": Metric(
        "1", "forged commits for which the AP computed a shared key", SUM, LESS
    ),
    "associations_lost": Metric(
        "1", "deauthentications of a station by the AP during the traffic", SUM, LESS
    ),
    "rejoins": Metric("1", "rejoins of a deauthenticated station", SUM),
    "rejoin_gap_s": Metric(
        "s", "deauthentication to completed rejoin, mean", mean_by("rejoins"), LESS
    ),
    "outage_s": Metric(
        "s", "sum of these times: seconds of clients that were off the network", SUM, LESS
    ),
    "rejoin_gap_longest_s": Metric("s", "the longest of these times", LARGEST, LESS),
    "rejoin_messages": Metric("1", "messages of the rejoins, repetitions included", SUM, LESS),
    "handovers": Metric(
        "1",
        "hand-overs of a station with a path of several; the other metrics are their means",
        SUM,
    ),
    "handover_packets_kept": Metric(
        "1",
        "packets that the old AP buffered during the station's scan and then sent",
        mean_by("handovers"),
        MORE,
    ),
    "handover_gap_s": Metric(
        "s",
        "last data frame by the old AP to the first by the new one",
        mean_by("handovers"),
        LESS,
        name="gap of a hand-over",
    ),
    "handover_scan_s": Metric("s", "of the gap: scan for the new AP", mean_by("handovers"), LESS),
    "handover_association_s": Metric(
        "s",
        "of the gap: 802.11 authentication and (re)association, SAE and FT included",
        mean_by("handovers"),
        LESS,
    ),
    "handover_eap_s": Metric("s", "of the gap: EAP", mean_by("handovers"), LESS),
    "handover_keys_s": Metric("s", "of the gap: 4-way handshake", mean_by("handovers"), LESS),
    "handover_mobile_ip_s": Metric(
        "s", "of the gap: Mobile IP registration", mean_by("handovers"), LESS
    ),
    "handover_movement_s": Metric(
        "s", "of the registration: until the station detected the move", mean_by("handovers"), LESS
    ),
    "handover_tunnel_s": Metric(
        "s",
        "of the gap: IKE or WireGuard, or MOBIKE's move of a tunnel",
        mean_by("handovers"),
        LESS,
    ),
    "handover_tunnel_messages": Metric(
        "1", "messages of the tunnel's negotiation or move", mean_by("handovers"), LESS
    ),
    "handover_tunnel_octets": Metric(
        "octet", "octets of these messages inside UDP", mean_by("handovers"), LESS
    ),
    "handover_address_s": Metric(
        "s",
        "of the gap: until packets for the station go to the new AP (`handover.stale_address_s`)",
        mean_by("handovers"),
        LESS,
    ),
    "handover_full_rate_s": Metric(
        "s",
        "first data frame by the new AP to the first one after all faults of the hand-over ended; "
        "not of the gap",
        mean_by("handovers"),
        LESS,
    ),
    "handover_wait_s": Metric(
        "s",
        "of the gap: waiting time for a packet, before and after the rest",
        mean_by("handovers"),
        LESS,
    ),
    "handover_join_s": Metric(
        "s",
        "departure from the old AP until the station can send by the new one",
        mean_by("handovers"),
        LESS,
    ),
    "handover_scans": Metric(
        "1", "scans with frames, those without a result included", mean_by("handovers"), LESS
    ),
    "handover_left_s": Metric(
        "s", "start of the traffic to the departure of a walking station", mean_by("handovers")
    ),
    "handover_old_level_dbm": Metric("dBm", "level of the old AP at the decision to move", NONE),
    "handover_new_level_dbm": Metric("dBm", "level of the new AP at the decision to move", NONE),
    "handover_request_s": Metric(
        "s",
        "before the gap: FT request through the old AP until the departure (over the DS)",
        mean_by("handovers"),
        LESS,
    ),
    "preauthentication_time_s": Metric(
        "s",
        "before the hand-over: EAP with the new AP through the old one; none without "
        "pre-authentication",
        MEAN,
        LESS,
    ),
    "preauthentication_messages": Metric(
        "1", "messages of the pre-authentication, RADIUS included", MEAN, LESS
    ),
    "handover_messages": Metric(
        "1", "messages sent to join the new AP", mean_by("handovers"), LESS
    ),
    "handover_packets_lost": Metric(
        "1",
        "packets lost from the departure to the next delivery",
        mean_by("handovers"),
        LESS,
        name="number of packets lost per hand-over",
    ),
    "cpu_share": Metric("1", "busy share of one CPU", LARGEST, LESS, percent=True),
    "power_w": Metric("W", "mean power of a node, by its profile", MEAN, LESS, name="mean power"),
    "doze_share": Metric("1", "share of the time that a station dozed", MEAN, MORE, percent=True),
    "join_energy_j": Metric(
        "J",
        "energy of a station's join, from its first frame on; none where its profile lacks the "
        "cost of a handshake operation",
        MEAN,
        LESS,
    ),
    "wake_energy_j": Metric(
        "J", "energy from a wake-up to the first frame of the join (`duty`)", MEAN, LESS
    ),
    "message_energy_j": Metric(
        "J", "energy of a message beyond that of the time without it (`duty`)", MEAN, LESS
    ),
    "day_energy_j": Metric("J", "energy of a station in a day of its `duty`", MEAN, LESS),
    "battery_days": Metric(
        "d", "time that a station's battery lasts with its `duty`, days", MEAN, MORE
    ),
    "battery_h": Metric("h", "time that a station's battery lasts at its mean power", MEAN, MORE),
    "energy_j_per_bit": Metric(
        "J/bit", "energy per delivered bit, by the device profile", SUM, LESS
    ),
    "sender_time_s": Metric(
        "s",
        "per packet, time at the sender (Agarwal equation 1, T^s), mean",
        mean_by("packets_received"),
        LESS,
    ),
    "transit_time_s": Metric(
        "s",
        "per packet, time in transit (Agarwal equation 1, T^t), mean",
        mean_by("packets_received"),
        LESS,
    ),
    "receiver_time_s": Metric(
        "s",
        "per packet, time at the receiver (Agarwal equation 1, T^r), mean",
        mean_by("packets_received"),
        LESS,
    ),
    "packets_sent": Metric("1", "packets handed to the network by the sender", SUM),
    "packets_received": Metric("1", "packets delivered to the receiving application", SUM, MORE),
    "packets_lost": Metric("1", "packets dropped on the way", SUM, LESS),
    # Lost packets of the whole cell by cause: their sum is that of packets_lost.
    "packets_lost_full": Metric("1", "lost packets that found a full queue or buffer", SUM, LESS),
    "packets_lost_aqm": Metric("1", "lost packets that CoDel or FQ-CoDel dropped", SUM, LESS),
    "packets_lost_attempts": Metric(
        "1", "lost packets whose last attempt on the air failed (`retry_limit`)", SUM, LESS
    ),
    "packets_lost_lifetime": Metric(
        "1",
        "lost packets whose lifetime in a transmit queue was over (`queue_max_delay_ms`)",
        SUM,
        LESS,
    ),
    "packets_lost_away": Metric(
        "1",
        "lost packets whose receiver or sender was not, or no longer, associated with the access "
        "point that had them; those that still wait there at the end of the trial are lost, too",
        SUM,
        LESS,
    ),
    "packets_lost_wire": Metric("1", "packets that a wire lost", SUM, LESS),
    "packets_lost_length": Metric(
        "1", "lost packets that were too long for the path and must not be fragmented", SUM, LESS
    ),
    "packets_lost_address": Metric(
        "1",
        "lost packets for whose next hop no node answered (ARP, Neighbour Discovery)",
        SUM,
        LESS,
    ),
    "packets_lost_replay": Metric(
        "1",
        "lost packets whose packet number was below one that the receiver had taken "
        "(`card.reorders_packet_numbers`)",
        SUM,
        LESS,
    ),
    "packets_queued": Metric(
        "1", "packets in queues or in flight at the end of the trial", SUM, LESS
    ),
    "tcp_retransmissions": Metric("1", "retransmitted TCP segments", SUM, LESS),
    # Airtime ledger of the whole cell: the parts add up to the trial's duration.
    "airtime_payload_s": Metric("s", "application octets on air", SUM),
    "airtime_ip_transport_s": Metric("s", "LLC, IP and transport header octets on air", SUM),
    "airtime_mac_phy_s": Metric("s", "preambles, PLCP headers, MAC headers, FCS, padding", SUM),
    "airtime_security_s": Metric(
        "s", "octets that security adds to data frames, on air", SUM, LESS
    ),
    "airtime_ack_s": Metric("s", "acknowledgements and the SIFS before them", SUM),
    "airtime_contention_s": Metric(
        "s", "interframe spaces and back-off while a node had a frame", SUM
    ),
    "backoff_excess_slots": Metric(
        "1",
        "drawn back-off slots less their expectation, since the warm-up; the sum's expectation is "
        'zero; only with `trials.control = "backoff"`',
        NONE,
    ),
    "airtime_card_s": Metric(
        "s",
        "silence that ended only when a network card had prepared the next frame; only where a "
        "device has such a card",
        SUM,
    ),
    "airtime_interference_s": Metric(
        "s",
        "time in which a node had a frame, no frame was on the air, and an interferer made the "
        "medium busy; only where the scenario has an interferer",
        SUM,
        LESS,
    ),
    "airtime_neighbours_s": Metric(
        "s",
        "exchanges of neighbours and Probe Requests of passers-by that the own access point "
        "senses; only where the scenario has either",
        SUM,
    ),
    "airtime_retry_s": Metric("s", "failed exchanges: collisions and frame errors", SUM, LESS),
    "airtime_protection_s": Metric("s", "RTS, CTS, Trigger frames and their SIFS", SUM),
    "airtime_management_s": Metric(
        "s",
        "beacons, Probe Responses, authentication, association, key handshakes, ARP and ND",
        SUM,
    ),
    "airtime_idle_s": Metric("s", "no node had a frame to send", SUM),
    **{
        f"busy_link_{number}_share": Metric(
            "1",
            f"share of the time in which frames are on the air of link {number} of `mlo`; only "
            "with multi-link operation",
            NONE,
            percent=True,
        )
        for number in (1, 2, 3)
    },
    "airtime_retry_share": Metric(
        "1",
        "retransmitted share of airtime: airtime_retry_s / airtime of all frames; missing where "
        "retries or acknowledgements were not measured, and in closed forms",
        NONE,
        LESS,
        percent=True,
    ),
    "group_airtime_share": Metric(
        "1",
        "airtime of the clients' group-addressed traffic / length of the trial: frames to the AP, "
        "group-addressed frames or copies of them, answers to requests; with acknowledgements, "
        "without contention; part of an A-MPDU by its octets. Only with `group_load`",
        NONE,
        LESS,
        name="share of the air that group-addressed messages take",
        percent=True,
    ),
    "group_messages": Metric(
        "1", "group-addressed messages sent, but those of the last 0.5 s", NONE
    ),
    "group_delivered_ratio": Metric(
        "1",
        "pairs of such a message and another station whose message arrived / all pairs",
        NONE,
        MORE,
        name="share of group-addressed messages that arrive",
        percent=True,
    ),
    "group_delay_s": Metric(
        "s", "sending of such a message to its arrival at a station's application, mean", NONE, LESS
    ),
    "crypto_time_s": Metric("s", "duration of cipher operations, all engines", SUM, LESS),
    "crypto_exposed_s": Metric("s", "idle air during a cipher operation", SUM, LESS),
    "octets_payload": Metric("octet", "application octets on air", SUM),
    "octets_ip_transport": Metric("octet", "LLC, IP and transport header octets on air", SUM),
    "octets_mac": Metric("octet", "MAC header and FCS octets on air", SUM),
    "octets_security": Metric("octet", "octets that security adds, on air", SUM, LESS),
    "octets_management": Metric(
        "octet", "octets of management and key handshake frames, ARP and ND", SUM
    ),
    "octets_control": Metric("octet", "octets of received acknowledgements", SUM),
    "octets_retry": Metric("octet", "octets of data frames in failed exchanges", SUM, LESS),
    "rate_forbidden_bps": Metric("bit/s", "PHY rate that the station's cipher forbids", NONE),
    "rate_used_bps": Metric("bit/s", "PHY rate that the station falls back to", NONE, MORE),
}

#: Metrics of the traffic of a trial that say nothing about a day of a ``duty``, in which the
#: station sleeps, wakes and joins.
OF_THE_TRIAL: Final = frozenset({"power_w", "energy_j_per_bit", "doze_share"})
#: Metrics that only a station that joins has.
OF_JOINS: Final = frozenset(
    {
        "eap_time_s",
        "key_handshake_time_s",
        "join_time_s",
        "stations_joined",
        "joined_ratio",
        "join_attempts",
        "join_all_time_s",
        "join_energy_j",
        "negotiation_time_s",
        "authentication_messages",
        "authentication_octets",
        *(name for name in METRICS if name.startswith(("messages_", "rejoin"))),
    }
)
#: Metrics between 0 and 1.
SHARES: Final = tuple(name for name in METRICS if name.endswith(("_ratio", "_share")))

#: The cost of security in throughput, by the study's definition; no metric of a trial.
OVERHEAD: Final = "overhead"
_OVERHEAD: Final = Metric(
    "1", "throughput that security costs", NONE, LESS, name="throughput overhead", percent=True
)


def quantity(name: str) -> Metric:
    """The entry of a metric or of the overhead; an empty one for another name."""
    return _OVERHEAD if name == OVERHEAD else METRICS.get(name, Metric("", "", NONE))


def name_of(name: str) -> str:
    """A metric, or the overhead, for people."""
    found = quantity(name)
    stem, _, last = name.rpartition("_")
    # The last word of a count names the things that are counted; others end with the unit.
    counts = found.unit in ("1", "octet") and last not in ("share", "mos")
    return found.name or (name if counts or not stem else stem).replace("_", " ")


def meant(name: str, among: Sequence[str] = tuple(METRICS)) -> str:
    """Metrics that share a word with a name that is none, or all of them."""
    words = {word for word in name.split("_") if len(word) > 1}
    alike = difflib.get_close_matches(name, among, n=3)
    alike += [one for one in among if words & set(one.split("_")) and one not in alike]
    if alike:
        return f"did you mean {', '.join(alike[:8])}?"
    return f"allowed are {', '.join(among)}"


def more_is_better(name: str) -> bool:
    """Whether the larger of two values is the better one."""
    return quantity(name).better == "more"
