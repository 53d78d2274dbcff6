"""``airtoll maxima``: the printed theoretical maxima and our closed forms.

Takes nothing; gives the lines of the thesis's Table 4-2 with ours, and the cause of the
differences.
"""

from __future__ import annotations

from airtoll import _native
from airtoll.cli.output import JsonOption, emit_json, err, out, table


def maxima(json: JsonOption = False) -> None:
    """Print theoretical maxima of 802.11a/b/g and those of McCarter's Table 4-2."""
    rows = _native.published_maxima()
    by_phy = {row["phy"]: row for row in rows}
    mixed, pure = by_phy["802.11b/g"], by_phy["802.11g"]
    loss = {
        "udp": 1 - mixed["udp_bps"] / pure["udp_bps"],
        "printed_udp": 1 - mixed["printed_udp_bps"] / pure["printed_udp_bps"],
        "printed_tcp": 1 - mixed["printed_tcp_bps"] / pure["printed_tcp_bps"],
    }
    if json:
        emit_json({"maxima": rows, "compatibility_loss": loss})
        return
    columns = ["PHY", "UDP printed", "as they count", "UDP ours", "TCP printed", "TCP ours", "why"]
    view = table("theoretical maxima, Mb/s", columns, right=columns[1:6])
    for row in rows:
        view.add_row(
            row["phy"],
            f"{row['printed_udp_bps'] / 1e6:.1f}",
            f"{row['udp_as_printed_bps'] / 1e6:.2f}",
            f"{row['udp_bps'] / 1e6:.2f}",
            f"{row['printed_tcp_bps'] / 1e6:.1f}",
            f"{row['tcp_lower_bps'] / 1e6:.1f} to {row['tcp_upper_bps'] / 1e6:.1f}",
            row["reading"],
        )
    out().print(view)
    err().print(
        f"A mixed b/g cell loses {100 * loss['udp']:.0f} % of 802.11g's UDP here, "
        f"{100 * loss['printed_udp']:.0f} % in the table, and about 15 % in the work that the "
        "thesis quotes (section 3.1.1)."
    )
