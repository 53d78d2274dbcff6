"""Symptoms of failures, from the words of a complaint to cause, cure and the study that shows it.

Takes words; gives the symptoms that have them, best first. Causes and cures of mechanisms that
``airtoll explain`` ranks are the mechanism's own.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Final

from attrs import frozen

from airtoll.analyse.explain.mechanisms import MECHANISMS


@frozen
class Report:
    """A public report. ``met``: which of its figures the study meets; empty: it tells the same."""

    url: str
    met: str = ""


@frozen
class Symptom:
    """Something that people see.

    ``seen``: the complaint. ``study``: the shipped study that shows it. ``settings``: the fields of
    a study by which it comes about. ``words``: further words of complaints. ``mechanism``: the
    mechanism of ``airtoll explain`` that gives its cause and cure. ``needs``: how much has to come
    together for it, a judgement: 0 where any network may have it, 1 where it takes a kind of
    network or device, 2 where it takes an event or a fault, too. It orders equal matches.
    """

    seen: str
    study: str
    settings: tuple[str, ...]
    reports: tuple[Report, ...] = ()
    own_cause: str = ""
    own_cure: str = ""
    words: str = ""
    mechanism: str | None = None
    needs: int = 2

    @property
    def cause(self) -> str:
        """The reason for it."""
        return MECHANISMS[self.mechanism].words if self.mechanism else self.own_cause

    @property
    def cure(self) -> str:
        """The way to mend it."""
        return MECHANISMS[self.mechanism].remedy if self.mechanism else self.own_cure


SYMPTOMS: Final = (
    Symptom(
        "joins with certificates never end, and passwords of others work; or so since the "
        "certificate changed",
        "radius-fragments",
        ("radius.fragments", "radius.mtu_bytes", "join.chain", "join.eap_fragment_bytes"),
        (
            Report(
                "https://github.com/FreeRADIUS/freeradius-server/issues/1468",
                "requests above 1500 octets, there 1686, never arrive",
            ),
            Report(
                "https://wiki.govroam.uk/doku.php?id=public:how_to_deal_with_fragmentation_of_eap_packets"
            ),
        ),
        "a firewall, tunnel or proxy drops IP fragments of RADIUS packets",
        "EAP fragments of 1024 octets at both ends (FreeRADIUS: fragment_size; Framed-MTU 1344 to "
        "other servers), a shorter chain, or RADIUS over TLS",
        "eap-tls radius eduroam enterprise 802.1x timeout stall fragment mtu framed-mtu vpn ipsec "
        "authentication repeats certificate",
    ),
    Symptom(
        "all phones or sensors drop at the full hour and come back",
        "group-rekey-dozing",
        ("join.group_rekey_s", "join.group_rekey_tries", "stations.listen_interval"),
        (
            Report(
                "https://github.com/perceival/openwrt-flint3/issues/85",
                "all stations whose answers are missing are thrown out after 4 tries, within 2 s "
                "of one another",
            ),
            Report("https://github.com/kaloz/mwlwifi/issues/210"),
        ),
        "stations sleep through all transmissions of a new group key, and the access point "
        "deauthenticates them",
        "more transmissions (hostapd: wpa_group_update_count) or fewer renewals (wpa_group_rekey); "
        "a shorter listen interval of the stations",
        "group key handshake failed rekey gtk disconnect hourly every 3600 clients thrown out "
        "deauthenticated reason 16 iot doze power save",
    ),
    Symptom(
        "a small device does not join WPA3, and joins WPA2",
        "slow-sae",
        ("join.multiplication_ms", "ap.authentication_timeout_s", "join.tries_again"),
        (
            Report(
                "https://github.com/libremesh/lime-packages/issues/837",
                "peers on slower routers fail SAE by time-out and repeat, those that compute "
                "within a second join",
            ),
        ),
        "SAE takes longer on its CPU than the access point waits for the confirm",
        "a longer authentication time-out of the access point, hash-to-element instead of hunting "
        "and pecking, a PMKSA that survives a reboot; or WPA2 for that device",
        "sae auth expired reason 2 esp32 microcontroller iot timeout deauthenticated commit",
    ),
    Symptom(
        "an old device that knows WPA2 alone cannot join since the network has WPA3",
        "transition-modes",
        ("grid.policy", "stations.client"),
        (
            Report(
                "https://github.com/project-chip/connectedhomeip/pull/29346",
                "without WPA3 a device is commissioned in a mixed network, and not in one of WPA3 "
                "alone",
            ),
            Report(
                "https://github.com/openwrt/openwrt/pull/16728",
                "some old devices do not join a mixed network either, and get an SSID of their own",
            ),
        ),
        "a network of WPA3 alone offers no key management that the device has, and demands "
        "protected management frames",
        "transition mode, or a second SSID with WPA2 for such devices: airtoll advise --from "
        "wpa2-psk-ccmp tells the cost of both, and airtoll policies show wpa3-sae-ccmp --openwrt "
        "--second-ssid wpa2-psk-ccmp prints the settings",
        "old older legacy phone laptop tablet printer camera tv console smart iot wpa2 wpa3 join "
        "joins connect connects refused supports unsupported only sae mixed transition psk",
    ),
    Symptom(
        "the battery of a sensor is empty too soon",
        "esp32-battery",
        ("join.cached_pmk", "join.tls_resumption", "duty.joins_per_day", "duty.between"),
        (),
        "the sensor joins at every wake-up, and SAE or EAP keeps its CPU busy for more than "
        "a second each time; a sensor that stays associated pays for the beacons instead",
        "keep the PMK over deep sleep, and long enough at the access point, or stay with WPA2-PSK "
        "and a long random passphrase; wake up less often (airtoll advise --profile esp32-c3); "
        "802.11r does nothing for a sensor that comes back to the same access point",
        "drain drained drains battery life days months lifetime energy power consumption current "
        "deep sleep wake wpa3 sae eap-tls pmksa iot esp32 mah flat dead short",
    ),
    Symptom(
        "the battery of a phone that sleeps is empty too soon, though it sends little",
        "always-on-vpn",
        ("stations.listen_interval", "stations.doze_after_ms", "stations.twt_interval_ms"),
        (),
        "each keepalive of a tunnel and each message ends the doze, and the station stays awake "
        "for a while; between them it wakes for beacons",
        "rarer keepalives (WireGuard: PersistentKeepalive), a longer listen interval; with "
        "802.11ax target wake time, whose service periods replace the beacons: messages wait for "
        "the next one",
        "twt target wake time power save doze sleep drain keepalive nat vpn wireguard ipsec wifi 6",
    ),
    Symptom(
        "a battery-powered device takes a second or more to be on the network after each wake-up",
        "cold-boot",
        ("stations.caches_psk", "stations.profile"),
        (
            Report(
                "https://github.com/espressif/esp-idf/issues/15072",
                "138 ms on an ESP32, 211 on an ESP32-C3, 244 on an ESP32-C6",
            ),
            Report("https://github.com/libretiny-eu/libretiny/pull/276", "4 s on a BK7231N"),
            Report("https://github.com/zephyrproject-rtos/zephyr/pull/104372"),
        ),
        "the device maps its passphrase to a key at every boot (PBKDF2, 8192 rounds)",
        "keep the key in flash, or configure the 64 hexadecimal digits instead of the passphrase",
        "deep sleep boot connect time psk pbkdf2 esp32 esp8266 slow connection wpa2 battery wake",
    ),
    Symptom(
        "after a restart of the access point stations are off for a second or longer, although "
        "the signal is there",
        "lost-associations",
        ("ap.restart_at_s",),
        (
            Report(
                "https://github.com/espressif/esp-idf/issues/12819",
                "SA Query ends after 6 requests and 1.03 s, here 1.024 s",
            ),
        ),
        "with protected management frames a station asks by SA Query before it believes an "
        "unprotected refusal, and with 802.1X it authenticates anew",
        "let the access point deauthenticate its stations before it restarts; keep PMKSAs over "
        "restarts",
        "pmf 802.11w sa query reboot restart upgrade reconnect comeback refused temporarily "
        "status 30 gap",
    ),
    Symptom(
        "a device repeats the association without end, until it is switched off and on",
        "stale-pmksa",
        ("join.pmksa", "join.tries_again"),
        (
            Report(
                "https://github.com/espressif/esp-idf/issues/10364",
                "the device leaves SAE out for a cached PMK, is refused and repeats it",
            ),
        ),
        "the device keeps a PMKSA that the access point has lost, and is refused (status 53)",
        "update the device: a refused PMKSA has to be dropped; until then switch PMKSA caching off",
        "pmksa pmk cached endless loop wpa3 sae reconnect association rejected invalid pmkid 53",
    ),
    Symptom(
        "throughput fell to a third with WPA3 or 802.11w, at the same rate of the link",
        "no-aggregation",
        ("card.no_aggregation",),
        (Report("https://github.com/hmtheboy154/mt7902/pull/26"),),
        words="slow wpa3 pmf 802.11w ampdu aggregation block ack driver half speed throughput",
        mechanism="no aggregation",
        needs=1,
    ),
    Symptom(
        "no device is faster than 54 Mb/s, although the access point has 802.11n or later",
        "no-aggregation",
        ("grid.policy",),
        words="tkip wep 54 legacy slow g rates ht wpa mixed throughput",
        mechanism="legacy rates",
        needs=1,
    ),
    Symptom(
        "datagrams are lost where several streams go to one device, with encryption alone",
        "packet-numbers",
        ("card.reorders_packet_numbers", "queue_type"),
        (
            Report(
                "https://git.zx2c4.com/linux-dev/commit/net?id=bb42f2d13ffcd0baed7547b37d05add51fcd50e1",
                "where more than one flow to a station is under way; one loses nothing",
            ),
            Report("http://blog.cerowrt.org/post/crypto_fq_bug/"),
            Report(
                "https://community.arubanetworks.com/t5/Controller-Based-WLANs/"
                "Why-do-the-fragmented-or-out-of-order-WPA-WPA2-packets-get/ta-p/177784",
                "WPA and WPA2 drop what comes out of order, open networks and static WEP nothing",
            ),
        ),
        words="ccmp gcmp tkip replay counter replays pn udp loss lost drops flows parallel "
        "fq_codel txq ath9k ath10k open fine",
        mechanism="packet numbers reordered",
    ),
    Symptom(
        "after a hand-over nothing arrives for seconds, although the device is associated",
        "roaming-faults",
        ("handover.stale_address_s",),
        (
            Report(
                "https://github.com/openwrt/openwrt/issues/11029",
                "associated by 802.11r, and no answer to ARP arrives",
            ),
        ),
        "a bridge, switch or offload engine still sends packets for the device to the old access "
        "point",
        "let the new access point announce the address (hostapd does so by an LLC XID frame), and "
        "switch hardware offload of bridged flows off",
        "roam roaming arp 802.11r ft fast transition no internet gateway unreachable stall bridge "
        "fdb offload",
    ),
    Symptom(
        "throughput is a fraction after a hand-over, until the device reconnects",
        "roaming-faults",
        ("handover.missing_block_ack_s", "handover.legacy_rate_s"),
        (
            Report(
                "https://github.com/openwrt/openwrt/issues/9767",
                "from 700 to 100 Mb/s with 802.11r; here 559 to 53 without a block ack session",
            ),
            Report(
                "https://github.com/kaloz/mwlwifi/issues/295",
                "48 Mb/s in one direction after the way back, at 866.7 Mb/s in the other; here "
                "54 Mb/s",
            ),
        ),
        "the new association has no block ack session, or keeps the rates of an older one",
        "update the driver; until then reconnect, or do without 802.11r",
        "roam roaming slow speed drop 802.11r ft aggregation ampdu addba legacy rate walk back",
    ),
    Symptom(
        "no device can join a network with WPA3, and those that are in it stay",
        "sae-flood",
        ("join.flood_per_s", "join.flood_with_tokens", "ap.multiplication_ms"),
        (
            Report(
                "https://github.com/justcallmekoko/ESP32Marauder/wiki/sae-commit-flood",
                "no station joins any more, and those that have joined stay",
            ),
            Report("https://github.com/vanhoefm/dragondrain-and-time"),
        ),
        "an attacker sends forged SAE commits, and the access point computes for each of them",
        "find the sender; an access point that computes faster; hash-to-element; WPA3-Enterprise "
        "or WPA2 until then",
        "flood attack dos denial service commit anti-clogging token dragonblood dragondrain cpu "
        "overload sae join fails",
    ),
    Symptom(
        "broadcasts and discovery take a second or more to reach sleeping devices",
        "dtim-broadcast",
        ("dtim_period", "stations.listen_interval", "group_load"),
        (
            Report(
                "https://github.com/greearb/ath10k-ct/issues/103",
                "multicast waits for every second beacon, 204.8 ms; here half of that in the mean "
                "for each beacon of the period",
            ),
            Report(
                "https://docs.espressif.com/projects/esp-idf/en/latest/esp32/api-guides/"
                "low-power-mode/low-power-mode-wifi.html",
                "a DTIM in every third beacon saves an ESP32 30 % of its current, here 33 %",
            ),
        ),
        "group-addressed frames wait for the next DTIM beacon while a station sleeps",
        "a shorter DTIM period (hostapd: dtim_period), or copies by unicast",
        "dtim multicast mdns chromecast discovery late delay battery doze sleep printer",
    ),
    Symptom(
        "throughput is a fraction with WPA3 or a changed cipher, and a CPU is busy",
        "today",
        ("stations.profile", "ap.profile"),
        (Report("https://github.com/openwrt/openwrt/issues/25041"),),
        words="software crypto cpu softirq router slow wpa3 802.11w nohwcrypt throughput",
        mechanism="software cipher",
        needs=1,
    ),
    Symptom(
        "pages hang in a VPN while pings pass",
        "tunnel-mtu",
        ("path_mtu_octets", "pmtud", "mss_clamping", "tunnel_mtu_octets"),
        words="vpn tunnel wireguard ipsec pppoe mtu mss hang stall large packets",
        mechanism="path MTU black hole",
        needs=1,
    ),
    Symptom(
        "throughput is low in some rooms, far from the access point, or behind walls",
        "signal2006",
        ("rssi_dbm", "rate_mbps"),
        own_cause="the level is low, so that rates are low and frames are sent again",
        own_cure="a place nearer to the access point, or a second one on a cable; 2.4 GHz reaches "
        "farther; airtoll advise --from POLICY --level -75 says what a level carries",
        words="slow weak signal distance wall room upstairs garden bars coverage range",
        needs=0,
    ),
    Symptom(
        "every station is slow where many phones are idle",
        "group-traffic",
        ("group_load", "multicast_to_unicast", "basic_rates_mbps"),
        words="multicast broadcast mdns arp chatter airtime crowd slow",
        mechanism="group traffic",
        needs=1,
    ),
    Symptom(
        "throughput is low or changes with the hour where neighbours have networks on the channel",
        "neighbours",
        ("neighbours",),
        (
            Report(
                "https://github.com/morrownr/USB-WiFi/issues/50",
                "fifteen quiet access points on a channel take less of it than five busy ones",
            ),
        ),
        "stations wait while frames of another network are in the air, so that each has a part of "
        "its time",
        "a free channel, a narrower one or another band; airtoll explain --neighbours N@LEVEL or "
        "with the output of iw scan weighs this cause against the others",
        "neighbour neighbor neighbors flat busy crowded congested congestion interference slow "
        "evening overlapping cochannel utilization airtime wide networks around nearby throughput",
        needs=0,
    ),
    Symptom(
        "a device does not see a network, or has no 6 GHz or no Wi-Fi 7 there",
        "transition-modes",
        ("grid.policy", "stations.client", "band", "security_gates"),
        (),
        "6 GHz takes WPA3 or OWE without a transition mode, Wi-Fi 7 takes GCMP-256, and a device "
        "may lack either (airtoll profiles networks)",
        "RSN overriding, or a second network for old devices; a country that opens the band",
        "invisible hidden missing 6ghz band wifi 7 eht gcmp country client old device see ssid",
    ),
    Symptom(
        "joins take seconds when all people come at once",
        "reauthentication-storm",
        ("clients", "radius.requests_per_s", "join.spread_ms"),
        (),
        "the RADIUS server computes one handshake after the other",
        "session resumption or PMKSA caching, ECDSA certificates, a second server",
        "storm monday morning lecture enterprise 802.1x slow join authentication radius load",
        needs=1,
    ),
    Symptom(
        "joins of visitors take seconds, those of one's own people do not",
        "eduroam",
        ("radius.proxies", "radius.transport"),
        (),
        "each round trip of EAP crosses the proxies' links, and lost packets are repeated after "
        "2 s",
        "fewer round trips (shorter chains, larger EAP fragments), RADIUS over TLS",
        "eduroam roaming proxy abroad guests slow join enterprise",
    ),
    Symptom(
        "a call breaks off for a moment while one walks",
        "roaming2026",
        ("handover.method", "handover.scan"),
        (),
        "each access point runs the whole join again",
        "fast transition (802.11r) or PMK caching, and neighbour reports (802.11k) instead of "
        "scans",
        "roam roaming handover gap call voip walk 802.11r",
        needs=1,
    ),
)

_SHORT: Final = 3
#: Share of the best symptom's score and words that another one must have to be told, too.
_NEAR: Final = 0.6
#: Weight of a word that the cause, the cure or the study has, and the complaint has not.
_OF_CAUSE: Final = 0.4


def matching(words: Sequence[str]) -> list[Symptom]:
    """The symptoms that have most of ``words``, best first, and of equal ones the most general;
    all without words.

    A word counts the more, the fewer symptoms have it.
    """
    wanted = {stem for word in words for stem in _stems(word)}
    if not wanted:
        return [] if any(words) else list(SYMPTOMS)
    scored = [(_score(seen, rest, wanted), len(wanted & seen), one) for one, seen, rest in _index()]
    # Words that many complaints have ("slow") tell few of them apart: then what any network has.
    scored.sort(key=lambda one: (-one[0], -one[1], one[2].needs))
    best, many, _ = scored[0]
    return [
        one
        for score, has, one in scored
        if score > 0 and score >= _NEAR * best and has >= _NEAR * many
    ]


def _score(seen: frozenset[str], rest: frozenset[str], wanted: set[str]) -> float:
    """The weights of the words that the complaint has, and a part of those of its cause."""
    weights = _weights()
    found = sum(weights[word] for word in wanted & seen)
    return found + _OF_CAUSE * sum(weights[word] for word in wanted & rest - seen)


@cache
def _index() -> tuple[tuple[Symptom, frozenset[str], frozenset[str]], ...]:
    """The symptoms, each with the words of its complaint and those of cause, cure and study."""
    return tuple(
        (
            one,
            frozenset(_stems(f"{one.seen} {one.words}")),
            frozenset(_stems(f"{one.cause} {one.cure} {one.study} {' '.join(one.settings)}")),
        )
        for one in SYMPTOMS
    )


@cache
def _weights() -> dict[str, float]:
    """The weight of each word: the logarithm of the number of symptoms for each that has it."""
    have = Counter(word for _, seen, rest in _index() for word in seen | rest)
    return {word: 1 + math.log(len(SYMPTOMS) / count) for word, count in have.items()}


def of_mechanism(name: str) -> Symptom | None:
    """The symptom with the cause and cure of a mechanism of ``airtoll explain``, or None."""
    return next((one for one in SYMPTOMS if one.mechanism == name), None)


#: Words that tell one complaint from no other.
_USUAL: Final = """
about after again all always and any are because been before being but can cannot cant could
did does doesnt dont either even ever every for from gets getting give gives goes going got had
has have help her here his how however into isnt its itself just keep keeps knows like many
maybe more most much must myself never nor not now off one only other others our out over own
please problem really same says seem seems shall she should since some still such suddenly than
that the their them then there these they thing things this those though through too try under
until very want wants was were what when where whether which while who whom why will with
without wont would yet you your less
wifi wlan airtoll
"""


def _stems(text: str) -> set[str]:
    """The words of a text without endings; short ones that are no numbers left out."""
    found = set()
    for word in re.findall(r"[a-z0-9]+", text.lower().replace("'", "")):
        if word in _USUAL.split() or (len(word) < _SHORT and not word.isdigit()):
            continue
        found.add(_stem(word))
    return found


def _stem(word: str) -> str:
    """A word without its ending: ``device`` and ``devices`` are the same."""
    if word.endswith("ies") and len(word) > _SHORT + 2:
        return word[:-3] + "y"
    for ending in ("ations", "ation", "ings", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORT + 1:
            return word[: -len(ending)]
    return word
