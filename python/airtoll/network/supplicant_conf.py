"""wpa_supplicant.conf: one network per ``network`` block, as the station allows it.

Takes the text of the file; gives drafts. Defaults are those of wpa_supplicant 2.10: a block without
``proto`` and ``pairwise`` allows WPA and RSN, CCMP and TKIP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from airtoll.network.draft import Draft, Offered
from airtoll.network.hostap import (
    Element,
    akms_of,
    cipher_of,
    method_of,
    pmf_of,
    ssid_of,
    wep_cipher_of,
)
from airtoll.network.model import Pmf
from airtoll.network.radio import country_in
from airtoll.policies import Cipher

FORMAT: Final = "wpa_supplicant.conf"
_BLOCK: Final = re.compile(r"^\s*network\s*=\s*\{", re.MULTILINE)
_LINE: Final = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*=(.*)")
_SECRETS: Final = frozenset(
    [
        "psk",
        "sae_password",
        "password",
        "private_key_passwd",
        "private_key2_passwd",
        "pin",
        "mka_cak",
        "mka_ckn",
        "mem_only_psk",
        "raw_psk",
        "dpp_netaccesskey",
        "dpp_connector",
        "dpp_csign",
    ]
)
_PRIVATE: Final = ("identity", "anonymous_identity", "machine_identity", "imsi_identity")
_IDENTITY: Final = "an identity; not kept"
#: Keys, and beginnings of keys (with *), that change neither policy nor radio.
_NO_MATTER: Final = re.compile(
    "|".join(
        re.escape(word).replace(r"\*", ".*")
        for word in [
            "altsubject_match*",
            "ap_max_inactivity",
            "ap_scan",
            "ap_vendor_elements",
            "auto_interworking",
            "auto_uuid",
            "autoscan",
            "beacon_prot",
            "bgscan",
            "bss_*",
            "bssid_*",
            "ca_cert*",
            "ca_path*",
            "cert_*",
            "check_*",
            "client_cert*",
            "config_methods",
            "ctrl_interface*",
            "device_name",
            "device_type",
            "disable_btm",
            "disable_scan_offload",
            "domain_match*",
            "domain_suffix_match*",
            "dot11*",
            "dpp_*",
            "driver_param",
            "dtim_period",
            "eap_workaround",
            "eapol_version",
            "edmg_channel",
            "enable_edmg",
            "engine*",
            "erp",
            "ext_password_backend",
            "extended_key_id",
            "fast_reauth",
            "fils_*",
            "filter_*",
            "fragment_size",
            "fst_*",
            "ft_eap_pmksa_caching",
            "ftm_*",
            "gas_*",
            "go_*",
            "group_mgmt",
            "group_rekey",
            "hs20",
            "id_str",
            "ignore_old_scan_res",
            "interworking",
            "key_id",
            "load_dynamic_eap",
            "mac_addr",
            "macsec_*",
            "manufacturer",
            "max_*",
            "mbo_*",
            "mesh_*",
            "mka_*",
            "mixed_cell",
            "mode_hint",
            "model_*",
            "non_pref_chan",
            "oce",
            "ocsp",
            "ocv",
            "okc",
            "openssl_ciphers",
            "openssl_ecdh_curves",
            "opensc_*",
            "os_version",
            "owe_group",
            "owe_ptk_workaround",
            "p2p_*",
            "pac_file",
            "passive_scan",
            "pcsc",
            "peerkey",
            "pkcs11_*",
            "preassoc_mac_addr",
            "priority",
            "private_key*",
            "proactive_key_caching",
            "rand_*",
            "reassoc_*",
            "sae_groups",
            "sae_password_id",
            "sae_pk",
            "sae_pwe",
            "scan_*",
            "sched_scan_*",
            "serial_number",
            "subject_match*",
            "tls_*",
            "update_config",
            "user_mpm",
            "uuid",
            "wep_tx_keyidx",
            "wps_*",
            "wpa_ptk_rekey",
            "wpa_deny_ptk0_rekey",
        ]
    )
)
_MODES: Final = {"0": "station", "1": "IBSS", "2": "access point", "5": "mesh point"}
_WITHOUT_WPA: Final = ("NONE", "IEEE8021X")


def matches(text: str) -> bool:
    """Whether a text has a ``network`` block."""
    return _BLOCK.search(text) is not None


def drafts(text: str, source: str) -> Iterator[Draft]:
    """One draft per ``network`` block."""
    top = Draft(source, FORMAT, "station")
    pmf: Pmf | None = None
    blocks: list[_Block] = []
    block: _Block | None = None
    skipped = False
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.strip()
        if skipped or not words or words.startswith("#"):
            skipped = skipped and words != "}"
            continue
        if words.startswith("}"):
            block = None
            continue
        found = _LINE.match(line)
        if found is None:
            (block.draft if block else top).strange(number, "", "no key = value")
            continue
        key, value = found[1], _bare(found[2])
        if value.startswith("{"):
            skipped = key != "network"
            if key == "network":
                block = _Block(source)
                blocks.append(block)
            else:
                top.aside(number, key)
        elif block is not None:
            block.take(number, key, value)
        elif key == "country" and country_in(value):
            top.country = country_in(value)
            top.read(number, key, value, f"country {top.country}")
        elif key == "pmf" and value in ("0", "1", "2"):
            pmf = pmf_of(value)
            top.read(number, key, value, f"protected management frames {pmf}")
        elif _NO_MATTER.fullmatch(key):
            top.aside(number, key)
        else:
            top.strange(number, key)
    for own in blocks:
        draft = own.finished(pmf)
        draft.country = top.country
        draft.lines_of(top)
        yield draft


def _bare(value: str) -> str:
    """A value without the comment behind it."""
    text = value.strip()
    quoted = re.match(r'P?"(?:[^"]*)"', text)
    if quoted and '"' not in text[quoted.end() :]:
        return quoted[0]
    return text if '"' in text else text.partition("#")[0].strip()


class _Block:
    """One ``network`` block."""

    def __init__(self, source: str) -> None:
        self.draft = Draft(source, FORMAT, "station")
        self.draft.security.known = True
        self.words: list[str] = []
        self.versions: list[Element] = []
        self.pairwise: list[Cipher] = []
        self.given: set[str] = set()
        self.flags = 3

    def take(self, number: int, key: str, value: str) -> None:
        draft, security = self.draft, self.draft.security
        self.given.add(key)
        if key in _SECRETS or (key.startswith("wep_key") and key[7:].isdecimal()):
            if key.startswith("wep_key"):
                security.wep = wep_cipher_of(value) or security.wep
            draft.secret(number, key)
            return
        if key in _PRIVATE:
            draft.aside(number, key, _IDENTITY)
            return
        said = self._said(key, value)
        if said is not None:
            draft.read(number, key, value, said)
        elif _NO_MATTER.fullmatch(key):
            draft.aside(number, key)
        else:
            draft.strange(number, key)

    def _said(self, key: str, value: str) -> str | None:
        """The meaning of a line, and the field that it sets; None where it is not understood."""
        draft, security = self.draft, self.draft.security
        bare = value.strip('"')
        if key == "ssid":
            draft.ssid = ssid_of(value)
            return "SSID" if draft.ssid is not None else None
        if key == "bssid":
            draft.bssid = value.lower()
            return "BSSID"
        if key == "key_mgmt":
            self.words = value.split()
            return "key management"
        if key == "proto":
            known: dict[str, Element] = {"WPA": "wpa", "RSN": "rsn", "WPA2": "rsn"}
            self.versions = [known[word] for word in value.split() if word in known]
            return "versions of WPA" if self.versions else None
        if key in ("pairwise", "group"):
            ciphers = [c for word in value.split() if (c := cipher_of(word)) is not None]
            if not ciphers or len(ciphers) != len(value.split()):
                return None
            if key == "pairwise":
                self.pairwise = ciphers
            elif len(ciphers) == 1:
                security.group = ciphers[0]
            return f"{key} " + ", ".join(ciphers)
        if key == "ieee80211w" and pmf_of(value):
            security.pmf = pmf_of(value)
            return f"protected management frames {security.pmf}"
        if key == "eap":
            for word in value.split():
                method = method_of(word)
                if method is None:
                    security.strange_methods.append(word)
                else:
                    security.methods.append(method)
            return "EAP method"
        if key == "phase2":
            return self._inner(bare)
        if key == "phase1":
            return "settings of the EAP method"
        if key == "auth_alg":
            security.shared_key = value == "SHARED"
            return "authentication algorithm"
        if key == "eapol_flags" and value.isdecimal():
            self.flags = int(value)
            return "keys of dynamic WEP"
        if key in ("scan_freq", "freq_list", "frequency"):
            words = value.split()
            if len(words) == 1 and words[0].isdecimal() and draft.at_frequency(int(words[0])):
                return f"channel {draft.channel} at {draft.band} GHz"
            return "channels to scan" if all(word.isdecimal() for word in words) else None
        if key == "beacon_int" and value.isdecimal():
            draft.beacon_interval_tu = int(value)
            return f"a beacon every {value} TU"
        if key == "disabled" and value in ("0", "1", "2"):
            draft.enabled = value == "0"
            return "enabled" if draft.enabled else "disabled"
        if key == "mode" and value in _MODES:
            if value == "2":
                draft.role = "access point"
            elif value != "0":
                draft.contradictions.append(f"mode={value}: no network with an access point")
            return _MODES[value]
        if key == "owe_only" and value in ("0", "1"):
            return "OWE alone" if value == "1" else "OWE or open"
        return None

    def _inner(self, text: str) -> str | None:
        found = re.search(r"auth(?:eap)?=(\w+)", text)
        if found is None:
            return None
        methods = self.draft.security.methods
        if len(methods) == 1 and methods[0].inner and methods[0].inner.upper() != found[1].upper():
            self.draft.remarks.append(
                f"inner authentication {found[1]}; airtoll's {methods[0].upper()} "
                f"has {methods[0].inner}"
            )
        return f"inner authentication {found[1]}"

    def finished(self, pmf: Pmf | None) -> Draft:
        """The draft, with what the block allows."""
        draft, security = self.draft, self.draft.security
        security.pmf = security.pmf or pmf
        words = self.words or self._default_words()
        if "NONE" in words:
            if draft.security.pmf:
                security.pmf = "off"
            return draft
        if "IEEE8021X" in words and len(words) == 1:
            security.port_control = True
            # The two flags of eapol_flags require keys of dynamic WEP; 3 is the default.
            security.dynamic_wep = security.wep is None and self.flags != 0
            if security.dynamic_wep:
                security.wep, security.wep_length_unknown = Cipher.WEP_104, True
            security.pmf = "off"
            return draft
        security.strange_akms = [
            word for word in words if not akms_of(word) and word not in _WITHOUT_WPA
        ]
        versions = self.versions or ["rsn"]
        pairwise = self.pairwise or [Cipher.CCMP_128]
        open_ends = [
            text for text, given in (("WPA", self.versions), ("TKIP", self.pairwise)) if not given
        ]
        personal = any(a.is_psk or a.is_8021x for w in words for a in akms_of(w).values())
        if open_ends and personal:
            draft.assumed.append(
                f"RSN with {', '.join(pairwise)}: the file allows {' and '.join(open_ends)}, too"
            )
        for element in versions:
            akms = tuple(akms_of(word)[element] for word in words if element in akms_of(word))
            if akms:
                security.offered.append(Offered(element, akms, tuple(pairwise)))
        phrases = {"psk", "sae_password", "wpa_psk_file", "raw_psk", "mem_only_psk"} & self.given
        if any(a.uses_passphrase for one in security.offered for a in one.akms) and not phrases:
            draft.contradictions.append(f"{' '.join(words)} without psk or sae_password")
        if "eap" not in self.given and any(
            akm.is_8021x for one in security.offered for akm in one.akms
        ):
            draft.remarks.append("802.1X without eap=: the station allows every EAP method")
        return draft

    def _default_words(self) -> list[str]:
        """Key management where the block has none: WPA-PSK and WPA-EAP, as far as they can run."""
        word = "WPA-EAP" if "eap" in self.given and "psk" not in self.given else "WPA-PSK"
        self.draft.assumed.append(f"key_mgmt={word}: the default, as none is set")
        return [word]
