"""Options of a flow's TCP sockets, as a study states them; None: as the kernel has them.

Names are those of Linux (tcp(7), socket(7)).
"""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING, Final

from attrs import frozen

if TYPE_CHECKING:
    from airtoll.testbeds.linux.job import Flow

#: Names of a study's congestion controls where the kernel has another one.
_KERNEL: Final = {"newreno": "reno"}
#: Place of ``tcpi_total_retrans`` in ``struct tcp_info``: 8 octets and 23 numbers before it.
_TOTAL_RETRANS: Final = 8 + 23 * 4


@frozen
class TcpOptions:
    """Socket buffers of both directions, largest segment, congestion control."""

    window_octets: int | None = None
    mss_octets: int | None = None
    congestion_control: str | None = None

    @staticmethod
    def of(flow: Flow) -> TcpOptions:
        """The options of a flow."""
        return TcpOptions(flow.window_octets, flow.mss_octets, flow.congestion_control)

    def set(self, link: socket.socket) -> None:
        """Set them on a socket before it connects or listens; raises ``OSError``."""
        if self.window_octets is not None:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.window_octets)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.window_octets)
        if self.mss_octets is not None:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, self.mss_octets)
        if self.congestion_control is not None:
            name = _KERNEL.get(self.congestion_control, self.congestion_control)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())

    def connect(self, server: str, port: int, source: str | None, limit_s: float) -> socket.socket:
        """A connection with these options; raises ``OSError``."""
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        link = socket.socket(family, socket.SOCK_STREAM)
        try:
            self.set(link)
            if source is not None:
                link.bind((source, 0))
            link.settimeout(limit_s)
            link.connect((server, port))
        except BaseException:
            link.close()
            raise
        return link

    def listen(self, port: int) -> socket.socket:
        """A listening socket for both network protocols; port 0: any that is free."""
        link = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        try:
            self.set(link)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            link.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            link.bind(("::", port))
            link.listen(64)
        except BaseException:
            link.close()
            raise
        return link


#: The options of a socket of which a study states nothing.
PLAIN: Final = TcpOptions()


def retransmissions(link: socket.socket) -> int:
    """Segments that a connection has sent again so far."""
    info = link.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    (count,) = struct.unpack_from("=I", info, _TOTAL_RETRANS)
    return int(count)
