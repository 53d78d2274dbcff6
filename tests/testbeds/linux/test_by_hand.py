"""Stations that a person drives: what is asked, what is believed, what is answered."""

from __future__ import annotations

import asyncio
import io
import os
import pty
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from airtoll.errors import EnvironmentProblem, TestbedError
from airtoll.policies import catalogue, resolve
from airtoll.testbeds.linux.attended import by_hand, prompts
from airtoll.testbeds.linux.attended.by_hand import Device
from airtoll.testbeds.linux.daemons import credentials, hostapd
from airtoll.testbeds.linux.hosts import acknowledged
from airtoll.testbeds.linux.hosts.control import Control
from airtoll.testbeds.linux.hosts.host import LocalHost
from airtoll.testbeds.linux.job import Flow
from airtoll.testbeds.linux.traffic import iperf3

RECORDED = Path(__file__).parent / "recorded"
PHONE = Device("phone", "192.168.1.40", 5.0)
MAC = "02:00:00:00:02:00"


class Script:
    """Prompts that are answered by a script: a line, or None for no answer yet."""

    def __init__(self, *answers: str) -> None:
        self.said: list[str] = []
        self._answers = list(answers)

    def say(self, text: str) -> None:
        self.said.append(text)

    async def line(self) -> str:
        if not self._answers:
            await asyncio.Event().wait()
        return self._answers.pop(0)


@pytest.fixture(scope="module")
def secret(new_credentials: credentials.Credentials) -> credentials.Credentials:
    return new_credentials


async def done() -> str:
    return "done"


async def never() -> str:
    await asyncio.Event().wait()
    return "never"


def test_a_step_is_done_when_it_has_happened() -> None:
    script = Script()
    assert asyncio.run(prompts.step(script, "join", done(), 5)) == "done"
    assert script.said[0].startswith("join\n")
    assert "type skip" in script.said[0]


def test_a_step_can_be_skipped_and_other_words_do_not_count() -> None:
    script = Script("ready", "SKIP")
    with pytest.raises(prompts.SkippedError, match="'join' was skipped"):
        asyncio.run(prompts.step(script, "join\n  SSID: x", never(), 5))
    assert len(script.said) == 2


def test_a_step_has_a_limit() -> None:
    with pytest.raises(TestbedError, match=r"nothing came of 'join' within 0.05 s"):
        asyncio.run(prompts.step(Script(), "join", never(), 0.05))


def test_without_a_terminal_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("skip\n"))
    with pytest.raises(EnvironmentProblem, match="phone: driven by hand, but standard input"):
        prompts.Terminal("phone")


def test_a_terminal_shows_on_standard_error_and_reads_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "r") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        words = io.StringIO()
        terminal = prompts.Terminal("phone", words)
        terminal.say("do this")
        os.write(ours, b"first\nsecond\n")

        async def both() -> list[str]:
            return [await terminal.line(), await terminal.line()]

        assert asyncio.run(both()) == ["first", "second"]
    os.close(ours)
    assert words.getvalue() == "do this\n"


def test_instructions_have_all_that_a_policy_needs(secret: credentials.Credentials) -> None:
    for policy in catalogue():
        text = by_hand.instructions("A", PHONE, policy, secret, "/run/x")
        assert f"SSID: {secret.ssid}" in text
        assert "192.168.1.40" in text
        link = policy.link
        assert (secret.password in text) == (link.eap_method not in (None, "tls"))
        assert ("client.key" in text) == (link.eap_method == "tls")
        typed = link.akm is not None and link.akm.uses_passphrase
        assert (f"passphrase: {secret.passphrase}" in text) == typed
        static = link.encrypts_data and link.akm is None and not link.dynamic_wep
        assert (secret.wep_40 in text or secret.wep_104 in text) == static


def test_what_the_access_point_says_is_compared_with_the_policy() -> None:
    seen = hostapd.parse_pairs((RECORDED / "hostapd-2.10-sta.txt").read_text())
    assert by_hand.differences(resolve("wpa2-psk-ccmp"), seen) == []
    other = by_hand.differences(resolve("wpa3-sae-gcmp-256"), seen)
    assert any("00-0f-ac-4, not 00-0f-ac-9" in line for line in other)
    assert any("AKMSuiteSelector is 00-0f-ac-2, not 00-0f-ac-8" in line for line in other)
    assert "management frames are not protected" in other
    assert (
        "EAP method is none, not 25" in by_hand.differences(resolve("wpa2-eap-peap-ccmp"), seen)[-1]
    )
    assert "flags none" in by_hand.differences(resolve("open"), {})[0]


def test_the_next_station_that_is_not_ours_is_the_device() -> None:
    control = Control("hostapd on ap1")
    access_point = hostapd.AccessPoint(None, None, control, "")  # type: ignore[arg-type]
    script = Script()

    async def wait() -> str:
        for text in (
            "AP-STA-CONNECTED 02:00:00:00:01:00",
            f"AP-STA-POSSIBLE-PSK-MISMATCH {MAC}",
            f"AP-STA-CONNECTED {MAC}",
        ):
            control.received(f"<3>{text}")
        return await by_hand._associated(access_point, {"02:00:00:00:01:00"}, script, 5.0)

    assert asyncio.run(wait()) == MAC
    assert "could not verify its secret" in script.said[0]


@pytest.mark.parametrize(
    ("policy", "flow", "topology", "reason"),
    [
        ("wpa2-psk-ccmp", Flow(), "uplink", None),
        ("open", Flow(direction="down", transport="tcp"), "downlink", None),
        ("open", Flow(direction="down", transport="udp"), "downlink", "which datagrams arrive"),
        ("open", Flow(direction="both", transport="tcp"), "uplink", "counted there"),
        ("open", Flow(), "station-to-station", "counted there"),
        ("ipsec-aes-gcm", Flow(), "uplink", "tunnels are not set up"),
        ("mac-acl", Flow(), "uplink", "not known beforehand"),
        ("open", Flow(application="request-response"), "uplink", "reports to us"),
    ],
)
def test_what_a_person_cannot_do(
    policy: str, flow: Flow, topology: str, reason: str | None
) -> None:
    said = by_hand.why_not(resolve(policy), flow, topology)
    assert said is None if reason is None else reason in (said or "")


def test_the_code_of_a_network_names_its_kind_and_secret(secret: credentials.Credentials) -> None:
    def text(policy: str) -> str | None:
        return by_hand.network(resolve(policy), secret)

    assert text("open") == text("owe-ccmp") == f"WIFI:T:nopass;S:{secret.ssid};;"
    for policy in ("wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae-ccmp"):
        assert text(policy) == f"WIFI:T:WPA;S:{secret.ssid};P:{secret.passphrase};;"
    assert text("wep-104") == f"WIFI:T:WEP;S:{secret.ssid};P:{secret.wep(104)};;"
    assert text("wpa2-eap-peap-ccmp") is None
    shown = by_hand.instructions("A", PHONE, resolve("wpa2-psk-ccmp"), secret, "/run/x")
    # Half blocks: two rows of modules in a line, and a light border on a dark terminal.
    code = [line for line in shown.splitlines() if set(line) <= set(" ▀▄█")]
    assert len(code) >= 14
    assert len({len(line) for line in code}) == 1


def test_octets_that_a_receiver_acknowledged() -> None:
    told = (
        "0 0 10.0.0.1:5201 10.0.0.9:4000 cubic rto:204 bytes_acked:37 segs_out:3\n"
        "0 9 10.0.0.1:5201 10.0.0.9:4001 cubic rto:208 bytes_sent:70000 bytes_acked:64000\n"
    )
    assert acknowledged.octets(told) == 64000
    assert acknowledged.octets("") == 0


def test_a_rate_of_looks_leaves_out_begin_end_and_warm_up() -> None:
    # Idle, progress at 1000 octets/s, an end within an interval, idle.
    seen = [(0.0, 0), (0.25, 0), (0.5, 100), (0.75, 350), (1.0, 600), (1.25, 700), (1.5, 700)]
    assert acknowledged.throughput_bps(seen) == pytest.approx(8000)
    assert acknowledged.throughput_bps(seen, warm_up_s=0.25) == pytest.approx(8000)
    assert acknowledged.throughput_bps(seen, warm_up_s=2) is None
    assert acknowledged.throughput_bps([(0.0, 0), (1.0, 0)]) is None


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="needs iperf3")
def test_the_looks_agree_with_the_receiver() -> None:
    async def both() -> tuple[float | None, float]:
        host = LocalHost("here", "looks")
        folder = tempfile.mkdtemp()
        try:
            log = f"{folder}/server.json"
            server = await iperf3.serve(host, 5987, folder, log=log, once=True)
            looks = acknowledged.Looks()
            looking = asyncio.create_task(looks.take(host, 5987))
            flow = Flow(direction="down", transport="tcp", offered_bps=8e6, duration_s=3)
            told = await iperf3.measure(host, flow, "127.0.0.1", 5987)
            await server.wait(30)
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
            received = told["end"]["sum_received"]["bits_per_second"]
            return acknowledged.throughput_bps(looks.seen), received
        finally:
            await host.close()
            shutil.rmtree(folder)

    seen, received = asyncio.run(both())
    assert seen == pytest.approx(received, rel=0.1)


def test_values_of_a_server_alone() -> None:
    text = (RECORDED / "iperf3-3.12-server-udp.json").read_text()
    report = iperf3.parse(text, "srv")
    found = {v.metric: v.value for v in iperf3.server_values(report, "A", "A")}
    received = report["end"]["sum_received"]
    assert found["throughput_bps"] == pytest.approx(
        received["bytes"] * 8 / received["seconds"], rel=1e-3
    )
    assert (found["packets_received"], found["loss_ratio"]) == (250, 0)
    assert "offered_bps" not in found
    tcp = iperf3.parse((RECORDED / "iperf3-3.12-server-tcp.json").read_text(), "srv")
    (only,) = iperf3.server_values(tcp, "A", "A")
    assert only.value == tcp["end"]["sum_received"]["bits_per_second"] > 0
