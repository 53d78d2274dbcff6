"""The tables of suites as Python sees them, and that no second home grows beside them."""

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from airtoll import _native
from airtoll.network.hostap import CIPHERS, KEY_MANAGEMENT
from airtoll.policies import Akm, Cipher, EapMethod, catalogue, resolve
from airtoll.policies.suites import akm_words, akms, eap_methods
from airtoll.testbeds.linux.daemons import freeradius, wpa_supplicant

PACKAGE = Path(__file__).parents[2] / "python/airtoll"
#: The only places that list EAP methods by name: one mapping per daemon, and what is broken.
METHOD_MAPPINGS = {
    "testbeds/linux/daemons/wpa_supplicant.py",
    "testbeds/linux/daemons/freeradius.py",
    "policies/grammar.py",
}
SELECTOR = re.compile(r"\b00-?(0f-?ac|50-?f2)[-:]?\d", re.IGNORECASE)


def test_ciphers_are_those_of_the_table() -> None:
    rows = [row["name"] for row in _native.cipher_suites() if not row["is_group_management"]]
    assert [cipher.value for cipher in Cipher] == rows
    assert Cipher.TKIP.mpdu_octets == 12
    assert Cipher.TKIP.msdu_octets == 8
    assert not Cipher.WEP_40.ht_allowed
    assert Cipher.GCMP_256.ht_allowed
    assert Cipher.CCMP_256.wpa_selector is None


def test_every_akm_has_a_word_for_the_daemons() -> None:
    assert set(KEY_MANAGEMENT) == {akm for akm in akms() if not akm.is_draft}
    assert set(CIPHERS) == set(Cipher) - {Cipher.NONE, Cipher.WEP_40, Cipher.WEP_104}


def test_every_eap_method_has_a_word_for_the_station() -> None:
    assert set(wpa_supplicant.EAP) == set(eap_methods())
    assert set(freeradius.METHODS) <= set(eap_methods())


def test_policies_take_their_akm_from_the_table() -> None:
    wanted = {
        "wpa-psk-tkip": "wpa-psk",
        "wpa2-psk-ccmp": "psk",
        "wpa2-eap-tls-ccmp": "802.1x",
        "wpa3-eap-tls-ccmp": "802.1x-sha256",
        "wpa3-eap-tls-gcmp-256": "802.1x-suite-b-192",
        "wpa3-ft-eap-tls-gcmp-256": "ft-802.1x-sha384",
        "wpa3-ft-sae-ext-gcmp-256": "ft-sae-ext-key",
        "owe-ccmp": "owe",
        "wpa3-sae-draft-mlkem768-gcmp-256": "sae-draft-mlkem768",
        "owe-draft-mlkem768-ccmp": "owe-draft-mlkem768",
    }
    for name, akm in wanted.items():
        assert resolve(name).link.akm == akm, name
    used = {policy.link.akm for policy in catalogue()} - {None}
    assert used <= set(akms())
    assert akm_words("wpa3") == (
        *("ft-eap", "eap", "sae", "ft-sae", "sae-ext", "ft-sae-ext", "sae-draft-mlkem768"),
    )


def test_values_are_their_names() -> None:
    akm, method = Akm("ft-sae"), EapMethod("peap")
    assert (akm.selector, akm.suite_type, akm.authentication) == ("00-0f-ac-9", 9, "ft")
    assert (method.number, method.inner) == (25, "MSCHAPv2")
    assert repr(akm) == "Akm('ft-sae')"
    assert pickle.loads(pickle.dumps(akm)).is_ft
    with pytest.raises(KeyError, match="wpa4"):
        assert Akm("wpa4").is_ft


def _names(node: ast.AST) -> str:
    found = (
        n.attr if isinstance(n, ast.Attribute) else n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute | ast.Name)
    )
    return " ".join(found).lower()


def _integers(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Constant) and type(n.value) is int for n in ast.walk(node))


def _faults(text: str, *, mapping: bool) -> Iterator[str]:
    methods = set(eap_methods())
    for node in ast.walk(ast.parse(text)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Compare) and "akm" in _names(node) and _integers(node):
            yield f"line {line}: an AKM is compared with a number"
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any("akm" in _names(target) for target in targets) and _integers(node.value):
                yield f"line {line}: a number is assigned to an AKM"
        if isinstance(node, ast.keyword) and node.arg == "akm" and _integers(node.value):
            yield f"line {line}: an AKM is given as a number"
        text_of = str(node.value) if isinstance(node, ast.Constant) else ""
        if SELECTOR.search(text_of) and "``" not in text_of:
            yield f"line {line}: a suite selector is spelled out"
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            entries = node.elts
        elif isinstance(node, ast.Dict):
            entries = [key for key in node.keys if key is not None]
        else:
            continue
        named = [e.value for e in entries if isinstance(e, ast.Constant) and e.value in methods]
        if len(named) > 1 and not mapping and len(named) == len(entries):
            yield f"line {line}: EAP methods are listed: {', '.join(map(str, named))}"


@pytest.mark.thorough
def test_python_has_no_second_table() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}: {fault}"
        for path in sorted(PACKAGE.rglob("*.py"))
        # Generated from the table: `make lint` fails where it differs.
        if path.parent.name != "border"
        for fault in _faults(
            path.read_text(), mapping=str(path.relative_to(PACKAGE)) in METHOD_MAPPINGS
        )
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "if link.akm in (2, 4, 6): pass",
        "if 8 == policy.link.akm: pass",
        "FT_AKMS = (3, 4)",
        "_AKM: dict[int, str] = {1: 'WPA-EAP'}",
        "Link(akm=18)",
        "selector = '00-0f-ac-2'",
        "METHODS = ('tls', 'peap')",
        "TYPES = {'tls': 13, 'peap': 25}",
    ],
)
def test_the_check_finds_a_second_table(text: str) -> None:
    assert list(_faults(text, mapping=False))
