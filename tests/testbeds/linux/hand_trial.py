"""Run in the guest: trials whose station is driven by hand, here by a script that reads prompts.

Takes a folder for results that holds credentials.json; prints the outcomes as JSON. The testbed is
a process of its own with a terminal (a pty): this one reads what it prompts, and does on a station
with wpa_supplicant and iperf3 what a person would do on a phone.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import ssh_trial

from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts.namespaces import namespace
from airtoll.testbeds.linux.job import Flow, Job
from airtoll.testbeds.linux.laboratory.bench import Laboratory
from airtoll.testbeds.linux.laboratory.lab import Lab
from airtoll.testbeds.linux.stack import Stack

FLOW = Flow(transport="udp", offered_bps=5e5, payload_octets=500, duration_s=2)
JOBS = [
    Job("psk", "wpa2-psk-ccmp", flow=FLOW, capture_traffic=True),
    Job("peap", "wpa2-eap-peap-ccmp", flow=FLOW),
    Job("unwilling", "open", flow=FLOW),
]
#: Job -> steps that the script answers with "skip".
UNWILLING = {"peap": ("run this there",), "unwilling": ("join the network",)}
IP = "10.77.0.11"


async def main(results: Path) -> None:
    if os.environ.get("AIRTOLL_GUEST") != "1":
        raise SystemExit("this runs in the guest only: it empties a .bashrc of its overlay")
    Path.home().joinpath(".bashrc").write_text("")
    secret = Credentials.from_json(json.loads((results / "credentials.json").read_text()))
    async with Stack("aaaa0001", secret, results) as stack:
        options = ssh_trial.sshd(Path(stack.folder))
        nodes = {"router": "ap1", "server": "srv"}
        settings = {
            "options": {k: ssh_trial.options(stack, node, options) for k, node in nodes.items()},
            "interface": stack.radios["ap1"].interface,
        }
        (results / "lab.json").write_text(json.dumps(settings))
        person = Person(namespace(stack.run_id, "sta1"), stack.radios["sta1"].interface, results)
        await asyncio.to_thread(person.run)


class Person:
    """Does what the prompts of a testbed process say, on one station."""

    def __init__(self, station: str, interface: str, results: Path) -> None:
        self._enter = ["ip", "netns", "exec", station]
        self._interface = interface
        self._results = results
        self._supplicant: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        ours, theirs = pty.openpty()
        child = subprocess.Popen(
            [sys.executable, __file__, str(self._results), "testbed"],
            stdin=theirs,
            stderr=theirs,
            stdout=subprocess.PIPE,
        )
        os.close(theirs)
        seen, job = "", ""
        while True:
            try:
                octets = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            seen += octets.decode(errors="replace").replace("\r", "")
            sys.stderr.write(octets.decode(errors="replace"))
            while "(waiting for at most" in seen and seen.endswith("\n"):
                step, _, seen = seen.partition("(waiting for at most")
                seen = seen.partition("\n")[2]
                job = (re.findall(r"^== (\w+)$", step, re.M) or [job])[-1]
                if any(word in step for word in UNWILLING.get(job, ())):
                    os.write(ours, b"skip\n")
                elif "join the network" in step:
                    self._join(step)
                else:
                    command = re.findall(r"^  (iperf3 .*)$", step, re.M)[-1]
                    subprocess.Popen([*self._enter, *command.split()], stdout=subprocess.DEVNULL)
        if self._supplicant is not None:
            self._supplicant.terminate()
        assert child.stdout is not None
        sys.stdout.write(child.stdout.read().decode())
        child.wait()

    def _join(self, step: str) -> None:
        told = dict(re.findall(r"^  ([^:]+): (.*)$", step, re.M))
        network = [f'ssid="{told["SSID"]}"', "scan_freq=2412"]
        if "EAP method" in told:
            authority = told["authority"].split(",")[0]
            network += ["key_mgmt=WPA-EAP", "eap=PEAP", 'phase2="auth=MSCHAPV2"']
            network += [f'identity="{told["identity"]}"', f'password="{told["password"]}"']
            network.append(f'ca_cert="{authority}"')
        else:
            network += ["key_mgmt=WPA-PSK", f'psk="{told["passphrase"]}"']
        path = self._results / "phone.conf"
        path.write_text("network={\n" + "\n".join(network) + "\n}\n")
        if self._supplicant is not None:
            self._supplicant.terminate()
            self._supplicant.wait()
        self._supplicant = subprocess.Popen(
            [*self._enter, "wpa_supplicant", "-D", "nl80211", "-i", self._interface, "-c", path],
            stdout=subprocess.DEVNULL,
        )
        subprocess.run(
            [*self._enter, "ip", "addr", "replace", f"{IP}/24", "dev", self._interface], check=True
        )


async def testbed(results: Path) -> None:
    """The process under test: a laboratory whose station is a phone, with its prompts."""
    secret = Credentials.from_json(json.loads((results / "credentials.json").read_text()))
    told = json.loads((results / "lab.json").read_text())
    for options in told["options"].values():
        options["known_hosts"] = tuple(options["known_hosts"])
    lab = Lab.model_validate(
        {
            "lab": {"name": "by hand", "hand_limit_s": 60},
            "host": {
                "router": ssh_trial.host("access-point", told["interface"], 2, bridge="br0"),
                "phone": {"role": "station", "by": "hand", "ip": IP},
                "server": ssh_trial.host("server", "br0", 1),
            },
        }
    )
    outcomes = []
    async with Laboratory("aaaa0003", secret, results, lab, told["options"]) as laboratory:
        for job in JOBS:
            sys.stderr.write(f"== {job.name}\n")
            outcomes.append((await laboratory.measure(job)).to_json())
    sys.stdout.write(json.dumps(outcomes) + "\n")


if __name__ == "__main__":
    asyncio.run((testbed if sys.argv[2:] == ["testbed"] else main)(Path(sys.argv[1])))
