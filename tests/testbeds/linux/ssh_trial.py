"""Run in the guest: one trial on "physical" hosts, each a real sshd in a namespace with a radio.

Takes a folder for results that holds credentials.json; prints the outcome as JSON. The virtual
stack only provides the nodes: everything of the trial itself goes through SSH.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts.namespaces import namespace
from airtoll.testbeds.linux.job import Flow, Job
from airtoll.testbeds.linux.laboratory.bench import Laboratory
from airtoll.testbeds.linux.laboratory.lab import Lab
from airtoll.testbeds.linux.stack import Stack

NODES = {"router": "ap1", "laptop": "sta1", "server": "srv"}


async def main(results: Path) -> None:
    if os.environ.get("AIRTOLL_GUEST") != "1":
        raise SystemExit("this runs in the guest only: it empties a .bashrc of its overlay")
    # bash reads it for every command that sshd runs, and nothing of it is wanted here.
    Path.home().joinpath(".bashrc").write_text("")
    # Made on the host: an emulated CPU takes a minute for three RSA keys.
    secret = Credentials.from_json(json.loads((results / "credentials.json").read_text()))
    async with Stack("aaaa0001", secret, results) as stack:
        shared = sshd(Path(stack.folder))
        lab = Lab.model_validate(
            {
                "lab": {"name": "namespaces"},
                "host": {
                    "router": host("access-point", stack.radios["ap1"].interface, 2, bridge="br0"),
                    "laptop": host("station", stack.radios["sta1"].interface, 11),
                    "server": host("server", "br0", 1),
                },
            }
        )
        per_host = {name: options(stack, node, shared) for name, node in NODES.items()}
        async with Laboratory("aaaa0002", secret, results, lab, per_host) as laboratory:
            flow = Flow(transport="udp", offered_bps=5e5, payload_octets=500, duration_s=2)
            job = Job("ssh", "wpa2-eap-tls-ccmp", flow=flow, connect_limit_s=120)
            outcome = await laboratory.measure(job)
            # Its programs are sent to the hosts, and run by the hosts' own Python.
            asks = Flow(application="request-response", transport="tcp", duration_s=2)
            asked = await laboratory.measure(Job("asks", "open", flow=asks, connect_limit_s=120))
    sys.stdout.write(json.dumps([outcome.to_json(), asked.to_json()]) + "\n")


def options(stack: Stack, node: str, shared: dict[str, object]) -> dict[str, object]:
    """asyncssh's options to reach a node of the stack through an sshd of its own."""
    return {
        **shared,
        "proxy_command": [
            *("ip", "netns", "exec", namespace(stack.run_id, node)),
            # Without a log file sshd wants a syslog, which the guest has not.
            *("/usr/sbin/sshd", "-i", "-f", f"{stack.folder}/sshd"),
            *("-E", f"{stack.folder}/sshd-{node}.log"),
        ],
    }


def host(role: str, interface: str, number: int, bridge: str | None = None) -> dict[str, object]:
    return {
        "role": role,
        "address": "root@localhost",
        "interface": interface,
        "ip": f"10.77.0.{number}",
        "bridge": bridge,
    }


def sshd(folder: Path) -> dict[str, object]:
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
        )
    Path("/run/sshd").mkdir(exist_ok=True)
    (folder / "sshd").write_text(
        f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nStrictModes no\n"
        "UsePAM no\nPidFile none\nPermitRootLogin yes\n"
    )
    return {
        "client_keys": [str(folder / "user")],
        "known_hosts": ([f"{folder}/host.pub"], [], []),
    }


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
