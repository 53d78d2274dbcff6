"""TCP where the frames of the other way, its acknowledgements, are not aggregated.

Prints for some links the throughput that is left of TCP down, over that of the same link with
aggregation both ways: with one acknowledgement for two segments, and with one for 64 KiB. They are
the predictions of ``airtoll explain``.

    python benchmarks/one_way_aggregation.py
"""

from __future__ import annotations

from airtoll.analyse.explain import Flow
from airtoll.run.explaining import Link, setting_of

LINKS = (
    Link("802.11n", 20, streams=2),
    Link("802.11ac", 80, streams=1),
    Link("802.11ac", 80, streams=2),
    Link("802.11ax", 80, streams=2),
)


def main() -> None:
    """Print the table of docs/guides/explaining.md."""
    print("| link | TCP down, Mb/s | every second segment | 64 KiB |")
    print("|---|---|---|---|")
    flow = Flow("tcp", down=True)
    for link in LINKS:
        air = setting_of(link, [flow]).of(flow)
        assert air.answers_alone is not None
        assert air.answers_merged is not None
        shares = (air.answers_alone / air.after, air.answers_merged / air.after)
        words = " | ".join(f"{share:.2f}" for share in shares)
        streams = f"{link.streams} stream{'s' if link.streams > 1 else ''}"
        print(f"| {link.phy}, {link.width_mhz} MHz, {streams} | {air.after / 1e6:.0f} | {words} |")


if __name__ == "__main__":
    main()
