"""Stations without a driver (a phone, a Windows laptop): a person follows prompts.

Takes a trial's progress and a device of the lab file; gives its link, verified at the access
point, and its traffic, measured at the server. An answer of the user proves nothing: a step is done
when the access point or the server has seen it.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import shlex
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from attrs import define, frozen

from airtoll.errors import TestbedError
from airtoll.policies import Cipher, Generation, Policy
from airtoll.testbeds.linux.attended import prompts
from airtoll.testbeds.linux.attended.devices_driven import Driver
from airtoll.testbeds.linux.attended.prompts import Prompts, SkippedError
from airtoll.testbeds.linux.attended.recipes import Link
from airtoll.testbeds.linux.daemons import hostapd
from airtoll.testbeds.linux.daemons.credentials import USER, Credentials
from airtoll.testbeds.linux.hosts import acknowledged
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.job import Flow, Value
from airtoll.testbeds.linux.traffic import iperf3

if TYPE_CHECKING:
    from airtoll.testbeds.linux.trial.progress import Progress

_CONNECTED: Final = "AP-STA-CONNECTED"
#: A server that serves once ends this long after its client at most, s.
_ENDS_S: Final = 30.0
_MISMATCH: Final = ("AP-STA-POSSIBLE-PSK-MISMATCH", "CTRL-EVENT-EAP-FAILURE")
#: 00-0F-AC suites as hostapd prints them for a station.


@frozen
class Device:
    """A device of the lab file: its name there, its address, and how long a step may take, s.

    ``driver``: runs the recipe of its system; None: a person follows prompts.
    """

    name: str
    ip: str
    limit_s: float
    driver: Driver | None = None


@define
class ByHand:
    """A device that is associated: its MAC address and its access point.

    ``access_point``: None where airtoll does not drive it; then ``account`` asks the device.
    """

    device: Device
    prompts: Prompts | None
    address: str
    access_point: hostapd.AccessPoint | None
    account: Callable[[], Awaitable[Link]] | None = None

    async def state(self) -> dict[str, str]:
        """The station as the access point reports it, or as it does itself."""
        if self.access_point is not None:
            return await self.access_point.station(self.address)
        assert self.account is not None
        link = await self.account()
        flags = "[AUTHORIZED]" if link.connected else "none"
        return {"flags": flags, **({"signal": link.signal} if link.signal else {})}


def why_not(policy: Policy, flow: Flow, topology: str) -> str | None:
    """Why a station driven by hand cannot take part in a cell, or None."""
    if policy.tunnels:
        return "tunnels are not set up on a station that is driven by hand"
    if any(control.value == "mac-acl" for control in policy.access_control):
        return "the MAC address of a station that is driven by hand is not known beforehand"
    if flow.application != "stream":
        return f"{flow.application} traffic needs a program on the station that reports to us"
    if topology == "station-to-station" or flow.direction == "both":
        return "what a station that is driven by hand receives is counted there, not at the server"
    if flow.direction == "down" and (flow.transport != "tcp" or flow.transfer_octets is not None):
        return (
            "a station that is driven by hand receives only TCP for a time: the server sees what "
            "TCP acknowledges, not which datagrams arrive"
        )
    return None


async def join_by_recipe(progress: Progress, name: str, device: Device, driver: Driver) -> ByHand:
    """Have a device join by its recipe; gives it once both ends say that the policy came about.

    Raises ``TestbedError`` with the differences.
    """
    stack, foreign = progress.stack, progress.job.foreign
    access_point = None if foreign is not None else progress.access_points[0]
    if foreign is not None:
        bssid = foreign.bssid
    else:
        bssid = stack.radios[progress.access_points[0].host.name].address
        progress.access_points[0].control.forget()
    secret = stack.credentials
    progress.undo.push_async_callback(driver.leave, stack.root, secret)
    try:
        link = await driver.join(stack.root, progress.policy, secret, bssid, device.limit_s)
    except TestbedError as error:
        raise TestbedError(f"{name}: {error}") from error
    told = {"driven": f"by the recipe for {driver.system}", "bssid": bssid}
    for key, value in (("security", link.security), ("cipher", link.cipher)):
        told |= {} if value is None else {f"device:{key}": value}
    progress.caveats.append(f"{name}: {RECIPE.format(system=driver.system)}")
    address = link.address
    if address is None and access_point is not None:
        # Android tells its own address to some callers only.
        event = await access_point.control.wait_for(_CONNECTED, limit_s=device.limit_s)
        address = event.text.split()[1]
    held = ByHand(device, None, address or "", access_point, lambda: driver.link(stack.root))
    if access_point is not None:
        seen = await held.state()
        told |= {f"ap:{key}": seen[key] for key in REPORTED_BY_AP if key in seen}
        if wrong := differences(progress.policy, seen):
            raise TestbedError(
                f"{name}: policy {progress.policy.name} did not come about: {'; '.join(wrong)}"
            )
    progress.negotiated[name] = told
    return held


#: Said of every trial with a recipe.
RECIPE: Final = "driven by the recipe for {system}, which has not been tried on a device"


async def join(progress: Progress, name: str, device: Device, terminal: Prompts) -> ByHand:
    """Prompt until the device is associated; gives it once the state at the AP is the policy's.

    Raises ``TestbedError`` when the step was skipped, took too long, or another policy came about.
    """
    access_point = progress.access_points[0]
    known = {radio.address for radio in progress.stack.radios.values()}
    access_point.control.forget()
    text = instructions(
        name, device, progress.policy, progress.stack.credentials, progress.stack.folder
    )
    address = await prompts.step(
        terminal, text, _associated(access_point, known, terminal, device.limit_s), device.limit_s
    )
    by_hand = ByHand(device, terminal, address, access_point)
    seen = await by_hand.state()
    progress.negotiated[name] = {
        "driven": "by hand",
        **{f"ap:{key}": seen[key] for key in REPORTED_BY_AP if key in seen},
    }
    wrong = differences(progress.policy, seen)
    if wrong:
        raise TestbedError(
            f"{name}: policy {progress.policy.name} did not come about: {'; '.join(wrong)}"
        )
    terminal.say(f"{device.name} ({address}) is associated, and with the policy asked for")
    return by_hand


REPORTED_BY_AP: Final = (
    "flags",
    "AKMSuiteSelector",
    "dot11RSNAStatsSelectedPairwiseCipher",
    "last_eap_type_as",
    "signal",
)


async def _associated(
    access_point: hostapd.AccessPoint, known: set[str], terminal: Prompts, limit_s: float
) -> str:
    """The MAC address of the next station that associates, except those of the trial itself."""
    while True:
        event = await access_point.control.wait_for(_CONNECTED, *_MISMATCH, limit_s=limit_s)
        words = event.text.split()
        if words[0] == _CONNECTED and words[1] not in known:
            return words[1]
        if words[0] != _CONNECTED:
            terminal.say("the access point could not verify its secret: look at what was typed")


def instructions(
    name: str, device: Device, policy: Policy, secret: Credentials, folder: str
) -> str:
    """The settings of a device that joins with a policy, step by step."""
    link = policy.link
    lines = [f"{device.name} (station {name}): join the network of policy {policy.name}"]
    lines += [f"  SSID: {secret.ssid}", f"  security: {_security(policy)}"]
    if link.eap_method:
        inner = f", inside {link.eap_method.inner}" if link.eap_method.inner else ""
        lines.append(f"  EAP method: {link.eap_method.upper()}{inner}")
        lines.append(f"  identity: {USER}")
        if link.eap_method.uses_password:
            lines.append(f"  password: {secret.password}")
        else:
            lines.append(f"  certificate and key: {folder}/by-hand/client.pem and client.key")
        if link.eap_method.uses_tls:
            lines.append(f"  authority: {folder}/by-hand/ca.pem, server radius.airtoll.test")
    elif link.akm is not None and link.akm.uses_passphrase:
        lines.append(f"  passphrase: {secret.passphrase}")
    if link.encrypts_data and link.akm is None and not link.dynamic_wep:
        bits = 40 if link.cipher is Cipher.WEP_40 else 104
        lines.append(f"  WEP key 1 (hex): {secret.wep(bits)}")
    lines.append(f"  IP address, if it gets no other: {device.ip}")
    return "\n".join([*lines, *_code(policy, secret)])


def network(policy: Policy, secret: Credentials) -> str | None:
    """The text of a QR code by which a phone joins, or None where there is no such text.

    802.1X has none that phones agree on. Wi-Fi Alliance, WPA3 Specification, section 7 (URI
    representation); for WEP the same text with the type that ZXing documents.
    """
    import segno.helpers

    link = policy.link
    if link.eap_method:
        return None
    if link.akm is not None and link.akm.uses_passphrase:
        kind, password = "WPA", secret.passphrase
    elif link.encrypts_data and link.akm is None:
        kind, password = "WEP", secret.wep(40 if link.cipher is Cipher.WEP_40 else 104)
    else:
        kind, password = "nopass", None
    return segno.helpers.make_wifi_data(secret.ssid, password, kind)


def _code(policy: Policy, secret: Credentials) -> list[str]:
    """The lines of that QR code for a terminal."""
    try:
        import segno
    except ImportError:
        return ["  a QR code of this network: pip install 'airtoll[linux]'"]
    text = network(policy, secret)
    if text is None:
        return []
    drawn = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(drawn, border=2, compact=True)
    return [drawn.getvalue().rstrip("\n")]


def _security(policy: Policy) -> str:
    link = policy.link
    if link.akm is None:
        if link.eap_method:
            return "802.1X" + (f" with {link.cipher.value}" if link.encrypts_data else "")
        return "WEP" if link.encrypts_data else "none (open)"
    if link.generation is Generation.OWE:
        return "enhanced open (OWE)"
    kind = "enterprise" if link.eap_method else "personal"
    return f"{link.generation.value.upper()} {kind}, {link.cipher.value}"


def differences(policy: Policy, seen: dict[str, str]) -> list[str]:
    """Where the access point's view of a station is not the policy; empty when it is."""
    link = policy.link
    wrong: list[str] = []
    flags = seen.get("flags", "")
    if "[AUTHORIZED]" not in flags:
        wrong.append(f"the AP has flags {flags or 'none'}, not AUTHORIZED")
    wanted: dict[str, str] = {}
    if link.akm is not None:
        wpa = link.generation is Generation.WPA
        cipher = link.cipher.wpa_selector if wpa else link.cipher.selector
        wanted["dot11RSNAStatsSelectedPairwiseCipher"] = cipher or "none"
        wanted["AKMSuiteSelector"] = link.akm.selector
    wrong += [
        f"{key} is {seen.get(key, 'missing')}, not {value}"
        for key, value in wanted.items()
        if seen.get(key) != value
    ]
    if link.pmf == "required" and "[MFP]" not in flags:
        wrong.append("management frames are not protected")
    if link.eap_method:
        told = seen.get("last_eap_type_as", "none").split()[0]
        if told != str(link.eap_method.number):
            wrong.append(f"the EAP method is {told}, not {link.eap_method.number}")
    return wrong


async def certificates(progress: Progress, host: Host) -> None:
    """Write the certificates that the device needs for EAP; the prompt names the folder."""
    secret = progress.stack.credentials
    chain = secret.chain(progress.job.chain, progress.policy.link.akm)
    base = f"{progress.stack.folder}/by-hand"
    for file, text in (
        ("ca.pem", chain.authority),
        ("client.pem", chain.client),
        ("client.key", chain.client_key),
    ):
        await host.put(f"{base}/{file}", text)


async def carry(progress: Progress, name: str, index: int, flow: Flow) -> list[Value]:
    """The device's flow, measured by the server at the other end; nothing when it was skipped.

    Raises ``TestbedError`` when no traffic came within the time.
    """
    device = progress.by_hand[name].device
    layout, terminal = progress.layout, progress.by_hand[name].prompts
    port = iperf3.FIRST_PORT + index
    host = progress.stack.hosts[layout.target(name)]
    log = f"{progress.stack.folder}/iperf3-by-hand-{name}.json"
    await host.run(["rm", "-f", log])
    process = await iperf3.serve(host, port, progress.stack.folder, log=log, once=True)
    told = iperf3.arguments(flow, layout.peer(name, flow.ip), port)
    command = [word for word in told if word != "-J"]
    text = f"{device.name} (station {name}): run this there\n  {shlex.join(command)}"
    looks = acknowledged.Looks()
    looking = asyncio.create_task(looks.take(host, port)) if flow.direction == "down" else None
    try:
        limit_s = flow.duration_s + device.limit_s
        if device.driver is not None:
            await device.driver.run(progress.stack.root, command, limit_s)
            await process.wait(_ENDS_S)
        else:
            assert terminal is not None
            await prompts.step(terminal, text, _served(process), limit_s)
    except SkippedError:
        progress.conditions.skipped_by_hand += (name,)
        progress.caveats.append(f"{name}: its traffic was skipped by hand: no values of it")
        return []
    finally:
        if looking is not None:
            looking.cancel()
            (ended,) = await asyncio.gather(looking, return_exceptions=True)
            if isinstance(ended, TestbedError):
                progress.caveats.append(f"{name}: the server's socket: {ended}")
        with contextlib.suppress(TestbedError, TimeoutError):
            await process.stop()
    report = iperf3.parse((await host.get(log)).decode(errors="replace"), host.name)
    label = layout.flow_name(name)
    if flow.direction == "down":
        rate = acknowledged.throughput_bps(looks.seen, flow.warm_up_s)
        if rate is None:
            raise TestbedError(f"{name}: the flow was too short to be seen at the server's socket")
        values = [Value("throughput_bps", rate, "bit/s", label, name)]
    else:
        values = iperf3.server_values(report, label, name)
    if terminal is not None:
        terminal.say(f"{device.name}: its traffic is measured")
    return values


async def _served(process: Process) -> None:
    """Wait until a server that serves once has ended."""
    while process.running:
        with contextlib.suppress(TimeoutError):
            await process.wait(3600.0)
        await asyncio.sleep(0)
