"""Settings of a laboratory's hosts that a run changes, and gives back.

Takes a host and its radio; gives a call that gives the settings back. They are also given back when
airtoll is killed or its connection breaks: a shell on the host waits for the end of its standard
input.

Changed are the radio's power save (off), the regulatory domain (the country of the lab file), and
whether NetworkManager manages the radio (no). nmcli tells it over D-Bus, for the time until the
next boot; a connection that was active on the radio is made active again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from airtoll.testbeds.linux.hosts.host import Host

# Written for OpenWrt's ash, too. $1: interface, $2: country or nothing.
_KEEP: Final = r"""
trap '' HUP INT TERM PIPE
saving=$(iw dev "$1" get power_save 2>/dev/null | sed -n 's/^Power save: //p')
country=$(iw reg get 2>/dev/null | sed -n 's/^country \([A-Z0-9]*\).*/\1/p' | head -n 1)
managed=$(nmcli -g GENERAL.NM-MANAGED device show "$1" 2>/dev/null)
active=$(nmcli -g GENERAL.CON-UUID device show "$1" 2>/dev/null)
if [ "$managed" = yes ]; then
  nmcli device set "$1" managed no >/dev/null || { echo "NetworkManager keeps $1"; exit 1; }
  # It lets go a moment later; until then its supplicant has the radio.
  for i in 1 2 3 4 5 6 7 8 9 10; do
    case "$(nmcli -g GENERAL.STATE device show "$1" 2>/dev/null)" in '10 '*) break ;; esac
    sleep 1
  done
fi
[ "$saving" = on ] && iw dev "$1" set power_save off
[ -n "$2" ] && iw reg set "$2"
echo ready
cat >/dev/null
[ "$saving" = on ] && iw dev "$1" set power_save on
[ -n "$2" ] && [ -n "$country" ] && iw reg set "$country"
if [ "$managed" = yes ]; then
  nmcli device set "$1" managed yes
  case "$active" in ''|--) ;; *) nmcli connection up uuid "$active" ifname "$1" ;; esac
fi
exit 0
"""


async def borrow(host: Host, interface: str, country: str | None) -> Callable[[], Awaitable[None]]:
    """Change the settings of a host; gives what gives them back."""
    return await host.hold(["sh", "-c", _KEEP, "sh", interface, country or ""])
