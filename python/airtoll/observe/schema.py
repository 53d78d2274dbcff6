"""The observation schema: names, types, units and row order.

Takes nothing; gives the two Parquet schemas of a run and the list of known metrics.
Never does IO. Rows contain no wall-clock time, so equal runs are equal files.

``observations.parquet`` has one row per trial, metric, flow and (for a series) second.
``trials.parquet`` has one row per attempt of a trial with its status: a skipped or failed trial is
a row in that table and never a zero in the observations.
"""

from __future__ import annotations

from typing import Final

import polars as pl

SCHEMA_VERSION: Final = 1

OBSERVATIONS: Final[dict[str, pl.DataType]] = {
    "schema_version": pl.UInt16(),
    "study": pl.String(),
    "testbed": pl.String(),  # simulator | linux | analytic | published | imported | capture
    "cell": pl.String(),  # canonical cell name, "single/open/udp" (+ "?key=value;...")
    "scenario": pl.String(),
    "policy": pl.String(),  # catalogue name, never an alias
    "traffic": pl.String(),
    "factors": pl.String(),  # canonical JSON object of the other factor levels, "{}" if none
    "trial": pl.UInt32(),  # 1-based
    "attempt": pl.UInt32(),  # 1-based; above 1 after a re-run by the study's rule
    "seed": pl.UInt64(),
    "flow": pl.String(),  # null for a metric of the whole cell
    "station": pl.String(),  # null for a metric of the whole cell
    "second": pl.UInt32(),  # 0-based second of a series; null for a value of the whole trial
    "metric": pl.String(),
    "value": pl.Float64(),
    "unit": pl.String(),
}

TRIALS: Final[dict[str, pl.DataType]] = {
    "schema_version": pl.UInt16(),
    "study": pl.String(),
    "testbed": pl.String(),
    "cell": pl.String(),
    "scenario": pl.String(),
    "policy": pl.String(),
    "traffic": pl.String(),
    "factors": pl.String(),
    "trial": pl.UInt32(),
    "attempt": pl.UInt32(),
    "seed": pl.UInt64(),
    "status": pl.String(),  # ok | warm_up | rerun | skipped | failed
    "reason": pl.String(),  # reason of every status but ok; null for ok
    "caveats": pl.List(pl.String()),  # limits of the values' meaning
}

#: Prefix of a caveat: the CPU, not the air, limited the measured values.
NOT_RADIO: Final = "no radio throughput: "

ROW_ORDER: Final = ("cell", "trial", "attempt", "metric", "flow", "station", "second")
TRIAL_ORDER: Final = ("cell", "trial", "attempt")

#: metric -> (unit, meaning)
METRICS: Final[dict[str, tuple[str, str]]] = {
    "throughput_bps": ("bit/s", "application octets delivered per second, times 8"),
    "offered_bps": ("bit/s", "application octets offered per second, times 8"),
    "loss_ratio": ("1", "datagrams sent and not delivered / sent"),
    "delay_s": ("s", "one-way delay, mean over packets"),
    "delay_p50_s": ("s", "one-way delay, median"),
    "delay_p95_s": ("s", "one-way delay, 95th percentile"),
    "delay_p99_s": ("s", "one-way delay, 99th percentile"),
    "jitter_s": ("s", "interarrival jitter (RFC 3550, 6.4.1) at the end of each second, mean"),
    "response_time_s": ("s", "request to response"),
    "response_p50_s": ("s", "request to response, median"),
    "response_p95_s": ("s", "request to response, 95th percentile"),
    "response_p99_s": ("s", "request to response, 99th percentile"),
    "voice_mos": ("1", "mean opinion score of a call (ITU-T G.107 annex B); late packets are lost"),
    "transfer_delay_s": ("s", "sender to receiver, first octet sent to last octet delivered"),
    "association_time_s": ("s", "first authentication frame to association response"),
    "eap_time_s": ("s", "first EAP message from the client to Access-Accept / EAP-Success"),
    "key_handshake_time_s": ("s", "first to last message of the key handshake"),
    "join_time_s": ("s", "start of the join to the last key and tunnel, CPU times included"),
    "stations_joined": ("1", "stations that joined, of a cell with several"),
    "joined_ratio": ("1", "stations that joined / stations of the cell"),
    "join_all_time_s": ("s", "start of the first join to the end of the last"),
    "negotiation_time_s": ("s", "first to last packet of all that the policy negotiates"),
    "authentication_messages": ("1", "messages of all that the policy negotiates"),
    "messages_ieee80211": ("1", "authentication and association frames, repetitions included"),
    "messages_eap": ("1", "EAP packets and EAPOL-Starts between station and AP"),
    "messages_eapol_key": ("1", "EAPOL-Key frames"),
    "messages_radius": ("1", "RADIUS packets between AP and server"),
    "messages_mobile_ip": ("1", "Mobile IP messages, solicitations and advertisements included"),
    "messages_ikev1": ("1", "IKEv1 messages"),
    "messages_ikev2": ("1", "IKEv2 messages"),
    "messages_wireguard": ("1", "WireGuard handshake messages"),
    "mobile_ip_advertisements": ("1", "unsolicited agent advertisements on the air"),
    "group_rekeys": ("1", "renewals of the AP's group keys during the traffic"),
    "group_rekey_messages": ("1", "messages of these renewals, repetitions included"),
    "group_rekey_time_s": ("s", "start of a renewal until the last station has the keys, mean"),
    "group_rekey_longest_s": ("s", "the longest of these times"),
    "associations_lost": ("1", "deauthentications of a station by the AP during the traffic"),
    "rejoins": ("1", "rejoins of a deauthenticated station"),
    "rejoin_gap_s": ("s", "deauthentication to completed rejoin, mean"),
    "rejoin_gap_longest_s": ("s", "the longest of these times"),
    "rejoin_messages": ("1", "messages of the rejoins, repetitions included"),
    "handovers": (
        "1",
        "hand-overs of a station with a path of several; the other metrics are their means",
    ),
    "handover_packets_kept": (
        "1",
        "packets that the old AP buffered during the station's scan and then sent",
    ),
    "handover_gap_s": ("s", "last data frame by the old AP to the first by the new one"),
    "handover_scan_s": ("s", "of the gap: scan for the new AP"),
    "handover_association_s": (
        "s",
        "of the gap: 802.11 authentication and (re)association, SAE and FT included",
    ),
    "handover_eap_s": ("s", "of the gap: EAP"),
    "handover_keys_s": ("s", "of the gap: 4-way handshake"),
    "handover_mobile_ip_s": ("s", "of the gap: Mobile IP registration"),
    "handover_movement_s": ("s", "of the registration: until the station detected the move"),
    "handover_tunnel_s": ("s", "of the gap: IKE or WireGuard, or MOBIKE's move of a tunnel"),
    "handover_tunnel_messages": ("1", "messages of the tunnel's negotiation or move"),
    "handover_tunnel_octets": ("octet", "octets of these messages inside UDP"),
    "handover_wait_s": ("s", "of the gap: waiting time for a packet, before and after the rest"),
    "handover_join_s": ("s", "departure from the old AP until the station can send by the new one"),
    "handover_scans": ("1", "scans with frames, those without a result included"),
    "handover_left_s": ("s", "start of the traffic to the departure of a walking station"),
    "handover_old_level_dbm": ("dBm", "level of the old AP at the decision to move"),
    "handover_new_level_dbm": ("dBm", "level of the new AP at the decision to move"),
    "handover_request_s": (
        "s",
        "before the gap: FT request through the old AP until the departure (over the DS)",
    ),
    "preauthentication_time_s": (
        "s",
        "before the hand-over: EAP with the new AP through the old one; none without "
        "pre-authentication",
    ),
    "preauthentication_messages": ("1", "messages of the pre-authentication, RADIUS included"),
    "handover_messages": ("1", "messages sent to join the new AP"),
    "handover_packets_lost": ("1", "packets lost from the departure to the next delivery"),
    "cpu_share": ("1", "busy share of one CPU"),
    "energy_j_per_bit": ("J/bit", "energy per delivered bit, by the device profile"),
    "sender_time_s": ("s", "per packet, time at the sender (Agarwal equation 1, T^s), mean"),
    "transit_time_s": ("s", "per packet, time in transit (Agarwal equation 1, T^t), mean"),
    "receiver_time_s": ("s", "per packet, time at the receiver (Agarwal equation 1, T^r), mean"),
    "packets_sent": ("1", "packets handed to the network by the sender"),
    "packets_received": ("1", "packets delivered to the receiving application"),
    "packets_lost": ("1", "packets dropped on the way"),
    "packets_queued": ("1", "packets in queues or in flight at the end of the trial"),
    "tcp_retransmissions": ("1", "retransmitted TCP segments"),
    # Airtime ledger of the whole cell: the parts add up to the trial's duration.
    "airtime_payload_s": ("s", "application octets on air"),
    "airtime_ip_transport_s": ("s", "LLC, IP and transport header octets on air"),
    "airtime_mac_phy_s": ("s", "preambles, PLCP headers, MAC headers, FCS, padding"),
    "airtime_security_s": ("s", "octets that security adds to data frames, on air"),
    "airtime_ack_s": ("s", "acknowledgements and the SIFS before them"),
    "airtime_contention_s": ("s", "interframe spaces and back-off while a node had a frame"),
    "airtime_card_s": (
        "s",
        "silence that ended only when a network card had prepared the next frame; only where a "
        "device has such a card",
    ),
    "airtime_retry_s": ("s", "failed exchanges: collisions and frame errors"),
    "airtime_protection_s": ("s", "RTS, CTS and their SIFS"),
    "airtime_management_s": (
        "s",
        "beacons, authentication, association, key handshakes, ARP and ND",
    ),
    "airtime_idle_s": ("s", "no node had a frame to send"),
    "airtime_retry_share": (
        "1",
        "retransmitted share of airtime: airtime_retry_s / airtime of all frames; missing where "
        "retries or acknowledgements were not measured, and in closed forms",
    ),
    "crypto_time_s": ("s", "duration of cipher operations, all engines"),
    "crypto_exposed_s": ("s", "idle air during a cipher operation"),
    "octets_payload": ("octet", "application octets on air"),
    "octets_ip_transport": ("octet", "LLC, IP and transport header octets on air"),
    "octets_mac": ("octet", "MAC header and FCS octets on air"),
    "octets_security": ("octet", "octets that security adds, on air"),
    "octets_management": ("octet", "octets of management and key handshake frames, ARP and ND"),
    "octets_control": ("octet", "octets of received acknowledgements"),
    "octets_retry": ("octet", "octets of data frames in failed exchanges"),
    "rate_forbidden_bps": ("bit/s", "PHY rate that the station's cipher forbids"),
    "rate_used_bps": ("bit/s", "PHY rate that the station falls back to"),
}
