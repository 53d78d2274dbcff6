"""FreeRADIUS: a server configured for one run, with its own folder, users and certificates.

Takes credentials and addresses; gives a running server that has answered a Status-Server request
(RFC 5997). Never reads or changes the configuration in /etc.

Option names: FreeRADIUS 3.2, radiusd.conf and mods-available/eap.
"""

from __future__ import annotations

import asyncio
from typing import Final

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.daemons.credentials import USER, Chain, Credentials
from airtoll.testbeds.linux.hosts.host import Host, HostError, Process

#: UDP ports of a server, and of that of the 192-bit mode beside it. Readers of captures know the
#: second as the earlier port of RADIUS (RFC 2865 section 3).
PORTS: Final = (1812, 1645)

#: EAP method -> its block in the eap module, and those that its tunnel needs beside it.
METHODS: Final = {
    "md5": """\
        md5 {
        }
""",
    "tls": """\
        tls {
            tls = common
        }
""",
    "ttls": """\
        ttls {
            tls = common
            default_eap_type = md5
            copy_request_to_tunnel = yes
            use_tunneled_reply = yes
            virtual_server = "inner"
        }
""",
    "peap": """\
        peap {
            tls = common
            default_eap_type = mschapv2
            copy_request_to_tunnel = yes
            use_tunneled_reply = yes
            virtual_server = "inner"
        }
        mschapv2 {
        }
""",
}


class RadiusError(TestbedError):
    """The RADIUS server did not come up or does not answer."""


@frozen
class Server:
    """A running server."""

    host: Host
    process: Process
    port: int
    folder: str
    #: The EAP method that it offers first.
    method: str
    chain: Chain

    async def answers(self, secret: str, limit_s: float = 3.0) -> bool:
        """Whether it answers a Status-Server request within the limit."""
        # radclient counts whole seconds: of a part of one it waits for the rest without pause, for
        # ever in virtual time, where time(2) does not move the clock.
        tries = max(1, round(limit_s))
        done = await self.host.run(
            [
                "radclient",
                "-D",
                f"{self.folder}/client",
                "-q",
                "-r",
                str(tries),
                "-t",
                "1",
                f"127.0.0.1:{self.port}",
                "status",
                secret,
            ],
            stdin="Message-Authenticator = 0x00\n",
            limit_s=limit_s + 60,
            check=False,
        )
        return done.status == 0


async def start(
    host: Host,
    folder: str,
    credentials: Credentials,
    *,
    chain: Chain,
    name: str,
    port: int,
    network: str,
    method: str,
    next_server: str | None = None,
    limit_s: float = 120.0,
) -> Server:
    """Write a configuration folder and start the server on ``port`` for clients of ``network``.

    ``method``: the EAP method that it offers first, as a site configures the one that it uses.
    ``next_server``: the server is a proxy (RFC 2865 section 2.3), which passes every request to
    this address and the same port.

    Raises :class:`RadiusError` with the server's last words when it does not answer in time.
    """
    base = f"{folder}/radius-{name}"
    texts = files(base, credentials, chain, port=port, network=network, method=method)
    if next_server is not None:
        texts["radiusd.conf"] = _proxy(
            base, credentials.radius_secret, (network, port), next_server
        )
    for file, text in texts.items():
        await host.put(f"{base}/{file}", text)
    log = f"{base}/start.log"
    # -f stays in the foreground: the pid is the server's own, and it ends with its owner.
    argv = ["freeradius", "-f", "-l", f"{base}/radius.log", "-d", base]
    async with host.starting(argv, log=log) as process:
        server = Server(host, process, port, base, method, chain)
        loop = asyncio.get_running_loop()
        give_up = loop.time() + limit_s
        while process.running and loop.time() < give_up:
            if await server.answers(credentials.radius_secret, 2.0):
                return server
        said = await _last_words(host, base)
        raise RadiusError(f"{host.name}: freeradius did not start: {said}")


def files(
    base: str, credentials: Credentials, chain: Chain, *, port: int, network: str, method: str
) -> dict[str, str]:
    """File name -> text of the configuration folder."""
    return {
        "dictionary": "$INCLUDE /usr/share/freeradius/dictionary\n",
        # All dictionaries take seconds to read on a slow machine; a status request needs two.
        "client/dictionary": (
            "$INCLUDE /usr/share/freeradius/dictionary.rfc2865\n"
            "$INCLUDE /usr/share/freeradius/dictionary.rfc2869\n"
        ),
        "ca.pem": chain.authority,
        "server.pem": chain.server,
        "server.key": chain.server_key,
        "users": (f'{USER} Cleartext-Password := "{credentials.password}"\n'),
        "radiusd.conf": _radiusd(base, credentials.radius_secret, port, network, method),
    }


# Blocks stand on lines of their own: FreeRADIUS rejects `name { key = value }` on one line.
def _daemon(base: str, secret: str, network: str) -> str:
    return f"""prefix = /usr
libdir = /usr/lib/freeradius
raddbdir = {base}
logdir = {base}
run_dir = {base}
pidfile = {base}/radiusd.pid
correct_escapes = true
max_requests = 1024
hostname_lookups = no
log {{
    destination = files
    file = {base}/radius.log
    auth = yes
}}
security {{
    max_attributes = 200
    reject_delay = 0
    status_server = yes
}}
thread pool {{
    start_servers = 1
    max_servers = 4
    min_spare_servers = 1
    max_spare_servers = 2
}}
client access_points {{
    ipaddr = {network}
    secret = {secret}
    require_message_authenticator = no
}}
client self {{
    ipaddr = 127.0.0.1
    secret = {secret}
    require_message_authenticator = no
}}
"""


def _radiusd(base: str, secret: str, port: int, network: str, method: str) -> str:
    return f"""{_daemon(base, secret, network)}modules {{
    mschap {{
        use_mppe = yes
        require_encryption = yes
    }}
    pap {{
    }}
    files {{
        filename = {base}/users
    }}
    eap {{
        default_eap_type = {method}
        timer_expire = 60
        ignore_unknown_eap_types = no
        max_sessions = 1024
        tls-config common {{
            private_key_file = {base}/server.key
            certificate_file = {base}/server.pem
            ca_file = {base}/ca.pem
            tls_min_version = "1.2"
            tls_max_version = "1.3"
            ecdh_curve = ""
            fragment_size = 1024
            cache {{
                enable = no
            }}
        }}
{"".join(METHODS.values())}    }}
}}
server default {{
    listen {{
        type = auth
        ipaddr = *
        port = {port}
    }}
    authorize {{
        eap {{
            ok = return
        }}
        files
    }}
    authenticate {{
        eap
    }}
}}
server inner {{
    authorize {{
        mschap
        eap {{
            ok = return
        }}
        files
        pap
    }}
    authenticate {{
        Auth-Type PAP {{
            pap
        }}
        Auth-Type MS-CHAP {{
            mschap
        }}
        eap
    }}
}}
"""


def _proxy(base: str, secret: str, listens: tuple[str, int], next_server: str) -> str:
    """A proxy for clients of a network on a port, and the server that it asks."""
    network, port = listens
    # It repeats nothing by itself, and a server that is silent for a while is still asked.
    return f"""{_daemon(base, secret, network)}proxy server {{
}}
home_server next {{
    type = auth
    ipaddr = {next_server}
    port = {port}
    secret = {secret}
    status_check = none
    response_window = 60
    zombie_period = 120
}}
home_server_pool next {{
    home_server = next
}}
realm DEFAULT {{
    auth_pool = next
    nostrip
}}
modules {{
}}
server default {{
    listen {{
        type = auth
        ipaddr = *
        port = {port}
    }}
    authorize {{
        update control {{
            Proxy-To-Realm := "DEFAULT"
        }}
    }}
    authenticate {{
    }}
}}
"""


async def _last_words(host: Host, base: str) -> str:
    for name in ("start.log", "radius.log"):
        try:
            lines = (await host.get(f"{base}/{name}")).decode(errors="replace").strip().splitlines()
        except HostError:
            continue
        if lines:
            return lines[-1]
    return "it said nothing"
