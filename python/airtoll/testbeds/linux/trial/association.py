"""Access points and stations of a trial: started, associated, and their state read back.

Takes a trial's progress; gives running daemons and the negotiated state in it. "Associated"
is no proof of the policy: the state of both ends is read, and a difference is a failure by name.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterable
from typing import Final

from attrs import evolve

from airtoll.errors import TestbedError
from airtoll.policies import Cipher
from airtoll.testbeds.linux.air import rates
from airtoll.testbeds.linux.attended import by_hand
from airtoll.testbeds.linux.attended.prompts import Terminal
from airtoll.testbeds.linux.daemons import hostapd, keylog, leap, wpa_supplicant
from airtoll.testbeds.linux.hosts.control import ControlError
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.trial.progress import Progress

#: The supplicant's event at the first frame of a join.
_BEGINS: Final = "SME: Trying to authenticate with"
#: How long after a station is connected hostapd may take to notice that it bridges.
_BRIDGE_LIMIT_S: Final = 5.0
#: Width, MHz -> primary channels at 5 GHz that do not overlap, without those that share with radar.
CHANNELS: Final = {20: (36, 40, 44, 48), 40: (36, 44, 149, 157), 80: (36, 149)}
#: Fields of STATUS after EAP has run.
_OF_EAP: Final = ("selectedMethod", "eap_tls_version")
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


async def radius(progress: Progress) -> None:
    """Start the RADIUS servers that the policy needs, one per domain, and the proxies."""
    if progress.policy.link.eap_method in (None, "leap"):
        return
    for node in progress.layout.access_points:
        place = progress.layout.authenticator(node)
        progress.servers[node] = await progress.stack.radius(
            progress.policy, progress.job.chain, place.server_node, place.network
        )
    if progress.job.proxies:
        progress.proxies += await progress.stack.radius_proxies(progress.policy, progress.job.chain)
    if progress.job.fault == "radius":
        for server in progress.servers.values():
            await server.process.stop()


async def access_points(progress: Progress) -> None:
    """Start every access point of the layout, in its order."""
    stack, job, policy = progress.stack, progress.job, progress.policy
    if job.foreign is not None or stack.cabled:
        return  # it is on the air, as was verified before, or there is none
    accept = None
    if any(control.value == "mac-acl" for control in policy.access_control):
        accept = f"{stack.folder}/accept"
        listed = [stack.radios[node].address for node in progress.layout.nodes.values()]
        for node in progress.layout.access_points:
            await stack.hosts[node].put(accept, "".join(f"{address}\n" for address in listed))
    for node in progress.layout.access_points:
        host, radio = stack.hosts[node], stack.radios[node]
        address = None
        if policy.link.eap_method == "leap":
            address = hostapd.RadiusAddress("127.0.0.1", leap.PORT, "127.0.0.1")
            await host.run(["ip", "link", "set", radio.interface, "up"])
            process = await _leap(progress, host, radio.interface)
            progress.undo.push_async_callback(process.stop)
        elif node in progress.servers:
            place = progress.layout.authenticator(node)
            address = hostapd.RadiusAddress(place.server, progress.servers[node].port, place.client)
        text = hostapd.configuration(
            policy,
            stack.credentials,
            hostapd.Radio(
                interface=radio.interface,
                phy=job.phy,
                channel=channel(progress, node),
                rate_mbps=job.rate_mbps,
                mcs_lines=tuple(rates.access_point(job, policy, channel(progress, node))),
                bridge=stack.bridge(node),
                beacon_interval_tu=job.beacon_interval_tu,
                channel_validation=job.channel_validation,
                four_address=bool(job.bridges),
                country=stack.country,
                further=job.hostapd_lines,
            ),
            f"{stack.folder}/hostapd-{node}",
            radius=address,
            identifier=node,
            bssid=radio.address,
            key_holders={
                other: stack.radios[other].address for other in progress.layout.access_points
            },
            accept_file=accept,
        )
        progress.access_points.append(
            await hostapd.AccessPoint.start(host, stack.folder, radio.interface, text)
        )
        await rates.fix(host, radio.interface, job, policy)
        if stack.virtual:
            await rates.pin(stack.root, radio.phy, job, policy)


async def _leap(progress: Progress, host: Host, interface: str) -> Process:
    link, stack = progress.policy.link, progress.stack
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


def channel(progress: Progress, node: str) -> int:
    """The channel of an access point."""
    job = progress.job
    return channel_of(job.channel, job.width_mhz, progress.layout.access_points.index(node))


def channel_of(first: int, width_mhz: int, number: int) -> int:
    """The primary channel of an access point by its number from 0; ``first``: that of number 0."""
    # APs that hear one another on one channel would share it; 1, 6 and 11 do not overlap.
    if first <= 14:
        for _ in range(number):
            first = (first + 4) % 11 + 1
        return first
    if first in CHANNELS[width_mhz]:
        ring = CHANNELS[width_mhz]
        return ring[(ring.index(first) + number) % len(ring)]
    return first + width_mhz // 5 * number


async def station(progress: Progress, name: str) -> None:
    """Associate a station, verify the negotiated state, and give it its addresses.

    Raises ``TestbedError`` with the state that was reached.
    """
    stack, node = progress.stack, progress.layout.nodes[name]
    if node in stack.cabled:
        progress.cabled.append(name)
        return
    if node in stack.by_hand:
        device = stack.by_hand[node]
        if device.driver is not None:
            held = await by_hand.join_by_recipe(progress, name, device, device.driver)
            progress.by_hand[name] = held
            return
        # Only now: a study that does without this station needs no terminal.
        stack.prompts = stack.prompts or Terminal(device.name)
        await by_hand.certificates(progress, stack.root)
        progress.by_hand[name] = await by_hand.join(progress, name, device, stack.prompts)
        progress.caveats.append(f"{name}: driven by hand: a person took part in its times")
        return
    started = time.monotonic()
    progress.stations[name] = await _supplicant(progress, name)
    await _connected(progress, name, started)


async def stand_by(progress: Progress, name: str) -> None:
    """Start the supplicant of a station that is to join later, and let it find its access point."""
    running = await _supplicant(progress, name, waits=True)
    progress.standing_by[name] = running
    (first, *_) = progress.layout.heard_by(name)
    await running.scan(progress.stack.radios[first].address, progress.job.connect_limit_s)


async def join_now(progress: Progress, name: str) -> float:
    """Associate a station that stands by, as :func:`station` does.

    Gives the time from the start of its authentication to its supplicant's report of the completed
    join, s.
    """
    running = progress.standing_by.pop(name)
    progress.stations[name] = running
    started = time.monotonic()
    running.control.forget()
    await running.control.request("ENABLE_NETWORK 0")
    return await _connected(progress, name, started)


async def _supplicant(
    progress: Progress, name: str, *, waits: bool = False
) -> wpa_supplicant.Station:
    """The supplicant of a station, which joins unless it ``waits`` to be told to."""
    stack, node = progress.stack, progress.layout.nodes[name]
    host, radio = stack.hosts[node], stack.radios[node]
    files = await _certificates(progress, host)
    heard = progress.layout.heard_by(name)
    secret = stack.credentials
    if progress.job.fault == "password":
        secret = evolve(secret, password="wrong-" + secret.password, passphrase="wrong-phrase")
    text = wpa_supplicant.configuration(
        progress.policy,
        secret,
        f"{stack.folder}/wpa-{node}",
        files,
        _frequencies(progress, heard),
        background_scan=progress.job.roam == "signal",
        channel_validation=progress.job.channel_validation,
        tls=progress.job.tls,
        waits=waits,
    )
    if progress.job.foreign is not None:
        # Another access point of the same name is not the one that was verified.
        text = text.replace("network={\n", f"network={{\n\tbssid={progress.job.foreign.bssid}\n")
    elif progress.layout.bound(name) or len(heard) > 1:
        # The first association must be with the first AP, whatever the scan finds first.
        word = "bssid" if progress.layout.bound(name) else "bssid_hint"
        text = text.replace(
            "network={\n", f"network={{\n\t{word}={stack.radios[heard[0]].address}\n"
        )
    if stack.virtual:
        await rates.pin(stack.root, radio.phy, progress.job, progress.policy)
    return await wpa_supplicant.Station.start(host, stack.folder, radio.interface, text)


def _frequencies(progress: Progress, heard: tuple[str, ...]) -> tuple[int, ...]:
    if progress.job.foreign is not None:
        return (progress.job.foreign.frequency_mhz,)
    return tuple(hostapd.frequency_mhz(channel(progress, node)) for node in heard)


async def _connected(progress: Progress, name: str, started: float) -> float:
    """Wait for a station's association, verify it and give the station its addresses.

    Gives the time from the start of its authentication, or from ``started`` (monotonic), s.
    """
    stack, running = progress.stack, progress.stations[name]
    node = progress.layout.nodes[name]
    host, radio = stack.hosts[node], stack.radios[node]
    limit_s = progress.job.connect_limit_s
    try:
        if name in dict(progress.job.joins_at_s):
            started = (await running.control.wait_for(_BEGINS, limit_s=limit_s)).at_s
        status = await running.connected(limit_s)
    except ControlError as error:
        heard = progress.layout.heard_by(name)
        raise await _explained(progress, heard[0], error) from error
    took_s = time.monotonic() - started
    progress.conditions.connect_wall_s[name] = round(took_s, 3)
    await rates.fix(host, radio.interface, progress.job, progress.policy)
    if not stack.virtual:
        await rates.thresholds(host, radio.phy, progress.job, progress.undo)
    registered = await progress.layout.attach(name)
    if registered is not None:
        progress.conditions.registrations += (registered,)
    await verify(progress, name, status)
    return took_s


async def _explained(progress: Progress, node: str, error: ControlError) -> TestbedError:
    """The same failure, with its cause when that can be read."""
    server, secret = progress.servers.get(node), progress.stack.credentials.radius_secret
    if server is not None and not await server.answers(secret, 2.0):
        return TestbedError(f"linux: the RADIUS server does not answer; {error}")
    return error


async def verify(progress: Progress, name: str, status: dict[str, str]) -> None:
    """Note what station and access point say; raises ``TestbedError`` unless it is the policy."""
    # A station that comes with a cached PMK runs no EAP anew: what it ran before still holds.
    earlier = progress.negotiated.get(name, {})
    status = {key: earlier[key] for key in _OF_EAP if key in earlier} | status
    wrong = wpa_supplicant.differences(progress.policy, status, progress.job.tls)
    if progress.job.foreign is not None:
        progress.negotiated[name] = {key: status[key] for key in _REPORTED if key in status}
        if status.get("bssid") != progress.job.foreign.bssid:
            wrong.append(f"the AP is {status.get('bssid')}, not {progress.job.foreign.bssid}")
        _refuse(progress, name, wrong)
        return
    seen = await _ap_of(progress, status).admitted(progress.address_of_radio(name))
    progress.negotiated[name] = {key: status[key] for key in _REPORTED if key in status} | {
        f"ap:{key}": seen[key] for key in _REPORTED_BY_AP if key in seen
    }
    if name in progress.job.bridges and not await _bridges(progress, name, status):
        wrong.append("the AP takes it for no wireless bridge: no frame with four addresses came")
    if "[AUTHORIZED]" not in seen.get("flags", ""):
        wrong.append(f"the AP has flags {seen.get('flags', 'none')}, not AUTHORIZED")
    _refuse(progress, name, wrong)


def _refuse(progress: Progress, name: str, wrong: list[str]) -> None:
    if wrong:
        raise TestbedError(
            f"{name}: policy {progress.policy.name} did not come about: {'; '.join(wrong)}"
        )


async def _bridges(progress: Progress, name: str, status: dict[str, str]) -> bool:
    """Whether the AP has made an interface for a bridge, as it does at its first frame."""
    give_up = time.monotonic() + _BRIDGE_LIMIT_S
    while True:
        seen = await _ap_of(progress, status).station(progress.address_of_radio(name))
        if "[WDS]" in seen.get("flags", ""):
            return True
        if time.monotonic() > give_up:
            return False
        await asyncio.sleep(0.1)


def _ap_of(progress: Progress, status: dict[str, str]) -> hostapd.AccessPoint:
    for access_point in progress.access_points:
        if progress.stack.radios[access_point.host.name].address == status.get("bssid"):
            return access_point
    raise TestbedError(f"linux: associated with a strange AP, {status.get('bssid')}")


async def _certificates(progress: Progress, host: Host) -> wpa_supplicant.Files:
    stack = progress.stack
    chain = stack.credentials.chain(progress.job.chain, progress.policy.link.akm)
    base = f"{stack.folder}/station-certificates"
    if progress.policy.link.eap_method:
        await host.put(f"{base}/ca.pem", chain.authority)
        await host.put(f"{base}/client.pem", chain.client)
        await host.put(f"{base}/client.key", chain.client_key)
    return wpa_supplicant.Files(f"{base}/ca.pem", f"{base}/client.pem", f"{base}/client.key")


async def master_keys(progress: Progress, names: Iterable[str] | None = None) -> None:
    """Add the pairwise master keys of these stations, or of all, to the key log."""
    if progress.policy.link.akm is None:
        return
    joined = (*progress.stations, *progress.by_hand) if names is None else names
    addresses = {name: progress.address_of_radio(name) for name in joined}
    for access_point in progress.access_points:
        bssid = progress.stack.radios[access_point.host.name].address
        with contextlib.suppress(TestbedError):
            progress.keys += await keylog.master(access_point, bssid, addresses)
