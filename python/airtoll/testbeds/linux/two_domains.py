"""A home and a foreign domain: scenarios N1 to N5 and R1 to R4 of Agarwal and Wang, section IV.

Takes a job that names a scenario; gives namespaces with agents that are also gateways, RADIUS
servers and tunnel ends, as ``airtoll.testbeds.domains`` has them in the simulator. Never changes
the subnet of other trials: its cables are put back with the trial.

    host -- ha1 -- rt -- ha2
             |            |
            ap1          ap2

The mobile node belongs to ha1's domain: at home under ap1 in N1 to N5, abroad under ap2 in R1 to
R4. Its tunnel ends at ha1 and carries what it exchanges with its peer; another such tunnel joins
ha1 and ha2. Abroad it registers through ha2 and asks for reverse tunnelling.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.policies import Policy
from airtoll.testbeds.domains import DOMAINS, MOBILE, PEER
from airtoll.testbeds.linux.daemons import mobile_ip
from airtoll.testbeds.linux.hosts import cables, radios
from airtoll.testbeds.linux.hosts.host import Host, LocalHost
from airtoll.testbeds.linux.hosts.namespaces import BRIDGE, FIRST_AP_NUMBER, Address, namespace
from airtoll.testbeds.linux.job import Job
from airtoll.testbeds.linux.layout import Authenticator, Layout, TunnelEnd, TunnelPlace

if TYPE_CHECKING:
    from airtoll.testbeds.linux.daemons.mobile_ip import Registered
    from airtoll.testbeds.linux.stack import Stack

#: Agents by domain; each is the gateway of its domain.
AGENTS: Final = {"ap1": "ha1", "ap2": "ha2"}
LAN: Final = "lan"
HOME: Final = "10.81.0.0/24"
FOREIGN: Final = "10.82.0.0/24"
_AGENT: Final = {"ha1": "10.81.0.1", "ha2": "10.82.0.1"}
_UPLINK: Final = {"ha1": "10.83.0.2", "ha2": "10.83.0.6"}
_ACCESS_POINT: Final = {"ap1": "10.81.0.2", "ap2": "10.82.0.2"}
_HOST: Final = "10.81.0.3"
_MOBILE: Final = "10.81.0.11"
_PEER: Final = {"ap1": "10.81.0.12", "ap2": "10.82.0.12"}
_FORWARD: Final = (
    "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 "
    "net.ipv4.conf.default.rp_filter=0 net.ipv4.conf.all.send_redirects=0 "
    "net.ipv4.conf.default.send_redirects=0"
)
#: charon puts a route of its own per tunnel into table 220, which comes before the main one; on a
#: gateway it would lead a visitor's packets home, and the mobile node's past Mobile IP's tunnel.
_OWN_ROUTES: Final = "ip rule add pref 210 lookup main"
#: Cables: (host, interface, host, interface).
_CABLES: Final = (
    ("ap1", "dom0", "ha1", "lan0"),
    ("ap2", "dom0", "ha2", "lan0"),
    ("host", "eth0", "ha1", "lan1"),
    ("ha1", "uplink", "rt", "home"),
    ("ha2", "uplink", "rt", "away"),
)
_BUILT: Final = {
    "ha1": (
        _FORWARD,
        _OWN_ROUTES,
        f"ip link add {LAN} type bridge",
        *(f"ip link set {port} master {LAN}" for port in ("lan0", "lan1")),
        f"ip addr add {_AGENT['ha1']}/24 dev {LAN}",
        f"ip addr add {_UPLINK['ha1']}/30 dev uplink",
        *(f"ip link set {link} up" for link in (LAN, "lan0", "lan1", "uplink")),
        "ip route add default via 10.83.0.1",
    ),
    "ha2": (
        _FORWARD,
        _OWN_ROUTES,
        f"ip link add {LAN} type bridge",
        f"ip link set lan0 master {LAN}",
        f"ip addr add {_AGENT['ha2']}/24 dev {LAN}",
        f"ip addr add {_UPLINK['ha2']}/30 dev uplink",
        *(f"ip link set {link} up" for link in (LAN, "lan0", "uplink")),
        "ip route add default via 10.83.0.5",
    ),
    "rt": (
        _FORWARD,
        "ip addr add 10.83.0.1/30 dev home",
        "ip addr add 10.83.0.5/30 dev away",
        "ip link set home up",
        "ip link set away up",
        f"ip route add {HOME} via {_UPLINK['ha1']}",
        f"ip route add {FOREIGN} via {_UPLINK['ha2']}",
    ),
    "host": (
        f"ip addr add {_HOST}/24 dev eth0",
        "ip link set eth0 up",
        f"ip route add default via {_AGENT['ha1']}",
    ),
    "ap1": ("ip link set dom0 up",),
    "ap2": ("ip link set dom0 up",),
}


@frozen
class Plant:
    """The namespaces and cables of two domains; they live as long as the run."""

    hosts: dict[str, Host]

    @staticmethod
    async def build(root: LocalHost, run_id: str, access_points: list[Host]) -> Plant:
        """Make agents, router and wired host, and cables to the access points."""
        made = ("ha1", "ha2", "rt", "host")
        names = {host.name: namespace(run_id, host.name) for host in access_points}
        names |= {node: namespace(run_id, node) for node in made}
        lines = [f"netns add {names[node]}" for node in made]
        lines += [
            f"link add {near} netns {names[a]} type veth peer name {far} netns {names[b]}"
            for a, near, b, far in _CABLES
        ]
        await root.run(["ip", "-batch", "-"], stdin="".join(f"{line}\n" for line in lines))
        hosts: dict[str, Host] = {node: LocalHost(node, run_id, names[node]) for node in made}
        for host in (*hosts.values(), *access_points):
            await _script(host, "ip link set lo up", *_BUILT[host.name])
        return Plant(hosts)

    @staticmethod
    def cable_ends(hosts: Mapping[str, Host]) -> list[tuple[Host, str]]:
        """Both ends of every cable."""
        return [
            (hosts[node], interface)
            for a, near, b, far in _CABLES
            for node, interface in ((a, near), (b, far))
        ]


class TwoDomains(Layout):
    """Where the parties of a scenario in two domains are."""

    def __init__(self, stack: Stack, job: Job, policy: Policy) -> None:
        super().__init__(stack, job, policy)
        assert job.domains is not None
        self.domains = DOMAINS[job.domains]
        self._mobile_ap = _node(self.domains.mobile_ap)
        self._peer_ap = None if self.domains.peer_ap is None else _node(self.domains.peer_ap)
        used = [self._mobile_ap, *([self._peer_ap] if self._peer_ap else [])]
        self.access_points = tuple(dict.fromkeys(used))

    @property
    def abroad(self) -> bool:
        """Whether the mobile node is in the foreign domain."""
        return self._mobile_ap == "ap2"

    async def prepare(self, undo: contextlib.AsyncExitStack) -> None:
        """Put the access points into their domains and start the agents of Mobile IP."""
        if not self.stack.virtual:
            raise TestbedError("linux: two domains are set up between namespaces only")
        plant = await self.stack.plant()
        if self.job.cable is not None:
            await cables.lay(self.job.cable, plant.cable_ends(self.stack.hosts))
        undo.push_async_callback(self._leave)
        for node in AGENTS:
            await _script(self.stack.hosts[node], *_joined(node))
        for node in ("ha1", "ha2", "host"):
            await _script(self.stack.hosts[node], "ip neigh flush all")
        await self._by_the_agent()
        if self.job.registration == "off":
            return
        folder, key = self.stack.folder, self.stack.credentials.mobility_key
        nodes = (mobile_ip.Homed(_MOBILE, key),)
        settings = mobile_ip.HomeAgent(nodes, _AGENT["ha1"], LAN)
        home = await mobile_ip.start(self.stack.hosts["ha1"], folder, settings)
        undo.push_async_callback(home.stop)
        if self.abroad:
            own = _AGENT["ha2"]
            # Packets for the agent's own link are not sent home first, as in the simulator.
            visited = mobile_ip.ForeignAgent(own, own, LAN, local=(FOREIGN,))
            away = await mobile_ip.start(self.stack.hosts["ha2"], folder, visited)
            undo.push_async_callback(away.stop)

    def monitors(self) -> dict[str, tuple[Host, str]]:
        """The air, and the link of the domain in which the mobile node is."""
        agent = self.stack.hosts.get(AGENTS[self._mobile_ap])
        places: dict[str, tuple[Host, str]] = {"air": (self.stack.root, radios.MONITOR)}
        if agent is not None:
            places["wire"] = (agent, LAN)
        return places

    def authenticator(self, access_point: str) -> Authenticator:
        """The agent of the domain is its RADIUS server (III.A)."""
        agent = AGENTS[access_point]
        network = HOME if agent == "ha1" else FOREIGN
        return Authenticator(agent, _AGENT[agent], _ACCESS_POINT[access_point], network)

    def heard_by(self, name: str) -> tuple[str, ...]:
        """The access point of the domain in which a station is."""
        ap = self._mobile_ap if name == MOBILE else self._peer_ap
        assert ap is not None
        return (ap,)

    def bound(self, name: str) -> bool:
        """Both domains have one SSID: stations must not choose."""
        return True

    async def attach(self, name: str) -> Registered | None:
        """Addresses and routes; the mobile node registers if the study says so."""
        host, node = self.stack.hosts[self.nodes[name]], self.nodes[name]
        interface, own = self.stack.radios[node].interface, self.source(name)
        on_link = name != MOBILE or not self.abroad
        gateway = _AGENT[AGENTS[self.heard_by(name)[0]]]
        lines = [
            f"ip addr flush dev {interface}",
            "ip neigh flush all",
            f"ip addr add {own}/{24 if on_link else 32} dev {interface}",
        ]
        if on_link:
            lines.append(f"ip route replace default via {gateway} dev {interface}")
        if name != MOBILE and self.policy.tunnels and self._peer_ap == "ap1" and not self.abroad:
            lines.append(f"ip route replace {_MOBILE}/32 via {gateway} dev {interface}")
        await _script(host, *lines)
        if name != MOBILE or self.job.registration == "off":
            return None
        settings = mobile_ip.MobileNode(
            self.stack.credentials.mobility_key,
            own,
            _AGENT["ha1"],
            interface,
            prefix=HOME,
            gateway=_AGENT["ha1"],
            reverse=True,
        )
        return await mobile_ip.register(host, self.stack.folder, settings, limit_s=90.0)

    def target(self, name: str) -> str:
        """The node of the other party."""
        if name == PEER:
            return self.nodes[MOBILE]
        if self._peer_ap is not None:
            return self.nodes[PEER]
        return "ha1" if self.domains.peer == "home-agent-1" else "host"

    def peer(self, name: str, ip: str = "ipv4") -> str:
        """The address of the other party."""
        if name == PEER:
            return _MOBILE
        if self._peer_ap is not None:
            return _PEER[self._peer_ap]
        return _AGENT["ha1"] if self.target(name) == "ha1" else _HOST

    def source(self, name: str, ip: str = "ipv4") -> str:
        """A station's own address: tunnels in two domains have no inner addresses."""
        if name == MOBILE:
            return _MOBILE
        assert self._peer_ap is not None
        return _PEER[self._peer_ap]

    def flow_name(self, name: str) -> str:
        """As the simulator names it: from one party to the other."""
        ends = (MOBILE, self.domains.peer)
        down = self.job.flow is not None and self.job.flow.direction == "down"
        return "-".join(ends[::-1] if down else ends)

    def addresses(self) -> dict[str, tuple[str, ...]]:
        """Station -> its addresses."""
        return {name: (self.source(name),) for name in self.nodes}

    def tunnels(self) -> list[TunnelPlace]:
        """Between the agents, and from the mobile node to its home agent."""
        peer = f"{self.peer(MOBILE)}/32"
        return [
            place
            for tunnel in self.policy.tunnels
            for place in (
                TunnelPlace(
                    tunnel,
                    TunnelEnd("ha1", _UPLINK["ha1"], (HOME,)),
                    TunnelEnd("ha2", _UPLINK["ha2"], (FOREIGN,)),
                    None,
                ),
                TunnelPlace(
                    tunnel,
                    TunnelEnd(self.nodes[MOBILE], _MOBILE, (f"{_MOBILE}/32",)),
                    TunnelEnd("ha1", _AGENT["ha1"], (peer,)),
                    MOBILE,
                ),
            )
        ]

    async def _by_the_agent(self) -> None:
        """With a tunnel, packets to the mobile node must pass its home agent, the other end."""
        if not self.policy.tunnels:
            return
        hosts = self.stack.hosts
        if not self.abroad:
            await _script(hosts["host"], f"ip route replace {_MOBILE}/32 via {_AGENT['ha1']}")
            return
        # The visitor's address is one of the home domain: what it and the foreign agent say to one
        # another on their link must not be taken for something between the domains.
        pair = ((_MOBILE, _AGENT["ha2"], "in"), (_AGENT["ha2"], _MOBILE, "out"))
        await _script(
            hosts["ha2"],
            *(
                f"ip xfrm policy update src {source}/32 dst {to}/32 dir {way} priority 1"
                for source, to, way in pair
            ),
        )
        if self._peer_ap == "ap2":
            await _script(
                hosts["ha2"],
                f"ip rule add pref 101 iif {LAN} to {_MOBILE}/32 lookup {_HOMEWARD}",
                f"ip route replace default via 10.83.0.5 table {_HOMEWARD}",
            )

    async def _leave(self) -> None:
        """Put the access points back on the switch, and forget the trial's routes."""
        for node in AGENTS:
            await _script(self.stack.hosts[node], *_left(node), check=False)
        for node in ("ha1", "ha2"):
            await _script(
                self.stack.hosts[node],
                f"ip link del group {mobile_ip.TUNNELS} 2>/dev/null",
                f"ip neigh flush proxy dev {LAN}",
                f"ip route del {_MOBILE}/32 2>/dev/null",
                f"for t in {mobile_ip.REVERSE_TABLE} {_HOMEWARD}; do "
                "while ip rule del table $t 2>/dev/null; do :; done; "
                "ip route flush table $t 2>/dev/null; done",
                check=False,
            )
        await _script(
            self.stack.hosts["host"], f"ip route del {_MOBILE}/32 2>/dev/null", check=False
        )
        for node in self.nodes.values():
            interface = self.stack.radios[node].interface
            await _script(self.stack.hosts[node], f"ip addr flush dev {interface}", check=False)


#: Routing table by which packets for the mobile node go home from the foreign link.
_HOMEWARD: Final = 78


def _node(access_point: str) -> str:
    return access_point.replace("-", "")


def _joined(node: str) -> tuple[str, ...]:
    old = Address(FIRST_AP_NUMBER + int(node[-1]) - 1).outer()
    return (
        "ip link set eth0 nomaster",
        f"ip link set dom0 master {BRIDGE}",
        f"ip addr del {old}/24 dev {BRIDGE}",
        f"ip addr replace {_ACCESS_POINT[node]}/24 dev {BRIDGE}",
        f"ip route replace default via {_AGENT[AGENTS[node]]}",
        "ip neigh flush all",
    )


def _left(node: str) -> tuple[str, ...]:
    old = Address(FIRST_AP_NUMBER + int(node[-1]) - 1).outer()
    return (
        "ip route del default",
        "ip link set dom0 nomaster",
        f"ip link set eth0 master {BRIDGE}",
        f"ip addr del {_ACCESS_POINT[node]}/24 dev {BRIDGE}",
        f"ip addr replace {old}/24 dev {BRIDGE}",
        "ip neigh flush all",
    )


async def _script(host: Host, *lines: str, check: bool = True) -> None:
    # `sh -e` ends at the first command that fails, and names it.
    await host.run(["sh", "-ec" if check else "-c", "\n".join(lines)], check=check)
