"""Symptoms of failures, from the words of a complaint to cause, cure and the study that shows it.

Takes words; gives the symptoms that have them, best first. Causes and cures of mechanisms that
``airtoll explain`` ranks are the mechanism's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    mechanism of ``airtoll explain`` that gives its cause and cure.
    """

    seen: str
    study: str
    settings: tuple[str, ...]
    reports: tuple[Report, ...] = ()
    own_cause: str = ""
    own_cure: str = ""
    words: str = ""
    mechanism: str | None = None

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
    ),
    Symptom(
        "no device is faster than 54 Mb/s, although the access point has 802.11n or later",
        "no-aggregation",
        ("grid.policy",),
        words="tkip wep 54 legacy slow g rates ht wpa mixed throughput",
        mechanism="legacy rates",
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
    ),
    Symptom(
        "pages hang in a VPN while pings pass",
        "tunnel-mtu",
        ("path_mtu_octets", "pmtud", "mss_clamping", "tunnel_mtu_octets"),
        words="vpn tunnel wireguard ipsec pppoe mtu mss hang stall large packets",
        mechanism="path MTU black hole",
    ),
    Symptom(
        "every station is slow where many phones are idle",
        "group-traffic",
        ("group_load", "multicast_to_unicast", "basic_rates_mbps"),
        words="multicast broadcast mdns arp chatter airtime crowd slow",
        mechanism="group traffic",
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
    ),
)

_SHORT: Final = 3
#: Share of the best symptom's words that another one must have to be told, too.
_NEAR: Final = 0.6


def matching(words: Sequence[str]) -> list[Symptom]:
    """The symptoms that have most of ``words``, best first; all without words."""
    wanted = {stem for word in words for stem in _stems(word)}
    if not wanted:
        return list(SYMPTOMS)
    scored = []
    for symptom in SYMPTOMS:
        # A word of the complaint itself tells more than one of its cause.
        seen = wanted & (_stems(symptom.seen) | _stems(symptom.words))
        rest = wanted & _stems(
            f"{symptom.cause} {symptom.cure} {symptom.study} {' '.join(symptom.settings)}"
        )
        scored.append((len(seen), len(seen | rest), symptom))
    best = max(seen for seen, _, _ in scored)
    most = max(both for _, both, _ in scored)
    found = [
        one for one in scored if one[1] > 0 and one[0] >= _NEAR * best and one[1] >= _NEAR * most
    ]
    return [one[2] for one in sorted(found, key=lambda one: (-one[0], -one[1]))]


def of_mechanism(name: str) -> Symptom | None:
    """The symptom with the cause and cure of a mechanism of ``airtoll explain``, or None."""
    return next((one for one in SYMPTOMS if one.mechanism == name), None)


_USUAL: Final = """
the and for with are was all one its his her has have not but after before than then this that from
into does did when while where our your they them their there more less
"""


def _stems(text: str) -> set[str]:
    """The words of a text without endings; short ones that are no numbers left out."""
    found = set()
    for word in re.findall(r"[a-z0-9]+", text.lower()):
        if word in _USUAL.split() or (len(word) < _SHORT and not word.isdigit()):
            continue
        for ending in ("ations", "ation", "ings", "ing", "ed", "es", "s"):
            if word.endswith(ending) and len(word) - len(ending) >= _SHORT + 1:
                word = word[: -len(ending)]
                break
        found.add(word)
    return found
