"""The known metrics: unit, meaning, and the total over the flows and stations of a cell.

Imports nothing but the standard library: the real stack's guests read it, too, and a table library
would take longer to load there than a trial to begin.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

#: Prefix of a caveat: the CPU, not the air, limited the measured values.
NOT_RADIO: Final = "no radio throughput: "
#: Prefix of a caveat: rates that the study does not state.
RATE: Final = "rate: "
#: Prefix of a caveat: a queue, a window or a wire, not the air, limits the throughput.
LIMIT: Final = "limit: "


class Total(NamedTuple):
    """How the values of the flows and stations of one trial become that of the whole cell.

    ``sum``; ``mean``, weighted by the sum of the metrics in ``by``, or alike without them; ``max``;
    ``pooled``: the percentile of the packets of all flows; ``none``: no value stands for all.
    ``complete``: only where every flow with a throughput has the metric.
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
    """The unit of a metric, its meaning, and its total over the flows and stations of a cell."""

    unit: str
    meaning: str
    total: Total


def mean_by(*metrics: str) -> Total:
    """A mean over flows or stations, weighted by the sum of these metrics."""
    return Total("mean", metrics)


SUM: Final = Total("sum")
SUM_OF_ALL: Final = Total("sum", complete=True)
MEAN: Final = Total("mean")
LARGEST: Final = Total("max")
POOLED: Final = Total("pooled")
NONE: Final = Total("none")

METRICS: Final[dict[str, Metric]] = {
    "throughput_bps": Metric("bit/s", "application octets delivered per second, times 8", SUM),
    "offered_bps": Metric("bit/s", "application octets offered per second, times 8", SUM_OF_ALL),
    "fairness_ratio": Metric(
        "1",
        "Jain's index of the stations' throughputs: 1 if all are equal, 1 / n if one of n has all",
        NONE,
    ),
    "measured_s": Metric(
        "s",
        "time over which the rates of a flow count, where its station joined during the traffic",
        NONE,
    ),
    "loss_ratio": Metric(
        "1", "datagrams sent and not delivered / sent", mean_by("packets_received", "packets_lost")
    ),
    "delay_s": Metric("s", "one-way delay, mean over packets", mean_by("packets_received")),
    "delay_p50_s": Metric("s", "one-way delay, median", POOLED),
    "delay_p95_s": Metric("s", "one-way delay, 95th percentile", POOLED),
    "delay_p99_s": Metric("s", "one-way delay, 99th percentile", POOLED),
    "jitter_s": Metric(
        "s",
        "interarrival jitter (RFC 3550, 6.4.1) at the end of each second, mean",
        mean_by("packets_received"),
    ),
    "response_time_s": Metric("s", "request to response", MEAN),
    "response_p50_s": Metric("s", "request to response, median", POOLED),
    "response_p95_s": Metric("s", "request to response, 95th percentile", POOLED),
    "response_p99_s": Metric("s", "request to response, 99th percentile", POOLED),
    "voice_mos": Metric(
        "1", "mean opinion score of a call (ITU-T G.107 annex B); late packets are lost", MEAN
    ),
    "transfer_delay_s": Metric(
        "s", "sender to receiver, first octet sent to last octet delivered", MEAN
    ),
    "association_time_s": Metric("s", "first authentication frame to association response", MEAN),
    "eap_time_s": Metric(
        "s", "first EAP message from the client to Access-Accept / EAP-Success", MEAN
    ),
    "key_handshake_time_s": Metric("s", "first to last message of the key handshake", MEAN),
    "join_time_s": Metric(
        "s", "start of the join to the last key and tunnel, CPU times included", MEAN
    ),
    "stations_joined": Metric("1", "stations that joined, of a cell with several", NONE),
    "joined_ratio": Metric("1", "stations that joined / stations of the cell", NONE),
    "join_all_time_s": Metric("s", "start of the first join to the end of the last", LARGEST),
    "negotiation_time_s": Metric(
        "s", "first to last packet of all that the policy negotiates", MEAN
    ),
    "authentication_messages": Metric("1", "messages of all that the policy negotiates", MEAN),
    "authentication_octets": Metric(
        "octet", "octets of these messages: EAPOL PDUs, 802.11 frames, UDP payloads", MEAN
    ),
    "messages_ieee80211": Metric(
        "1", "authentication and association frames, repetitions included", MEAN
    ),
    "messages_eap": Metric("1", "EAP packets and EAPOL-Starts between station and AP", MEAN),
    "messages_eapol_key": Metric("1", "EAPOL-Key frames", MEAN),
    "messages_radius": Metric("1", "RADIUS packets between AP and server", MEAN),
    "messages_mobile_ip": Metric(
        "1", "Mobile IP messages, solicitations and advertisements included", MEAN
    ),
    "messages_ikev1": Metric("1", "IKEv1 messages", MEAN),
    "messages_ikev2": Metric("1", "IKEv2 messages", MEAN),
    "messages_wireguard": Metric("1", "WireGuard handshake messages", MEAN),
    "messages_openvpn": Metric("1", "packets of OpenVPN's control channel", MEAN),
    "mobile_ip_advertisements": Metric("1", "unsolicited agent advertisements on the air", SUM),
    "group_rekeys": Metric("1", "renewals of the AP's group keys during the traffic", SUM),
    "group_rekey_messages": Metric("1", "messages of these renewals, repetitions included", SUM),
    "group_rekey_time_s": Metric(
        "s", "start of a renewal until the last station has the keys, mean", mean_by("group_rekeys")
    ),
    "group_rekey_longest_s": Metric("s", "the longest of these times", LARGEST),
    "associations_lost": Metric(
        "1", "deauthentications of a station by the AP during the traffic", SUM
    ),
    "rejoins": Metric("1", "rejoins of a deauthenticated station", SUM),
    "rejoin_gap_s": Metric("s", "deauthentication to completed rejoin, mean", mean_by("rejoins")),
    "rejoin_gap_longest_s": Metric("s", "the longest of these times", LARGEST),
    "rejoin_messages": Metric("1", "messages of the rejoins, repetitions included", SUM),
    "handovers": Metric(
        "1",
        "hand-overs of a station with a path of several; the other metrics are their means",
        SUM,
    ),
    "handover_packets_kept": Metric(
        "1",
        "packets that the old AP buffered during the station's scan and then sent",
        mean_by("handovers"),
    ),
    "handover_gap_s": Metric(
        "s", "last data frame by the old AP to the first by the new one", mean_by("handovers")
    ),
    "handover_scan_s": Metric("s", "of the gap: scan for the new AP", mean_by("handovers")),
    "handover_association_s": Metric(
        "s",
        "of the gap: 802.11 authentication and (re)association, SAE and FT included",
        mean_by("handovers"),
    ),
    "handover_eap_s": Metric("s", "of the gap: EAP", mean_by("handovers")),
    "handover_keys_s": Metric("s", "of the gap: 4-way handshake", mean_by("handovers")),
    "handover_mobile_ip_s": Metric("s", "of the gap: Mobile IP registration", mean_by("handovers")),
    "handover_movement_s": Metric(
        "s", "of the registration: until the station detected the move", mean_by("handovers")
    ),
    "handover_tunnel_s": Metric(
        "s", "of the gap: IKE or WireGuard, or MOBIKE's move of a tunnel", mean_by("handovers")
    ),
    "handover_tunnel_messages": Metric(
        "1", "messages of the tunnel's negotiation or move", mean_by("handovers")
    ),
    "handover_tunnel_octets": Metric(
        "octet", "octets of these messages inside UDP", mean_by("handovers")
    ),
    "handover_wait_s": Metric(
        "s",
        "of the gap: waiting time for a packet, before and after the rest",
        mean_by("handovers"),
    ),
    "handover_join_s": Metric(
        "s",
        "departure from the old AP until the station can send by the new one",
        mean_by("handovers"),
    ),
    "handover_scans": Metric(
        "1", "scans with frames, those without a result included", mean_by("handovers")
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
    ),
    "preauthentication_time_s": Metric(
        "s",
        "before the hand-over: EAP with the new AP through the old one; none without "
        "pre-authentication",
        MEAN,
    ),
    "preauthentication_messages": Metric(
        "1", "messages of the pre-authentication, RADIUS included", MEAN
    ),
    "handover_messages": Metric("1", "messages sent to join the new AP", mean_by("handovers")),
    "handover_packets_lost": Metric(
        "1", "packets lost from the departure to the next delivery", mean_by("handovers")
    ),
    "cpu_share": Metric("1", "busy share of one CPU", LARGEST),
    "power_w": Metric("W", "mean power of a node, by its profile", MEAN),
    "doze_share": Metric("1", "share of the time that a station dozed", MEAN),
    "battery_h": Metric("h", "time that a station's battery lasts at its mean power", MEAN),
    "energy_j_per_bit": Metric("J/bit", "energy per delivered bit, by the device profile", SUM),
    "sender_time_s": Metric(
        "s",
        "per packet, time at the sender (Agarwal equation 1, T^s), mean",
        mean_by("packets_received"),
    ),
    "transit_time_s": Metric(
        "s",
        "per packet, time in transit (Agarwal equation 1, T^t), mean",
        mean_by("packets_received"),
    ),
    "receiver_time_s": Metric(
        "s",
        "per packet, time at the receiver (Agarwal equation 1, T^r), mean",
        mean_by("packets_received"),
    ),
    "packets_sent": Metric("1", "packets handed to the network by the sender", SUM),
    "packets_received": Metric("1", "packets delivered to the receiving application", SUM),
    "packets_lost": Metric("1", "packets dropped on the way", SUM),
    # Lost packets of the whole cell by cause: their sum is that of packets_lost.
    "packets_lost_full": Metric("1", "lost packets that found a full queue or buffer", SUM),
    "packets_lost_aqm": Metric("1", "lost packets that CoDel or FQ-CoDel dropped", SUM),
    "packets_lost_attempts": Metric(
        "1", "lost packets whose last attempt on the air failed (`retry_limit`)", SUM
    ),
    "packets_lost_lifetime": Metric(
        "1", "lost packets whose lifetime in a transmit queue was over (`queue_max_delay_ms`)", SUM
    ),
    "packets_lost_away": Metric(
        "1",
        "lost packets whose receiver or sender was not, or no longer, associated with the access "
        "point that had them; those that still wait there at the end of the trial are lost, too",
        SUM,
    ),
    "packets_lost_wire": Metric("1", "packets that a wire lost", SUM),
    "packets_lost_length": Metric(
        "1", "lost packets that were too long for the path and must not be fragmented", SUM
    ),
    "packets_lost_address": Metric(
        "1", "lost packets for whose next hop no node answered (ARP, Neighbour Discovery)", SUM
    ),
    "packets_queued": Metric("1", "packets in queues or in flight at the end of the trial", SUM),
    "tcp_retransmissions": Metric("1", "retransmitted TCP segments", SUM),
    # Airtime ledger of the whole cell: the parts add up to the trial's duration.
    "airtime_payload_s": Metric("s", "application octets on air", SUM),
    "airtime_ip_transport_s": Metric("s", "LLC, IP and transport header octets on air", SUM),
    "airtime_mac_phy_s": Metric("s", "preambles, PLCP headers, MAC headers, FCS, padding", SUM),
    "airtime_security_s": Metric("s", "octets that security adds to data frames, on air", SUM),
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
    ),
    "airtime_retry_s": Metric("s", "failed exchanges: collisions and frame errors", SUM),
    "airtime_protection_s": Metric("s", "RTS, CTS and their SIFS", SUM),
    "airtime_management_s": Metric(
        "s",
        "beacons, authentication, association, key handshakes, ARP and ND",
        SUM,
    ),
    "airtime_idle_s": Metric("s", "no node had a frame to send", SUM),
    **{
        f"busy_link_{number}_share": Metric(
            "1",
            f"share of the time in which frames are on the air of link {number} of `mlo`; only "
            "with multi-link operation",
            NONE,
        )
        for number in (1, 2, 3)
    },
    "airtime_retry_share": Metric(
        "1",
        "retransmitted share of airtime: airtime_retry_s / airtime of all frames; missing where "
        "retries or acknowledgements were not measured, and in closed forms",
        NONE,
    ),
    "group_airtime_share": Metric(
        "1",
        "airtime of the clients' group-addressed traffic / length of the trial: frames to the AP, "
        "group-addressed frames or copies of them, answers to requests; with acknowledgements, "
        "without contention; part of an A-MPDU by its octets. Only with `group_load`",
        NONE,
    ),
    "group_messages": Metric(
        "1", "group-addressed messages sent, but those of the last 0.5 s", NONE
    ),
    "group_delivered_ratio": Metric(
        "1", "pairs of such a message and another station whose message arrived / all pairs", NONE
    ),
    "group_delay_s": Metric(
        "s", "sending of such a message to its arrival at a station's application, mean", NONE
    ),
    "crypto_time_s": Metric("s", "duration of cipher operations, all engines", SUM),
    "crypto_exposed_s": Metric("s", "idle air during a cipher operation", SUM),
    "octets_payload": Metric("octet", "application octets on air", SUM),
    "octets_ip_transport": Metric("octet", "LLC, IP and transport header octets on air", SUM),
    "octets_mac": Metric("octet", "MAC header and FCS octets on air", SUM),
    "octets_security": Metric("octet", "octets that security adds, on air", SUM),
    "octets_management": Metric(
        "octet", "octets of management and key handshake frames, ARP and ND", SUM
    ),
    "octets_control": Metric("octet", "octets of received acknowledgements", SUM),
    "octets_retry": Metric("octet", "octets of data frames in failed exchanges", SUM),
    "rate_forbidden_bps": Metric("bit/s", "PHY rate that the station's cipher forbids", NONE),
    "rate_used_bps": Metric("bit/s", "PHY rate that the station falls back to", NONE),
}

#: Metrics between 0 and 1.
SHARES: Final = tuple(name for name in METRICS if name.endswith(("_ratio", "_share")))
