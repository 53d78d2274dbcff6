"""Find tuples with members of one type in the signatures of Rust functions.

    python tools/tuples.py           compare with ALLOWED; exit 1 where a file has more, or fewer
    python tools/tuples.py --all     list every one

Members of one type can be exchanged without an error of the compiler: `(from, to)`. A struct with
named fields cannot. Signatures in tests are left out, closures and local variables too.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rust_sources import code, modules

ROOT = Path(__file__).resolve().parents[1]

#: File -> how many tuples of its signatures have members of one type. Numbers may only fall.
ALLOWED: dict[str, int] = {
    "crates/airtoll-border/src/columns.rs": 1,
    "crates/airtoll-capture/src/analysis.rs": 1,
    "crates/airtoll-capture/src/decrypt/keyring/fils.rs": 2,
    "crates/airtoll-capture/src/decrypt/keyring/handshake.rs": 1,
    "crates/airtoll-capture/src/decrypt/keyring.rs": 1,
    "crates/airtoll-capture/src/decrypt/keyring/multi_link.rs": 6,
    "crates/airtoll-capture/src/decrypt/keyring/suites.rs": 1,
    "crates/airtoll-capture/src/decrypt/keyring/tdls.rs": 1,
    "crates/airtoll-capture/src/frames/content.rs": 6,
    "crates/airtoll-capture/src/link.rs": 2,
    "crates/airtoll-capture/src/session/mod.rs": 2,
    "crates/airtoll-capture/src/session/timeline.rs": 2,
    "crates/airtoll-capture/src/session/waits.rs": 1,
    "crates/airtoll-handshakes/src/link/dynamic_wep.rs": 1,
    "crates/airtoll-handshakes/src/tunnel/encapsulation.rs": 2,
    "crates/airtoll-handshakes/src/tunnel/ike_v1/config.rs": 4,
    "crates/airtoll-handshakes/src/tunnel/ike_v1/keys.rs": 1,
    "crates/airtoll-handshakes/src/tunnel/ike_v1/nat.rs": 2,
    "crates/airtoll-handshakes/src/tunnel/ike_v2/config.rs": 1,
    "crates/airtoll-handshakes/src/tunnel/ike_v2/mobike.rs": 2,
    "crates/airtoll-handshakes/src/tunnel/ike_v2/mod.rs": 2,
    "crates/airtoll-handshakes/src/tunnel/ike_v2/nat.rs": 3,
    "crates/airtoll-handshakes/src/tunnel/ike_v2/sealed.rs": 8,
    "crates/airtoll-handshakes/src/crypto/kem.rs": 2,
    "crates/airtoll-handshakes/src/link/agreed.rs": 2,
    "crates/airtoll-handshakes/src/negotiation.rs": 1,
    "crates/airtoll-handshakes/src/negotiation/plan.rs": 1,
    "crates/airtoll-handshakes/src/link/sae/half.rs": 1,
    "crates/airtoll-handshakes/src/tls/key_share.rs": 2,
    "crates/airtoll-handshakes/src/tls/schedule.rs": 2,
    "crates/airtoll-handshakes/src/tls/server.rs": 1,
    "crates/airtoll-handshakes/src/tunnel/wireguard.rs": 1,
    "crates/airtoll-phy/src/airtime.rs": 2,
    "crates/airtoll-phy/src/ampdu.rs": 1,
    "crates/airtoll-phy/src/modulation.rs": 1,
    "crates/airtoll-python/src/ciphers.rs": 3,
    "crates/airtoll-python/src/scenario.rs": 3,
    "crates/airtoll-security/src/link/mpdu.rs": 1,
    "crates/airtoll-security/src/link/wep.rs": 1,
    "crates/airtoll-wire/src/ieee80211/element.rs": 1,
    "crates/airtoll-wire/src/ieee80211/operating_channel.rs": 2,
    "crates/airtoll-wlan/src/analytic/atheros.rs": 1,
    "crates/airtoll-wlan/src/analytic/level.rs": 2,
    "crates/airtoll-wlan/src/announce.rs": 3,
    "crates/airtoll-wlan/src/build.rs": 1,
    "crates/airtoll-wlan/src/build/flows.rs": 2,
    "crates/airtoll-wlan/src/build/joins.rs": 1,
    "crates/airtoll-wlan/src/build/links.rs": 2,
    "crates/airtoll-wlan/src/build/multi_link.rs": 1,
    "crates/airtoll-wlan/src/device.rs": 1,
    "crates/airtoll-wlan/src/device/host.rs": 1,
    "crates/airtoll-wlan/src/device/nic.rs": 1,
    "crates/airtoll-wlan/src/flow.rs": 1,
    "crates/airtoll-wlan/src/flow/connection.rs": 1,
    "crates/airtoll-wlan/src/flow/socket.rs": 3,
    "crates/airtoll-wlan/src/id.rs": 1,
    "crates/airtoll-wlan/src/join/radius.rs": 1,
    "crates/airtoll-wlan/src/join/session.rs": 5,
    "crates/airtoll-wlan/src/mac.rs": 2,
    "crates/airtoll-wlan/src/mac/beacon.rs": 1,
    "crates/airtoll-wlan/src/mac/contention.rs": 1,
    "crates/airtoll-wlan/src/mac/exchange.rs": 2,
    "crates/airtoll-wlan/src/mac/group.rs": 1,
    "crates/airtoll-wlan/src/mac/link.rs": 2,
    "crates/airtoll-wlan/src/mac/power_save.rs": 1,
    "crates/airtoll-wlan/src/mac/queue.rs": 1,
    "crates/airtoll-wlan/src/medium.rs": 1,
    "crates/airtoll-wlan/src/medium/fading.rs": 1,
    "crates/airtoll-wlan/src/medium/interference.rs": 1,
    "crates/airtoll-wlan/src/medium/reception.rs": 7,
    "crates/airtoll-wlan/src/net/advertising.rs": 1,
    "crates/airtoll-wlan/src/net/ip_fragments.rs": 1,
    "crates/airtoll-wlan/src/net/tunnel.rs": 1,
    "crates/airtoll-wlan/src/observe/ciphers.rs": 1,
    "crates/airtoll-wlan/src/observe.rs": 1,
    "crates/airtoll-wlan/src/observe/radios.rs": 1,
    "crates/airtoll-wlan/src/report/energy.rs": 1,
    "crates/airtoll-wlan/src/record/frame.rs": 4,
    "crates/airtoll-wlan/src/record/keys.rs": 2,
    "crates/airtoll-wlan/src/record/packet.rs": 5,
    "crates/airtoll-wlan/src/record/recorder.rs": 2,
    "crates/airtoll-wlan/src/record/resolving.rs": 1,
    "crates/airtoll-wlan/src/record/signal.rs": 1,
    "crates/airtoll-wlan/src/record/tunnel.rs": 6,
    "crates/airtoll-wlan/src/roam/agents.rs": 1,
    "crates/airtoll-wlan/src/roam/scan.rs": 2,
    "crates/airtoll-wlan/src/roam/walk.rs": 1,
    "crates/airtoll-wlan/src/transport/ranges.rs": 3,
    "crates/airtoll-wlan/src/transport/rate_sample.rs": 1,
    "crates/airtoll-wlan/src/transport/receiver.rs": 1,
    "crates/airtoll-wlan/src/transport/scoreboard.rs": 1,
    "crates/airtoll-wlan/src/transport/segment.rs": 1,
}

_OPEN, _CLOSE = "([<{", ")]>}"


def of_file(text: str) -> Iterator[tuple[str, str]]:
    """Name of the function and the tuple, for every such tuple of its signature."""
    for name, signature in signatures(code(text)):
        for members in tuples(signature):
            if len(set(members)) < len(members):
                yield name, f"({', '.join(members)})"


def signatures(text: str) -> Iterator[tuple[str, str]]:
    """Name, and text of the parameters and of the result, of every function."""
    for match in re.finditer(r"\bfn (\w+)", text):
        depth, at = 0, match.end()
        while at < len(text):
            one = text[at]
            if one == ">" and text[at - 1] == "-":
                at += 1
                continue
            if depth == 0 and one in "{;":
                break
            depth += (one in _OPEN) - (one in _CLOSE)
            at += 1
        yield match[1], re.split(r"\bwhere\b", text[match.end() : at])[0]


def tuples(signature: str) -> Iterator[list[str]]:
    """Member types of every tuple type of a signature."""
    # A parenthesis opens a tuple type unless it follows a name: parameters, or a closure's.
    for match in re.finditer(r"\(", signature):
        before = signature[: match.start()].rstrip()
        is_type = before.endswith((":", "->", "<", "(", ",", "&", "[", "mut")) or re.search(
            r"&'\w+$", before
        )
        if not is_type:
            continue
        members = list(_members(signature, match.end()))
        # A pattern of a parameter has names alone: its type follows.
        if len(members) > 1 and not _is_pattern(signature, match.start()):
            yield [re.sub(r"\s+", " ", re.sub(r"'\w+ ", "", one)) for one in members]


def _members(text: str, at: int) -> Iterator[str]:
    depth, start = 0, at
    while at < len(text):
        one = text[at]
        if one == ">" and text[at - 1] == "-":
            at += 1
            continue
        if depth == 0 and one in ",)":
            if text[start:at].strip():
                yield text[start:at].strip()
            if one == ")":
                return
            start = at + 1
        depth += (one in _OPEN) - (one in _CLOSE)
        at += 1


def _is_pattern(text: str, at: int) -> bool:
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            rest = text[place + 1 :].lstrip()
            return rest.startswith(":") and not rest.startswith("::")
    return False


def found_in(root: Path) -> dict[str, list[tuple[str, str]]]:
    """File -> its signatures with such a tuple, in all crates."""
    found = {}
    for crate in sorted((root / "crates").iterdir()):
        for file in modules(crate / "src").values():
            if here := list(of_file(file.read_text("utf-8"))):
                found[file.relative_to(root).as_posix()] = here
    return dict(sorted(found.items()))


def faults(found: dict[str, list[tuple[str, str]]]) -> list[str]:
    """Files with more such tuples than they may have, and numbers that can be lowered."""
    lines = []
    counts = Counter({file: len(here) for file, here in found.items()})
    for file in sorted({*counts, *ALLOWED}):
        allowed = ALLOWED.get(file, 0)
        if counts[file] > allowed:
            named = "; ".join(f"{name} {members}" for name, members in found[file])
            lines.append(
                f"{file}: {counts[file]} tuples of equal types in signatures, at most {allowed}: "
                f"write a struct with named fields: {named}"
            )
        elif counts[file] < allowed:
            lines.append(f"{file}: lower its number in tools/tuples.py to {counts[file]}")
    return lines


def main(arguments: list[str]) -> int:
    """List tuples; 1 where a file has more than it may have."""
    found = found_in(ROOT)
    if "--all" in arguments:
        for file, here in found.items():
            for name, members in here:
                print(f"{file}: {name} {members}")
        print(sum(map(len, found.values())), "tuples")
        return 0
    lines = faults(found)
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
