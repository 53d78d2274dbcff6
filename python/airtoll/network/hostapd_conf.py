"""hostapd.conf: one network per BSS.

Takes the text of the file; gives drafts. Defaults are those of hostapd 2.10
(``hostapd_config_defaults_bss``): no security, TKIP as pairwise cipher, no protected management
frames.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from airtoll.network.draft import Draft, Offered
from airtoll.network.hostap import (
    CHANNEL_WIDTHS,
    akms_of,
    cipher_of,
    group_of,
    pmf_of,
    ssid_of,
    wep_cipher_of,
)
from airtoll.network.radio import band_of_channel, country_in, plain_phy, width_of_class
from airtoll.policies import Cipher

FORMAT: Final = "hostapd.conf"
#: Keys whose value is a secret or part of one.
_SECRETS: Final = frozenset(
    [
        "wpa_passphrase",
        "wpa_psk",
        "sae_password",
        "auth_server_shared_secret",
        "acct_server_shared_secret",
        "private_key_passwd",
        "private_key_passwd2",
        "r0kh",
        "r1kh",
        "ap_pin",
        "dpp_netaccesskey",
        "dpp_csign",
        "dpp_connector",
        "pac_opaque_encr_key",
        "radius_das_client",
        "wep_key0",
        "wep_key1",
        "wep_key2",
        "wep_key3",
        "multi_ap_backhaul_wpa_passphrase",
        "multi_ap_backhaul_wpa_psk",
    ]
)
#: Keys, and beginnings of keys (with *), that change neither policy nor radio: those of the
#: example file of hostapd 2.10, and those that OpenWrt's scripts write, too.
_NO_MATTER: Final = [
    "accept_mac_file",
    "access_network_type",
    "acct_server_*",
    "acs_*",
    "ap_*",
    "airtime_*",
    "allow_cross_connection",
    "anqp_*",
    "anti_clogging_threshold",
    "asra",
    "assoc_sa_query_*",
    "assocresp_elements",
    "beacon_prot",
    "beacon_rate",
    "bridge",
    "broadcast_deauth",
    "bss_load_test",
    "bss_load_update_period",
    "bss_transition",
    "ca_cert",
    "chan_util_*",
    "chanlist",
    "check_cert_subject",
    "check_crl*",
    "civic",
    "config_methods",
    "corrupt_gtk_*",
    "country3",
    "ctrl_interface*",
    "deny_mac_file",
    "device_name",
    "device_type",
    "dh_file",
    "dhcp_*",
    "disable_dgaf",
    "disable_pmksa_caching",
    "disassoc_low_ack",
    "domain_name",
    "dpp_*",
    "driver",
    "driver_params",
    "dtim_period",
    "dynamic_vlan",
    "eap_*",
    "eapol_*",
    "ecsa_ie_only",
    "edmg_channel",
    "eht_oper_centr_freq_seg1_idx",
    "enable_background_radar",
    "enable_edmg",
    "erp_*",
    "esr",
    "extended_key_id",
    "extra_cred",
    "fils_*",
    "fragm_threshold",
    "fragment_size",
    "freqlist",
    "friendly_name",
    "fst_*",
    "ft_*",
    "ftm_*",
    "gas_*",
    "group_mgmt_cipher",
    "hessid",
    "he_6ghz_*",
    "he_bss_color*",
    "he_default_pe_*",
    "he_er_su_disable",
    "he_mu_*",
    "he_oper_centr_freq_seg1_idx",
    "he_rts_*",
    "he_spr_*",
    "he_su_*",
    "he_twt_*",
    "ht_coex",
    "hs20*",
    "ieee80211d",
    "ieee80211h",
    "ignore_*",
    "internet",
    "interworking",
    "ipaddr_type_availability",
    "lci",
    "local_pwr_*",
    "logger_*",
    "manage_p2p",
    "manufacturer",
    "manufacturer_url",
    "max_auth_rounds*",
    "max_listen_interval",
    "max_num_sta",
    "mbo*",
    "mbssid",
    "min_tx_power",
    "model_*",
    "multi_ap",
    "multi_ap_*",
    "multicast_to_unicast",
    "na_mcast_to_ucast",
    "nai_realm",
    "nas_identifier",
    "network_auth_type",
    "no_auth_if_seen_on",
    "no_probe_resp_*",
    "noscan",
    "notify_mgmt_frames",
    "obss_interval",
    "oce",
    "ocsp_*",
    "ocv",
    "okc",
    "openssl_*",
    "operator_icon",
    "os_version",
    "osen",
    "osu_*",
    "own_ip_addr",
    "owe_groups",
    "owe_ptk_workaround",
    "pac_*",
    "pasn_*",
    "pbc_in_m1",
    "per_sta_vif",
    "pmk_r1_push",
    "preamble",
    "private_key",
    "private_key2",
    "proxy_arp",
    "pwd_group",
    "qos_map_set",
    "r0_key_lifetime",
    "r1_key_holder",
    "r1_max_key_lifetime",
    "radius_*",
    "reassociation_deadline",
    "require_ht",
    "require_vht",
    "rkh_*",
    "rnr",
    "roaming_consortium",
    "rrm_*",
    "rsn_preauth*",
    "rssi_*",
    "rts_threshold",
    "sae_*",
    "serial_number",
    "server_cert",
    "server_cert2",
    "server_id",
    "skip_cred_build",
    "skip_inactivity_poll",
    "snoop_iface",
    "spectrum_mgmt_required",
    "start_disabled",
    "stationary_ap",
    "tdls_*",
    "time_advertisement",
    "time_zone",
    "tls_*",
    "tnc",
    "track_sta_*",
    "transition_disable",
    "tx_queue_*",
    "uapsd_*",
    "uesa",
    "unsol_bcast_*",
    "upc",
    "upnp_iface",
    "use_pae_group_addr",
    "use_sta_nsts",
    "utf8_ssid",
    "uuid",
    "vendor_elements",
    "venue_*",
    "vht_capab",
    "vht_oper_centr_freq_seg1_idx",
    "vlan_*",
    "wds_bridge",
    "wds_sta",
    "wep_default_key",
    "wep_rekey_period",
    "wmm_ac_*",
    "wnm_*",
    "wpa_deny_ptk0_rekey",
    "wpa_disable_eapol_key_retries",
    "wpa_gmk_rekey",
    "wpa_group_rekey",
    "wpa_group_update_count",
    "wpa_pairwise_update_count",
    "wpa_psk_file",
    "wpa_psk_radius",
    "wpa_ptk_rekey",
    "wpa_strict_rekey",
    "wps_*",
]
_MATTERS_NOT: Final = re.compile(
    "|".join(re.escape(word).replace(r"\*", ".*") for word in _NO_MATTER)
)
_LINE: Final = re.compile(r"\s*([A-Za-z0-9_]+)\s*=(.*)")
_WIDTH_KEYS: Final = {"vht_oper_chwidth": 1, "he_oper_chwidth": 2, "eht_oper_chwidth": 3}
_PHY_KEYS: Final = {
    "ieee80211n": "802.11n",
    "ieee80211ac": "802.11ac",
    "ieee80211ax": "802.11ax",
    "ieee80211be": "802.11be",
}
#: Keys of a BSS that takes a PHY away from it.
_WITHOUT: Final = {
    "disable_11n": "802.11n",
    "disable_11ac": "802.11ac",
    "disable_11ax": "802.11ax",
    "disable_11be": "802.11be",
}
_MODES: Final = {"a": "802.11a", "b": "802.11b", "g": "802.11g"}
#: Keys by which the format is known; each of them is hostapd's alone.
_OWN: Final = re.compile(
    r"^\s*(?:interface|hw_mode|wpa_key_mgmt|rsn_pairwise|wpa_passphrase|ieee80211[nw]|bss|ssid)\s*=",
    re.MULTILINE,
)


def matches(text: str) -> bool:
    """Whether a text may be a hostapd.conf: keys of it, and no line of another form."""
    if not _OWN.search(text):
        return False
    lines = [line for line in text.splitlines() if line.strip() and line.lstrip()[0] != "#"]
    return 2 * sum(_LINE.match(line) is not None for line in lines) > len(lines)


def drafts(text: str, source: str) -> Iterator[Draft]:
    """One draft per BSS."""
    radio = _Radio(source)
    stations = [_Bss(source)]
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.match(line)
        if found is None:
            stations[-1].draft.strange(number, "", "no key = value")
            continue
        key, value = found[1], found[2]
        if key == "bss":
            stations.append(_Bss(source))
        if not radio.takes(number, key, value.strip()):
            stations[-1].take(number, key, value)
    for station in stations:
        yield station.draft_with(radio)


class _Radio:
    """The settings that all BSSs of a file share."""

    def __init__(self, source: str) -> None:
        self.draft = Draft(source, FORMAT, "access point")
        self.phys: set[str] = set()
        self.mode: str | None = None
        self.widths: dict[str, int] = {}
        self.segments: set[str] = set()
        self.wide = False
        self.rates: tuple[float, ...] = ()
        self.class_6ghz: int | None = None

    def takes(self, number: int, key: str, value: str) -> bool:
        draft = self.draft
        said = None
        if key == "hw_mode" and value in (*_MODES, "any"):
            self.mode = _MODES.get(value)
            said = f"rates of {self.mode}" if self.mode else "any band"
        elif key == "channel" and value.isdecimal() and int(value) < 256:
            draft.channel = int(value) or None
            said = f"channel {value}" if draft.channel else "the access point chooses a channel"
        elif key == "channel" and value.startswith("acs"):
            said = "the access point chooses a channel"
        elif key in _PHY_KEYS and value in ("0", "1"):
            if value == "1":
                self.phys.add(_PHY_KEYS[key])
            said = _PHY_KEYS[key] if value == "1" else f"no {_PHY_KEYS[key]}"
        elif key == "ht_capab":
            self.wide = "[HT40" in value
            said = "40 MHz" if self.wide else "20 MHz"
        elif key == "secondary_channel" and value in ("1", "-1"):
            self.wide, said = True, "40 MHz"
        elif key in _WIDTH_KEYS:
            widths = [w for w, code in CHANNEL_WIDTHS.items() if str(code) == value and w != 20]
            widths += [160] if value == "3" else []
            if widths:
                self.widths[key] = widths[0]
                said = f"{widths[0]} MHz" if widths[0] > 40 else "20 or 40 MHz"
        elif key.endswith("_oper_centr_freq_seg0_idx"):
            self.segments.add(key.partition("_")[0])
            said = "middle of the channel"
        elif key == "op_class" and value.isdecimal():
            self.class_6ghz = width_of_class(int(value))
            draft.band = "6" if self.class_6ghz else draft.band
            said = f"{self.class_6ghz} MHz at 6 GHz" if self.class_6ghz else "operating class"
        elif key == "country_code" and country_in(value):
            draft.country = country_in(value)
            said = f"country {draft.country}"
        elif key == "beacon_int" and value.isdecimal():
            draft.beacon_interval_tu = int(value)
            said = f"a beacon every {value} TU"
        elif key in ("supported_rates", "basic_rates"):
            rates = tuple(int(word) / 10 for word in value.split() if word.isdecimal())
            if rates and len(rates) == len(value.split()):
                if key == "basic_rates":
                    draft.basic_rates_mbps = rates
                else:
                    self.rates = rates
                said = "Mb/s: " + ", ".join(f"{rate:g}" for rate in rates)
        if said is None:
            return False
        draft.read(number, key, value, said)
        return True

    def fill(self, draft: Draft, without: set[str]) -> None:
        """Set the radio of a BSS that does without some PHYs."""
        own = self.draft
        draft.channel, draft.country = own.channel, own.country
        draft.beacon_interval_tu = own.beacon_interval_tu
        draft.basic_rates_mbps = own.basic_rates_mbps
        of_mode = {"802.11a": "5"}.get(self.mode or "", "2.4" if self.mode else None)
        by_number = band_of_channel(own.channel) if own.channel else None
        draft.band = (
            own.band or by_number or ("5" if of_mode == "5" else "2.4" if of_mode else None)
        )
        newest = max(self.phys - without, key=list(_PHY_KEYS.values()).index, default=None)
        draft.phy = newest or self.mode or plain_phy(draft.band)
        if draft.phy in _MODES.values() and draft.band == "5":
            draft.phy = "802.11a"
        wide = [w for key, w in sorted(self.widths.items(), key=lambda kv: _WIDTH_KEYS[kv[0]])]
        asked = wide[-1] if wide and newest not in (None, "802.11n") else 40
        draft.width_mhz = self.class_6ghz or (asked if asked > 40 else 40 if self.wide else 20)
        if len(self.rates) == 1:
            draft.rate_mbps = self.rates[0]
        self._contradictions(draft, asked, by_number, of_mode)
        draft.lines_of(own)

    def _contradictions(
        self, draft: Draft, asked: int, by_number: str | None, of_mode: str | None
    ) -> None:
        say = draft.contradictions.append
        if by_number and of_mode and by_number != of_mode and draft.band != "6":
            say(f"channel {draft.channel} is at {by_number} GHz, hw_mode at {of_mode} GHz")
        if draft.band == "2.4" and "802.11ac" in self.phys:
            say("ieee80211ac=1 at 2.4 GHz: 802.11ac has no rates there")
        if "802.11ac" in self.phys and "802.11n" not in self.phys:
            say("ieee80211ac=1 without ieee80211n=1")
        if self.mode == "802.11b" and self.phys:
            say("hw_mode=b with MCSs: 802.11n and later need hw_mode=g or a")
        if asked > 40 and not self.segments and self.class_6ghz is None:
            say(f"{asked} MHz without the middle of the channel (..._oper_centr_freq_seg0_idx)")


class _Bss:
    """The settings of one BSS."""

    def __init__(self, source: str) -> None:
        self.draft = Draft(source, FORMAT, "access point")
        self.draft.security.known = True
        self.draft.security.pmf = "off"
        self.versions = 0
        self.words: list[str] = ["WPA-PSK"]
        self.pairwise: dict[str, list[Cipher]] = {}
        self.given: set[str] = set()
        self.authentication = 3
        self.without: set[str] = set()
        self.wmm: str | None = None
        self.lengths: list[tuple[str, int]] = []

    def take(self, number: int, key: str, raw: str) -> None:
        draft, value = self.draft, raw.strip()
        security = draft.security
        said: str | None = None
        self.given.add(key)
        if key in ("interface", "bss"):
            draft.interface = value
            said = "interface"
        elif key == "ssid":
            draft.ssid = raw
            said = "SSID"
        elif key == "ssid2":
            draft.ssid = ssid_of(value)
            said = "SSID"
        elif key == "bssid":
            draft.bssid = value.lower()
            said = "BSSID"
        elif key == "wpa" and value in ("0", "1", "2", "3"):
            self.versions = int(value)
            said = ("no WPA", "WPA", "RSN", "WPA and RSN")[self.versions]
        elif key == "wpa_key_mgmt":
            self.words = value.split()
            said = "key management"
        elif key in ("wpa_pairwise", "rsn_pairwise", "rsn_override_pairwise"):
            said = self._ciphers(key, value)
        elif key == "group_cipher" and cipher_of(value) is not None:
            security.group = cipher_of(value)
            said = f"group cipher {security.group}"
        elif key == "ieee80211w" and value in ("0", "1", "2"):
            security.pmf = pmf_of(value)
            said = f"protected management frames {security.pmf}"
        elif key == "auth_algs" and value.isdecimal():
            self.authentication = int(value)
            said = "authentication algorithms"
        elif key == "ieee8021x" and value in ("0", "1"):
            security.port_control = value == "1"
            said = "802.1X" if value == "1" else "no 802.1X"
        elif key in ("wep_key_len_broadcast", "wep_key_len_unicast"):
            security.dynamic_wep = value in ("5", "13")
            security.wep = {"5": Cipher.WEP_40, "13": Cipher.WEP_104}.get(value, security.wep)
            said = "keys of dynamic WEP"
        elif key.startswith("wep_key") and key[7:].isdecimal():
            security.wep = wep_cipher_of(value) or security.wep
            draft.secret(number, key)
            return
        elif key == "macaddr_acl" and value in ("0", "1", "2"):
            security.mac_filter = value != "0"
            said = "MAC filter" if value != "0" else "no MAC filter"
        elif key == "mobility_domain":
            said = "fast transition"
        elif key.startswith("owe_transition_"):
            security.owe_transition = True
            said = "OWE transition mode"
        elif key.startswith("rsn_override_"):
            security.overriding = True
            said = "RSN overriding"
        elif key in _WITHOUT and value in ("0", "1"):
            self.without |= {_WITHOUT[key]} if value == "1" else set()
            said = f"no {_WITHOUT[key]}" if value == "1" else _WITHOUT[key]
        elif key == "wmm_enabled":
            self.wmm = value
            said = "WMM"
        elif key in ("auth_server_addr", "eap_server", "auth_server_port"):
            said = "authentication server"
        elif key in _SECRETS:
            if key in ("wpa_passphrase", "sae_password"):
                self.lengths.append((key, len(value.partition("|")[0])))
            draft.secret(number, key)
            return
        elif _MATTERS_NOT.fullmatch(key):
            draft.aside(number, key)
            return
        if said is None:
            draft.strange(number, key)
            return
        draft.read(number, key, value, said)

    def _ciphers(self, key: str, value: str) -> str | None:
        known = [cipher_of(word) for word in value.split()]
        if not known or None in known:
            return None
        self.pairwise[key] = [cipher for cipher in known if cipher is not None]
        return "pairwise " + ", ".join(map(str, self.pairwise[key]))

    def draft_with(self, radio: _Radio) -> Draft:
        """The draft, with its offers and the settings of the radio."""
        draft, security = self.draft, self.draft.security
        radio.fill(draft, self.without)
        if self.versions:
            self._offer()
        elif security.wep is not None:
            security.shared_key = self.authentication == 2
            if self.authentication == 3:
                draft.remarks.append("stations may authenticate with a shared key, too")
        if security.group is None and security.offered:
            security.group = group_of(
                frozenset(cipher for one in security.offered for cipher in one.pairwise)
            )
        if not self.versions:
            security.pmf = "off"
        self._contradictions()
        return draft

    def _offer(self) -> None:
        draft, security = self.draft, self.draft.security
        old = self.pairwise.get("wpa_pairwise")
        new = self.pairwise.get("rsn_pairwise", old)
        missing = (self.versions & 1 and old is None) or (self.versions & 2 and new is None)
        if missing:
            draft.assumed.append("pairwise cipher TKIP: hostapd's default, no pairwise is set")
        security.strange_akms = [word for word in self.words if not akms_of(word)]
        for bit, element, ciphers in ((1, "wpa", old), (2, "rsn", new)):
            if self.versions & bit:
                akms = [akms_of(w)[element] for w in self.words if element in akms_of(w)]
                if akms:
                    security.offered.append(
                        Offered(element, tuple(akms), tuple(ciphers or (Cipher.TKIP,)))  # type: ignore[arg-type]
                    )
        security.port_control = False

    def _contradictions(self) -> None:
        draft, say = self.draft, self.draft.contradictions.append
        given = self.given
        wanted = sorted({"wpa_key_mgmt", "wpa_passphrase", "sae_password", "wpa_psk"} & given)
        if not self.versions and wanted:
            say(f"{wanted[0]} without wpa=2: hostapd starts without WPA, and the network is open")
        akms = [akm for one in draft.security.offered for akm in one.akms]
        phrases = {"wpa_passphrase", "wpa_psk", "wpa_psk_file", "wpa_psk_radius"}
        if any(akm.is_psk for akm in akms) and not phrases & given:
            say("WPA-PSK without wpa_passphrase or wpa_psk: hostapd does not start")
        phrases |= {"sae_password", "sae_password_file"}
        if any(akm.is_sae for akm in akms) and not phrases & given:
            say("SAE without sae_password or wpa_passphrase: no station can join")
        needs_server = any(akm.is_8021x for akm in akms) or draft.security.port_control
        if needs_server and not {"auth_server_addr", "eap_server"} & given:
            say("802.1X without auth_server_addr or eap_server: no station can join")
        if any(akm.is_ft for akm in akms) and "mobility_domain" not in given:
            say("fast transition without mobility_domain")
        if "mobility_domain" in given and not any(akm.is_ft for akm in akms):
            say("mobility_domain without an FT word in wpa_key_mgmt: no fast transition")
        if (
            akms
            and self.versions == 1
            and any("rsn" in akms_of(w) and "wpa" not in akms_of(w) for w in self.words)
        ):
            say("wpa=1 with key management of RSN: set wpa=2")
        if self.wmm == "0" and draft.phy in _PHY_KEYS.values():
            say(f"wmm_enabled=0 with {draft.phy}: stations fall back to rates without MCSs")
        for key, length in self.lengths:
            if key == "wpa_passphrase" and not 8 <= length <= 63:
                say(f"wpa_passphrase has {length} characters; 8 to 63 are allowed")
