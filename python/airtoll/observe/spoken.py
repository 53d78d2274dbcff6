"""The name of a metric in a sentence, the largest change of it that stays unnoticed, and the words
of verdicts that every layer shares.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

#: Verdict on a change inside of the unnoticed range.
NOTHING_NOTICED: Final = "nothing that anyone would notice"
#: Verdict on an interval that holds both no change and one that would be noticed.
UNDECIDED: Final = "too few trials to tell"

#: share: a change is told as a share of what was; values: by both values, though what goes
#: unnoticed is a share; difference: from what to what; points: of a share; lost: as the packets
#: that a hand-over loses.
Told = Literal["share", "values", "difference", "points", "lost"]


class Spoken(NamedTuple):
    """``words``: the metric with its article, if it has one; ``told``: how its changes are told.

    ``unnoticed``: the largest unnoticed change, a share where changes are told as one, else in
    the metric's unit.
    """

    words: str
    told: Told = "difference"
    unnoticed: float = 0.0

    @property
    def is_share(self) -> bool:
        """Whether changes are shares of what was."""
        return self.told in ("share", "values")


#: Largest unnoticed change, as a share of a quantity.
UNNOTICED_SHARE: Final = 0.01
#: A change of the delay of speech that no listener hears.
_HEARD_S: Final = 0.005
#: The limit of what feels immediate (Nielsen, Usability Engineering, 1993, chapter 5).
_FELT_S: Final = 0.1
#: Up to so many clients the time until all have joined is one that a person waits for, as a join.
_WAITED_FOR: Final = 2
_ALL_JOINED: Final = "join_all_time_s"

SPOKEN: Final[dict[str, Spoken]] = {
    "throughput_bps": Spoken("throughput", "share", 0.01),
    "delay_s": Spoken("the mean delay", "difference", _HEARD_S),
    "delay_p50_s": Spoken("the median delay", "difference", _HEARD_S),
    "delay_p95_s": Spoken("the 95 % delay", "difference", _HEARD_S),
    "delay_p99_s": Spoken("the 99 % delay", "difference", _HEARD_S),
    "jitter_s": Spoken("jitter", "difference", _HEARD_S),
    "loss_ratio": Spoken("loss", "points", 0.001),
    "response_time_s": Spoken("the response time", "difference", _HEARD_S),
    "handover_gap_s": Spoken("the gap of a hand-over", "difference", _HEARD_S),
    "handover_join_s": Spoken("the interruption of a hand-over", "difference", _HEARD_S),
    "handover_packets_lost": Spoken("the number of packets lost per hand-over", "lost", 0.5),
    "handover_address_s": Spoken("the wait for the address", "difference", _HEARD_S),
    "handover_full_rate_s": Spoken("the time until the full rate is back", "difference", _FELT_S),
    "packets_lost_replay": Spoken("the number of packets dropped as replays", "difference", 0.5),
    "voice_mos": Spoken("the quality of a call (MOS)", "difference", 0.1),
    "association_time_s": Spoken("the time of an association", "difference", _FELT_S),
    "join_time_s": Spoken("the time of a join", "difference", _FELT_S),
    _ALL_JOINED: Spoken("the time until every client has joined", "difference", 1.0),
    "negotiation_time_s": Spoken("the time of a negotiation", "difference", _FELT_S),
    "eap_time_s": Spoken("the time of EAP", "difference", _FELT_S),
    "key_handshake_time_s": Spoken("the time of the key handshake", "difference", _FELT_S),
    "group_rekey_time_s": Spoken("the time of a group key renewal", "difference", _FELT_S),
    "rejoin_gap_s": Spoken("the time off the network", "difference", _FELT_S),
    "outage_s": Spoken("the sum of all times off the network", "difference", 1.0),
    "associations_lost": Spoken("the number of lost associations", "difference", 0.0),
    "join_attempts": Spoken("the number of attempts to join", "difference", 0.0),
    "joined_ratio": Spoken("the share of clients that join", "points", 0.0),
    "fairness_ratio": Spoken("fairness of throughputs (Jain's index)", "difference", 0.01),
    "authentication_messages": Spoken("the number of messages", "difference", 0.0),
    "authentication_octets": Spoken("the size of the messages", "share", 0.01),
    "group_airtime_share": Spoken("the air that group-addressed messages take", "points", 0.001),
    "group_delivered_ratio": Spoken(
        "the share of group-addressed messages that arrive", "points", 0.001
    ),
    "group_delay_s": Spoken("the delay of group-addressed messages", "difference", _FELT_S),
    "battery_days": Spoken("battery life", "values", 0.01),
    "join_energy_j": Spoken("the energy of a join", "values", 0.01),
    "wake_energy_j": Spoken("the energy of a wake-up", "values", 0.01),
    "message_energy_j": Spoken("the energy of a message", "values", 0.01),
    "day_energy_j": Spoken("the energy of a day", "values", 0.01),
    "battery_h": Spoken("battery life", "share", 0.01),
    "power_w": Spoken("mean power", "share", 0.01),
    "energy_j_per_bit": Spoken("energy per bit", "share", 0.01),
    "cpu_share": Spoken("the CPU share", "points", 0.01),
}


#: The other metrics in a sentence, told only by request. Each is one thing (a number, a time, a
#: share), so that its verb is "rises", "stays" and "is".
_NAMED: Final[dict[str, str]] = {
    "offered_bps": "the offered load",
    "throughput_drift_bps": "the drift of throughput",
    "measured_s": "the measured time",
    "delay_drift_s": "the drift of the mean delay",
    "response_p50_s": "the median response time",
    "response_p95_s": "the 95 % response time",
    "response_p99_s": "the 99 % response time",
    "transfer_delay_s": "the duration of a transfer",
    "stations_joined": "the number of stations that joined",
    "messages_ieee80211": "the number of authentication and association frames",
    "messages_eap": "the number of EAP messages",
    "messages_eapol_key": "the number of EAPOL-Key frames",
    "messages_radius": "the number of RADIUS packets",
    "messages_mobile_ip": "the number of Mobile IP messages",
    "messages_ikev1": "the number of IKEv1 messages",
    "messages_ikev2": "the number of IKEv2 messages",
    "messages_wireguard": "the number of WireGuard messages",
    "messages_openvpn": "the number of OpenVPN control packets",
    "mobile_ip_advertisements": "the number of Mobile IP advertisements",
    "group_rekeys": "the number of group key renewals",
    "group_rekey_messages": "the number of messages of group key renewals",
    "group_rekey_longest_s": "the longest group key renewal",
    "sae_commits_forged": "the number of forged SAE commits",
    "sae_frames_dropped": "the number of frames that the flood drops",
    "sae_commits_computed": "the number of forged SAE commits that the access point computes",
    "rejoins": "the number of rejoins",
    "rejoin_gap_longest_s": "the longest time off the network",
    "rejoin_messages": "the number of messages of rejoins",
    "handovers": "the number of hand-overs",
    "handover_packets_kept": "the number of packets that the old access point keeps",
    "handover_scan_s": "the scan of a hand-over",
    "handover_association_s": "the association of a hand-over",
    "handover_eap_s": "the EAP exchange of a hand-over",
    "handover_keys_s": "the key handshake of a hand-over",
    "handover_mobile_ip_s": "the Mobile IP registration of a hand-over",
    "handover_movement_s": "the time until a move is detected",
    "handover_tunnel_s": "the tunnel negotiation of a hand-over",
    "handover_tunnel_messages": "the number of tunnel messages of a hand-over",
    "handover_tunnel_octets": "the size of the tunnel messages of a hand-over",
    "handover_wait_s": "the wait for a packet in a hand-over",
    "handover_scans": "the number of scans of a hand-over",
    "handover_left_s": "the time until a walking station leaves",
    "handover_old_level_dbm": "the level of the old access point",
    "handover_new_level_dbm": "the level of the new access point",
    "handover_request_s": "the FT request before a hand-over",
    "preauthentication_time_s": "the time of a pre-authentication",
    "preauthentication_messages": "the number of messages of a pre-authentication",
    "handover_messages": "the number of messages of a hand-over",
    "doze_share": "the share of the time that a station dozes",
    "sender_time_s": "the time at the sender",
    "transit_time_s": "the time in transit",
    "receiver_time_s": "the time at the receiver",
    "packets_sent": "the number of sent packets",
    "packets_received": "the number of received packets",
    "packets_lost": "the number of lost packets",
    "packets_lost_full": "the number of packets lost to full queues",
    "packets_lost_aqm": "the number of packets that CoDel drops",
    "packets_lost_attempts": "the number of packets lost after their last attempt",
    "packets_lost_lifetime": "the number of packets lost after their lifetime",
    "packets_lost_away": "the number of packets lost while a station is away",
    "packets_lost_wire": "the number of packets that a wire loses",
    "packets_lost_length": "the number of packets too long for the path",
    "packets_lost_address": "the number of packets lost without an address",
    "packets_queued": "the number of packets left in queues",
    "tcp_retransmissions": "the number of TCP retransmissions",
    "airtime_payload_s": "the airtime of payload",
    "airtime_ip_transport_s": "the airtime of IP and transport headers",
    "airtime_mac_phy_s": "the airtime of preambles and MAC headers",
    "airtime_security_s": "the airtime of security",
    "airtime_ack_s": "the airtime of acknowledgements",
    "airtime_contention_s": "the time of contention",
    "backoff_excess_slots": "the excess of drawn back-off",
    "airtime_card_s": "the wait for the card",
    "airtime_interference_s": "the airtime of interference",
    "airtime_neighbours_s": "the airtime of neighbours",
    "airtime_retry_s": "the airtime of failed exchanges",
    "airtime_protection_s": "the airtime of protection",
    "airtime_management_s": "the airtime of management frames",
    "airtime_idle_s": "the idle time of the air",
    **{f"busy_link_{number}_share": f"the busy share of link {number}" for number in (1, 2, 3)},
    "airtime_retry_share": "the share of airtime that retries take",
    "group_messages": "the number of group-addressed messages",
    "crypto_time_s": "the time of ciphers",
    "crypto_exposed_s": "the wait for ciphers",
    "octets_payload": "the amount of payload on the air",
    "octets_ip_transport": "the amount of IP and transport headers on the air",
    "octets_mac": "the amount of MAC headers on the air",
    "octets_security": "the amount of security octets on the air",
    "octets_management": "the amount of management octets on the air",
    "octets_control": "the amount of acknowledgement octets on the air",
    "octets_retry": "the amount of retried octets on the air",
    "rate_forbidden_bps": "the rate that the cipher forbids",
    "rate_used_bps": "the rate that is used",
}


def unnoticed_among(metric: str, clients: int) -> float:
    """The largest unnoticed change of a metric where so many clients are."""
    if metric == _ALL_JOINED and clients <= _WAITED_FOR:
        return _FELT_S
    return spoken(metric).unnoticed


def spoken(metric: str) -> Spoken:
    """The words and limits of a metric; another name stands for itself."""
    return SPOKEN.get(metric) or Spoken(_NAMED.get(metric) or f"the {metric.replace('_', ' ')}")
