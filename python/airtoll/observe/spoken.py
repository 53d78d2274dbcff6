"""The name of a metric in a sentence, and the largest change of it that stays unnoticed."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

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


#: A change of the delay of speech that no listener hears.
_HEARD_S: Final = 0.005
#: The limit of what feels immediate (Nielsen, Usability Engineering, 1993, chapter 5).
_FELT_S: Final = 0.1

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
    "handover_join_s": Spoken("the time of a hand-over's join", "difference", _HEARD_S),
    "handover_packets_lost": Spoken("the number of packets lost per hand-over", "lost", 0.5),
    "handover_address_s": Spoken("the wait for the address", "difference", _HEARD_S),
    "handover_full_rate_s": Spoken("the time until the full rate is back", "difference", _FELT_S),
    "packets_lost_replay": Spoken("the number of packets dropped as replays", "difference", 0.5),
    "voice_mos": Spoken("the quality of a call (MOS)", "difference", 0.1),
    "association_time_s": Spoken("the time of an association", "difference", _FELT_S),
    "join_time_s": Spoken("the time of a join", "difference", _FELT_S),
    "join_all_time_s": Spoken("the time until every client has joined", "difference", 1.0),
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
    "authentication_octets": Spoken("the octets of the messages", "share", 0.01),
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


def spoken(metric: str) -> Spoken:
    """How a metric is spoken of; one without a row is named by its own name."""
    name, _, unit = metric.rpartition("_")
    return SPOKEN.get(metric) or Spoken("the " + (name or unit).replace("_", " "))
