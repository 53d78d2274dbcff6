"""One trial: nodes, daemons and traffic, started in order and stopped in reverse.

Takes a :class:`Job` and the stack's nodes; gives an :class:`Outcome`, and captures with their key
log in the trial's folder. Never leaves a daemon running when a trial ends, whatever ended it, and
never gives a value for a policy that did not come about.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import time
from typing import TYPE_CHECKING, Any, Final

import attrs
from attrs import evolve

from airtoll.errors import TestbedError
from airtoll.policies import Cipher, resolve
from airtoll.testbeds.linux import (
    conditions,
    crypto,
    foreign,
    freeradius,
    hostapd,
    iperf3,
    irtt,
    keylog,
    leap,
    medium,
    radios,
    strongswan,
    tcpdump,
    wireguard,
    wpa_supplicant,
)
from airtoll.testbeds.linux.control import ControlError
from airtoll.testbeds.linux.hosts import Host, Process
from airtoll.testbeds.linux.job import Flow, Job, Outcome, Value

if TYPE_CHECKING:
    from airtoll.testbeds.linux.stack import Stack

#: IKE, NAT traversal, RADIUS, WireGuard, Mobile IP registration.
_WIRE_FILTER: Final = "udp port 500 or 4500 or 1812 or 1912 or 51820 or 434"
_A_DAY_S: Final = 86_400.0
#: How long the CPU's ceiling is measured.
_CEILING_S: Final = 3.0

_REPORTED: Final = (
    "bssid",
    "freq",
    "pairwise_cipher",
    "group_cipher",
    "mgmt_group_cipher",
    "key_mgmt",
    "pmf",
    "selectedMethod",
    "eap_tls_version",
    "EAP TLS cipher",
)
_REPORTED_BY_AP: Final = (
    "flags",
    "AKMSuiteSelector",
    "dot11RSNAStatsSelectedPairwiseCipher",
    "last_eap_type_as",
)


class Trial:
    """One trial in progress; ``finish`` undoes whatever ``run`` got to."""

    def __init__(self, stack: Stack, job: Job) -> None:
        self.stack = stack
        self.job = job
        self.policy = resolve(job.policy)
        self.failure: str | None = None
        self.values: list[Value] = []
        self.caveats: list[str] = []
        self.negotiated: dict[str, dict[str, str]] = {}
        self.conditions: dict[str, Any] = {}
        self.keys = keylog.static(self.policy, stack.credentials)
        self.access_points: list[hostapd.AccessPoint] = []
        self.stations: dict[str, wpa_supplicant.Station] = {}
        self.captures: list[tcpdump.Capture] = []
        self.server: freeradius.Server | None = None
        self.nodes = dict(zip(job.stations, ("sta1", "sta2"), strict=False))
        self._undo = contextlib.AsyncExitStack()
        self._kept: list[tuple[Host, str]] = []
        self._target = stack.results / job.name

    async def run(self) -> None:
        """Everything of the trial, in order.

        Raises ``TestbedError`` with what did not come about.
        """
        job = self.job
        if len(job.stations) > len(self.nodes):
            raise TestbedError(f"linux: {len(job.stations)} stations; this testbed has 2")
        self._target.mkdir(parents=True, exist_ok=True)
        if self._wants_radius():
            self.server = await self.stack.radius(self.policy)
            if job.fault == "radius":
                await self.server.process.stop()
        if self.stack.medium is not None:
            await self.stack.medium.begin(job, self.nodes)
        await asyncio.gather(
            *(self._capture(name, *place) for name, place in self.stack.monitors().items())
        )
        await self._access_points(self.server)
        if job.mobile_ip:
            await self._foreign_network()
        for name in job.stations:
            await self._station(name)
        for name in job.stations:
            await self._tunnels(name)
        await self._collect_keys()
        await self._reachable()
        for index in range(job.roams if job.roam != "none" else 0):
            await self._roam(index)
        if not job.capture_traffic:
            await self._stop_captures()
        if job.flow is not None:
            await self._traffic(job.flow)
        for name, station in self.stations.items():
            status = await station.status()
            if status.get("wpa_state") != "COMPLETED":
                raise TestbedError(f"{name}: lost the link during the trial: {status['wpa_state']}")

    def _wants_radius(self) -> bool:
        return self.policy.link.eap_method not in (None, "leap")

    async def _capture(self, name: str, host: Host, interface: str) -> None:
        path = f"{self.stack.folder}/{name}.pcap"
        if await host.exists(path):
            await host.run(["rm", path])
        expression = _WIRE_FILTER if name == "wire" else ""
        self.captures.append(await tcpdump.start(host, interface, path, expression=expression))
        self._kept.append((host, f"{name}.pcap"))

    async def _access_points(self, server: freeradius.Server | None) -> None:
        stack, job = self.stack, self.job
        count = 2 if job.roam != "none" else 1
        accept = None
        if any(control.value == "mac-acl" for control in self.policy.access_control):
            accept = f"{stack.folder}/accept"
            listed = [stack.radios[node].address for node in self.nodes.values()]
            for index in range(count):
                text = "".join(f"{address}\n" for address in listed)
                await stack.hosts[f"ap{index + 1}"].put(accept, text)
        for index in range(count):
            node = f"ap{index + 1}"
            host, radio = stack.hosts[node], stack.radios[node]
            radius = None
            if self.policy.link.eap_method == "leap":
                radius = hostapd.RadiusAddress("127.0.0.1", leap.PORT, "127.0.0.1")
                await host.run(["ip", "link", "set", radio.interface, "up"])
                process = await self._leap(host, radio.interface)
                self._undo.push_async_callback(process.stop)
            elif server is not None:
                radius = hostapd.RadiusAddress(
                    stack.address("srv").outer(), server.port, stack.address(node).outer()
                )
            text = hostapd.configuration(
                self.policy,
                stack.credentials,
                hostapd.Radio(
                    interface=radio.interface,
                    phy=job.phy,
                    channel=self._channel(index),
                    rate_mbps=job.rate_mbps,
                    bridge=stack.bridge(node),
                    beacon_interval_tu=job.beacon_interval_tu,
                ),
                f"{stack.folder}/hostapd-{node}",
                radius=radius,
                identifier=node,
                bssid=radio.address,
                accept_file=accept,
            )
            self.access_points.append(
                await hostapd.AccessPoint.start(host, stack.folder, radio.interface, text)
            )

    async def _leap(self, host: Host, interface: str) -> Process:
        link, stack = self.policy.link, self.stack
        bits = 40 if link.cipher is Cipher.WEP_40 else 104
        rsn = link.akm is not None
        return await leap.start(
            host,
            stack.folder,
            stack.credentials,
            interface,
            bridge=stack.bridge(host.name),
            wep_key=stack.credentials.wep(bits) if link.encrypts_data and not rsn else None,
            hostapd_socket=None if not rsn else f"{stack.folder}/hostapd-{host.name}/{interface}",
        )

    def _channel(self, index: int) -> int:
        # Two APs that hear one another on one channel would share it; 1 and 6 do not overlap.
        channel = self.job.channel
        if index == 0:
            return channel
        return (channel + 4) % 11 + 1 if channel <= 14 else channel + 4

    async def _station(self, name: str) -> None:
        stack, node = self.stack, self.nodes[name]
        host, radio = stack.hosts[node], stack.radios[node]
        files = await self._certificates(host)
        count = len(self.access_points)
        secret = stack.credentials
        if self.job.fault == "password":
            secret = evolve(secret, password="wrong-" + secret.password, passphrase="wrong-phrase")
        text = wpa_supplicant.configuration(
            self.policy,
            secret,
            f"{stack.folder}/wpa-{node}",
            files,
            tuple(hostapd.frequency_mhz(self._channel(index)) for index in range(count)),
            background_scan=self.job.roam == "signal",
        )
        if count > 1:
            # The first association must be with the first AP, whatever the scan finds first.
            text = text.replace(
                "network={\n", f"network={{\n\tbssid_hint={stack.radios['ap1'].address}\n"
            )
        started = time.monotonic()
        station = await wpa_supplicant.Station.start(host, stack.folder, radio.interface, text)
        self.stations[name] = station
        try:
            status = await station.connected(self.job.connect_limit_s)
        except ControlError as error:
            raise await self._explained(error) from error
        self.conditions[f"{name}.connect_wall_s"] = round(time.monotonic() - started, 3)
        await stack.set_address(node)
        await self._verify(name, status)

    async def _explained(self, error: ControlError) -> TestbedError:
        """The same failure, with its cause when that can be asked for."""
        server, secret = self.server, self.stack.credentials.radius_secret
        if server is not None and not await server.answers(secret, 2.0):
            return TestbedError(f"linux: the RADIUS server does not answer; {error}")
        return error

    async def _verify(self, name: str, status: dict[str, str]) -> None:
        wrong = wpa_supplicant.differences(self.policy, status)
        seen = await self._ap_of(status).station(self.stack.radios[self.nodes[name]].address)
        self.negotiated[name] = {key: status[key] for key in _REPORTED if key in status} | {
            f"ap:{key}": seen[key] for key in _REPORTED_BY_AP if key in seen
        }
        if "[AUTHORIZED]" not in seen.get("flags", ""):
            wrong.append(f"the AP has flags {seen.get('flags', 'none')}, not AUTHORIZED")
        if wrong:
            raise TestbedError(
                f"{name}: policy {self.policy.name} did not come about: {'; '.join(wrong)}"
            )

    def _ap_of(self, status: dict[str, str]) -> hostapd.AccessPoint:
        for access_point in self.access_points:
            if self.stack.radios[access_point.host.name].address == status.get("bssid"):
                return access_point
        raise TestbedError(f"linux: associated with a strange AP, {status.get('bssid')}")

    async def _certificates(self, host: Host) -> wpa_supplicant.Files:
        suite_b = self.policy.link.akm in (12, 13)
        chain = self.stack.credentials.p384 if suite_b else self.stack.credentials.rsa
        base = f"{self.stack.folder}/station-{'p384' if suite_b else 'rsa'}"
        if self.policy.link.eap_method:
            await host.put(f"{base}/ca.pem", chain.authority)
            await host.put(f"{base}/client.pem", chain.client)
            await host.put(f"{base}/client.key", chain.client_key)
        return wpa_supplicant.Files(f"{base}/ca.pem", f"{base}/client.pem", f"{base}/client.key")

    async def _tunnels(self, name: str) -> None:
        stack, node = self.stack, self.nodes[name]
        near, far = stack.address(node), stack.address("srv")
        for tunnel in self.policy.tunnels:
            if tunnel.kind == "wireguard":
                ends = (
                    wireguard.End(
                        stack.hosts[node], near.outer(), near.inner(), near.inner("ipv6")
                    ),
                    wireguard.End(stack.hosts["srv"], far.outer(), far.inner(), far.inner("ipv6")),
                )
                self._undo.push_async_callback(
                    wireguard.down, stack.hosts[node], stack.hosts["srv"]
                )
                self.keys += await wireguard.up(*ends)
                self.negotiated[name]["tunnel"] = "wireguard"
            else:
                daemons = await asyncio.gather(stack.charon(node), stack.charon("srv"))
                pair = tuple(
                    strongswan.End(daemon, who, own.outer(), own.inner(), own.inner("ipv6"))
                    for daemon, who, own in zip(daemons, (node, "srv"), (near, far), strict=True)
                )
                self._undo.push_async_callback(strongswan.down, pair[0], pair[1])
                self.keys += await strongswan.up(
                    tunnel, pair[0], pair[1], stack.credentials.ike_secret
                )
                self.negotiated[name]["tunnel"] = (
                    f"{tunnel.key_exchange} esp {tunnel.encryption} {tunnel.integrity}"
                )

    async def _collect_keys(self) -> None:
        addresses = {name: self.stack.radios[node].address for name, node in self.nodes.items()}
        if self.policy.link.akm is None:
            return
        for access_point in self.access_points:
            bssid = self.stack.radios[access_point.host.name].address
            with contextlib.suppress(TestbedError):
                self.keys += await keylog.master(access_point, bssid, addresses)

    def _peer(self, name: str, ip: str) -> str:
        """Where a station's traffic goes: the server, or the next station."""
        if self.job.station_to_station:
            others = [other for other in self.job.stations if other != name]
            return self.stack.address(self.nodes[others[0]]).outer(ip)
        server = self.stack.address("srv")
        return server.inner(ip) if self.policy.tunnels else server.outer(ip)

    def _source(self, name: str, ip: str) -> str:
        own = self.stack.address(self.nodes[name])
        return own.inner(ip) if self.policy.tunnels else own.outer(ip)

    async def _reachable(self) -> None:
        ip = self.job.flow.ip if self.job.flow else "ipv4"
        for name, node in self.nodes.items():
            done = await self.stack.hosts[node].run(
                [
                    *("ping", "-q", "-i", "0.2", "-c", "3", "-w", "40"),
                    *("-I", self._source(name, ip), self._peer(name, ip)),
                ],
                limit_s=80,
                check=False,
            )
            if done.status != 0:
                said = (done.stdout.strip() or done.stderr.strip() or "no answer").splitlines()[-1]
                raise TestbedError(f"{name}: policy {self.policy.name} carries no data: {said}")

    async def _roam(self, index: int) -> None:
        """Move the first station to the other AP, with a packet every 10 ms under way."""
        name = self.job.stations[0]
        station = self.stations[name]
        current = (await station.status())["bssid"]
        targets = [
            self.stack.radios[ap.host.name].address
            for ap in self.access_points
            if self.stack.radios[ap.host.name].address != current
        ]
        host = self.stack.hosts[self.nodes[name]]
        stream = await host.start(
            [
                *("ping", "-q", "-i", "0.01"),
                *("-I", self._source(name, "ipv4"), self._peer(name, "ipv4")),
            ],
            log=f"{self.stack.folder}/roam-ping.log",
        )
        try:
            limit = self.job.connect_limit_s
            if self.job.roam == "forced":
                await station.scan(targets[0], limit)
                await station.roam(targets[0], limit)
            elif not self.stack.virtual:
                raise TestbedError("linux: only virtual radios fade on command; roam by 'forced'")
            else:
                station.control.forget()
                for node in ("ap1", "ap2"):
                    radio = self.stack.radios[node]
                    level = -85 if radio.address == current else -40
                    self.conditions[f"{node}.heard_at_dbm"] = await self._fade(node, name, level)
                await station.control.wait_for(
                    f"CTRL-EVENT-CONNECTED - Connection to {targets[0]}", limit_s=limit * 2
                )
            await self._verify(name, await station.status())
            if self.job.mobile_ip:
                self.conditions["mobile_ip"] = await foreign.register(
                    host,
                    self.stack.folder,
                    self.stack.radios[self.nodes[name]].interface,
                    self.stack.address(self.nodes[name]).outer(),
                    self.stack.credentials.mobility_key,
                )
            await self._reachable()
        finally:
            await stream.stop()

    async def _fade(self, node: str, station: str, dbm: int) -> int:
        """Set the level between an access point and a station; gives the level that it took."""
        stack, radio = self.stack, self.stack.radios[node]
        if stack.medium is not None:
            await stack.medium.level(node, self.nodes[station], dbm)
            return dbm
        self._undo.push_async_callback(radios.full_level, stack.root, radio)
        return await radios.signal_level(stack.root, stack.hosts[node], radio, dbm)

    async def _traffic(self, flow: Flow) -> None:
        names = [
            name for name in self.job.stations if flow.stations is None or name in flow.stations
        ]
        if self.job.station_to_station:
            names = names[:1]
        await self._encryption(names)
        # Namespaces share the machine's CPUs; of a laboratory the AP's is the one in question.
        busy = self.stack.root if self.stack.virtual else self.stack.hosts["ap1"]
        before = await conditions.sample(busy)
        radio_before = await self._radio_conditions()
        if self.stack.medium is not None:
            await self.stack.medium.statistics(forget=True)
        if self.job.fault == "hostapd":
            drill = asyncio.create_task(self._kill_hostapd(flow.duration_s / 3))
            self._undo.callback(drill.cancel)
        work = asyncio.gather(
            *(self._one(name, index, flow) for index, name in enumerate(names)),
            return_exceptions=True,
        )
        results = await self._unless_one_dies(work)
        await self._alive()
        for result in results:
            if isinstance(result, BaseException):
                raise result
            self.values += result
        usage = conditions.usage(before, await conditions.sample(busy))
        self.values.append(Value("cpu_share", usage["busy"], "1"))
        self.conditions["cpu"] = usage
        radio_after = await self._radio_conditions()
        self.conditions["radio"] = {"before": radio_before, "after": radio_after}
        self.caveats += conditions.moved(radio_before, radio_after)
        if self.stack.medium is not None:
            counts = await self.stack.medium.statistics()
            self.conditions["air"] = counts
            await self._judge(names, flow, counts)

    async def _judge(self, names: list[str], flow: Flow, counts: dict[str, Any]) -> None:
        """Say whether the throughput measured is the radio's, by the CPU's ceiling."""
        air_bps = _total(self.values)
        if air_bps is None:
            self.caveats.append("delays contain what the CPU needs, not the air alone")
            return
        verdict = medium.judge(
            self.job.phy, air_bps, await self._ceiling(names, flow, air_bps), counts
        )
        self.conditions["verdict"] = attrs.asdict(verdict)
        if verdict.refusal is not None:
            self.caveats.insert(0, f"refused as a radio throughput: {verdict.refusal}")

    async def _ceiling(self, names: list[str], flow: Flow, air_bps: float) -> float:
        """What the CPU carries of this traffic over the same medium without airtime, bit/s.

        It is asked for somewhat more than the head-room over ``air_bps``, which the air let
        through. Measured once per kind of traffic and policy, with the association that there is.
        """
        stack = self.stack
        assert stack.medium is not None
        kind = (flow.transport, flow.ip, flow.direction, flow.payload_octets, flow.offered_bps)
        key = (self.policy.name, self.job.phy, self.job.station_to_station, len(names), *kind)
        if key not in stack.ceilings:
            # Enough to show the head-room; more would cost an emulated CPU minutes.
            greedy = evolve(
                flow,
                offered_bps=1.25 * medium.HEAD_ROOM * air_bps / len(names),
                transfer_octets=None,
                window_octets=None,
                duration_s=_CEILING_S,
                warm_up_s=0.0,
                series=False,
            )
            await stack.medium.airtime(False)
            try:
                results = await asyncio.gather(
                    *(self._one(name, i, greedy, probe=False) for i, name in enumerate(names))
                )
            finally:
                await stack.medium.airtime(True)
            stack.ceilings[key] = _total([value for one in results for value in one]) or 0.0
        return stack.ceilings[key]

    async def _kill_hostapd(self, after_s: float) -> None:
        await asyncio.sleep(after_s)
        await self.access_points[0].process.signal(signal.SIGKILL)

    async def _unless_one_dies(self, work: asyncio.Future[list[Any]]) -> list[Any]:
        """The results of traffic; nothing once a daemon has died: the tools would wait on."""
        processes = [ap.process for ap in self.access_points]
        processes += [station.process for station in self.stations.values()]
        ends = [asyncio.ensure_future(process.wait(_A_DAY_S)) for process in processes]
        waited: list[asyncio.Future[Any]] = [work, *ends]
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work
            return []
        finally:
            for end in ends:
                end.cancel()

    async def _alive(self) -> None:
        """Raise ``TestbedError`` naming the daemons that died: the kernel may go on without."""
        processes = [ap.process for ap in self.access_points]
        processes += [station.process for station in self.stations.values()]
        dead = [process for process in processes if not process.running]
        if dead:
            names = ", ".join(process.name for process in dead)
            how = await dead[0].last_words()
            raise TestbedError(f"linux: {names} died during the trial: {how}")

    async def _encryption(self, names: list[str]) -> None:
        if not self.policy.link.encrypts_data:
            return
        for name in names:
            node = self.nodes[name]
            # debugfs shows every radio of the machine, whatever namespace it is in.
            where = self.stack.root if self.stack.virtual else self.stack.hosts[node]
            held = await crypto.keys(where, self.stack.radios[node].phy)
            self.conditions[f"{name}.keys"] = [[k.algorithm, k.in_hardware] for k in held]
            said = crypto.alarm(name, held)
            if said:
                self.caveats.append(said)

    async def _one(
        self, name: str, index: int, flow: Flow, *, probe: bool | None = None
    ) -> list[Value]:
        stack, node = self.stack, self.nodes[name]
        host = stack.hosts[node]
        target_node = self.nodes[self.job.stations[1]] if self.job.station_to_station else "srv"
        peer, source = self._peer(name, flow.ip), self._source(name, flow.ip)
        if flow.application == "request-response":
            await stack.irtt_server(target_node)
            report = await irtt.measure(
                host,
                peer,
                duration_s=flow.duration_s,
                octets=max(flow.request_octets, flow.response_octets),
            )
            return irtt.values(report, name, one_clock=self.stack.virtual)
        port = iperf3.FIRST_PORT + index
        await stack.iperf3_server(target_node, port)
        work: list[Any] = [iperf3.measure(host, flow, peer, port, source)]
        if self.job.probe if probe is None else probe:
            await stack.irtt_server(target_node)
            work.append(
                irtt.measure(
                    host, peer, duration_s=flow.duration_s, interval_s=self._probe_interval_s()
                )
            )
        reports = await asyncio.gather(*work)
        values = iperf3.values(reports[0], f"{name}", name)
        if flow.series:
            values += iperf3.series(reports[0], f"{name}", name)
        if len(reports) > 1:
            values += irtt.values(reports[1], name, one_clock=self.stack.virtual)
        return values

    def _probe_interval_s(self) -> float:
        # Probes every 50 ms would take 5 % of the air at 2 Mb/s, and of its throughput.
        return 0.05 if self.stack.medium is None else 0.5

    async def _radio_conditions(self) -> dict[str, dict[str, str]]:
        return {name: await station.signal() for name, station in self.stations.items()}

    async def _foreign_network(self) -> None:
        """Put the second AP into a network of its own, with agents; undone with the trial."""
        if self.job.roam == "none" or self.job.roams != 1:
            raise TestbedError("linux: Mobile IP takes one roam, from the home to the foreign AP")
        server, visited = self.stack.hosts["srv"], self.stack.hosts["ap2"]
        if not self.stack.virtual:
            raise TestbedError("linux: a foreign network is set up between namespaces only")
        self._undo.push_async_callback(foreign.join, server, visited)
        await foreign.part(server, visited)
        key = self.stack.credentials.mobility_key
        for process in await foreign.agents(server, visited, self.stack.folder, key):
            self._undo.push_async_callback(process.stop)

    async def _stop_captures(self) -> None:
        captures, self.captures = self.captures, []
        await asyncio.gather(*(capture.stop() for capture in captures))

    async def finish(self) -> None:
        """Undo what was set up, in reverse order, and keep the files."""
        for station in self.stations.values():
            with contextlib.suppress(TestbedError, TimeoutError):
                await station.stop()
        with contextlib.suppress(TestbedError, TimeoutError):
            await self._undo.aclose()
        for access_point in reversed(self.access_points):
            with contextlib.suppress(TestbedError, TimeoutError):
                await access_point.stop()
        await self._stop_captures()
        await self._keep_files()

    async def _keep_files(self) -> None:
        kept = [*self._kept]
        kept += [(a.host, f"hostapd-{a.host.name}.conf") for a in self.access_points]
        kept += [(s.host, f"wpa_supplicant-{s.host.name}.conf") for s in self.stations.values()]
        if self.failure is not None:
            kept += [(a.host, f"hostapd-{a.host.name}.log") for a in self.access_points]
            kept += [(s.host, f"wpa_supplicant-{s.host.name}.log") for s in self.stations.values()]
        for host, name in kept:
            path = f"{self.stack.folder}/{name}"
            with contextlib.suppress(TestbedError, TimeoutError):
                (self._target / name).write_bytes(await host.get(path))
                await host.run(["rm", "-f", path])
        (self._target / "keys.json").write_text(json.dumps(self.keys, indent=1) + "\n")

    def outcome(self) -> Outcome:
        """What became of the trial; to be asked after :meth:`finish`."""
        if self.stack.surveyed:
            self.conditions["survey"] = self.stack.surveyed
        rated = any(value.metric == "throughput_bps" for value in self.values)
        if self.stack.virtual and self.stack.medium is None and rated:
            self.caveats.insert(0, medium.NO_AIR)
        return Outcome(
            values=tuple(self.values) if self.failure is None else (),
            failure=self.failure,
            caveats=tuple(self.caveats),
            negotiated=self.negotiated,
            conditions=self.conditions,
            keys=tuple(self.keys),
            files=tuple(sorted(path.name for path in self._target.iterdir())),
            stations={n: self.stack.radios[node].address for n, node in self.nodes.items()},
            access_points=tuple(self.stack.radios[a.host.name].address for a in self.access_points),
        )


def _total(values: list[Value]) -> float | None:
    """Throughput of all flows together over the whole time, bit/s; None where there is none."""
    rates = [v.value for v in values if v.metric == "throughput_bps" and v.second is None]
    return sum(rates) if rates else None
