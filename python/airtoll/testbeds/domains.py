"""Two domains with mobile nodes: scenarios N1 to N5 and R1 to R4 of Agarwal and Wang, section IV.

Takes a cell whose topology is one of them; gives the nodes, cells, links and flows of its resolved
scenario. Never runs anything.

    host-a -- home-agent-1 -- router -- home-agent-2 -- host-d
                   |                         |
                  ap-1                      ap-2

The mobile node belongs to domain 1. It is at home (under ap-1) in N1 to N5 and abroad (under ap-2)
in R1 to R4. With a tunnel in the policy the mobile node's packets go to its home agent first,
which is the other end of it and protects what it passes on to the mobile node; what travels
between the domains is in another such tunnel between the home agents. Abroad, Mobile IP's tunnel
(IP in IP, RFC 2003) carries packets for the mobile node from its home agent to the foreign one, and
the reverse tunnel (RFC 3024) carries its own back. R4's peer is reached in the foreign domain
without the way home. R2's peer is taken as wired: the paper calls it wireless in one place and an
Internet node in another, and R3 is its wireless twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from airtoll import border
from airtoll.testbeds.wires import cable

if TYPE_CHECKING:
    from airtoll.study import Phy, WiredLink


@frozen
class Domains:
    """Where the mobile node is, and its peer: its name, and its access point if it is wireless."""

    mobile_ap: str
    peer: str
    peer_ap: str | None
    about: str

    @property
    def agent(self) -> str:
        """Agent of the domain in which the mobile node is: also its RADIUS server (III.A)."""
        return self.mobile_ap.replace("ap", "home-agent")


MOBILE = "mobile"
PEER = "peer"
HOME_AGENT = "home-agent-1"
FOREIGN_AGENT = "home-agent-2"

DOMAINS = {
    "n1": Domains("ap-1", PEER, "ap-1", "two mobile nodes of one domain, at home"),
    "n2": Domains("ap-1", HOME_AGENT, None, "a mobile node and its home agent"),
    "n3": Domains("ap-1", PEER, "ap-1", "a mobile node and a wireless host of its domain"),
    "n4": Domains("ap-1", PEER, "ap-2", "two mobile nodes at home in different domains"),
    "n5": Domains("ap-1", "host-a", None, "a mobile node and a wired host of its domain"),
    "r1": Domains("ap-2", PEER, "ap-1", "a mobile node abroad and one at home"),
    "r2": Domains("ap-2", "host-a", None, "a mobile node abroad and a wired host"),
    "r3": Domains("ap-2", PEER, "ap-1", "a mobile node abroad and a wireless host"),
    "r4": Domains("ap-2", PEER, "ap-2", "a mobile node abroad and one of that domain"),
}
_WIRED = ("host-a", HOME_AGENT, "router", "home-agent-2", "host-d")
_LINKS = (
    ("ap-1", HOME_AGENT),
    (HOME_AGENT, "host-a"),
    (HOME_AGENT, "router"),
    ("router", "home-agent-2"),
    ("home-agent-2", "host-d"),
    ("home-agent-2", "ap-2"),
)
_CHANNELS = {"ap-1": 1, "ap-2": 6}


@frozen
class Parts:
    """Cells, nodes and links of a resolved scenario."""

    bss: tuple[border.Bss, ...]
    nodes: tuple[border.Node, ...]
    links: tuple[border.WiredLink, ...]


def assemble(
    domains: Domains,
    *,
    bss: border.Bss,
    station: border.Node,
    access_point: border.Node,
    server: border.Node,
    wired: WiredLink,
    phy: Phy,
    tunnels: Sequence[border.Tunnel],
    between: Sequence[border.Tunnel],
) -> Parts:
    """Nodes, cells and links; each argument is the pattern from which its kind is made.

    ``tunnels`` are those of the mobile node; their far end becomes its home agent. ``between`` are
    those from one home agent to the other.
    """
    cells = [evolve(bss, name=f"cell-{ap}", channel=_CHANNELS[ap]) for ap in _CHANNELS]
    nodes = [
        evolve(
            station,
            name=MOBILE,
            bss=f"cell-{domains.mobile_ap}",
            tunnels=tuple(evolve(tunnel, peer=HOME_AGENT) for tunnel in tunnels),
        )
    ]
    if domains.peer_ap is not None:
        nodes.append(evolve(station, name=PEER, bss=f"cell-{domains.peer_ap}", tunnels=()))
    nodes += [evolve(access_point, name=ap, bss=f"cell-{ap}") for ap in _CHANNELS]
    gateways = _gateways(domains, between)
    nodes += [evolve(server, name=name, tunnels=tuple(gateways.get(name, ()))) for name in _WIRED]
    return Parts(
        bss=tuple(cells),
        nodes=tuple(nodes),
        links=tuple(cable(near, far, wired, phy) for near, far in _LINKS),
    )


def _gateways(domains: Domains, between: Sequence[border.Tunnel]) -> dict[str, list[border.Tunnel]]:
    """Tunnels of the two home agents, the innermost first."""
    inside = {
        HOME_AGENT: [HOME_AGENT, "ap-1", "host-a"],
        FOREIGN_AGENT: [FOREIGN_AGENT, "ap-2", "host-d"],
    }
    of = {"ap-1": HOME_AGENT, "ap-2": FOREIGN_AGENT}
    inside[of[domains.mobile_ap]].append(MOBILE)
    if domains.peer_ap is not None:
        inside[of[domains.peer_ap]].append(PEER)
    tunnels: dict[str, list[border.Tunnel]] = {HOME_AGENT: [], FOREIGN_AGENT: []}
    if domains.mobile_ap == "ap-2":
        for here, there, to in (
            (HOME_AGENT, FOREIGN_AGENT, [MOBILE]),
            (FOREIGN_AGENT, HOME_AGENT, inside[HOME_AGENT]),
        ):
            # IP in IP without protection.
            tunnels[here].append(border.Tunnel(peer=there, destinations=tuple(to)))
    for here, there in ((HOME_AGENT, FOREIGN_AGENT), (FOREIGN_AGENT, HOME_AGENT)):
        tunnels[here] += [
            evolve(tunnel, peer=there, destinations=tuple(inside[there])) for tunnel in between
        ]
    return tunnels
