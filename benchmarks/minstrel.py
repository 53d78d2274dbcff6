"""Throughput under Minstrel by received power, under one or two tables of frame errors.

One station sends saturated UDP datagrams of 1472 octets to its access point. Each figure is the
mean of three trials of ten simulated seconds after two of warm-up.

    python benchmarks/minstrel.py [--before MODULE | --coding]

``--before``: a second native module (``_native.abi3.so``), built with another
``crates/airtoll-phy/src/error_rate.rs``; its figures stand first, with the change.
``--coding``: the convolutional code first, then LDPC.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from statistics import fmean
from types import ModuleType
from typing import Any

from airtoll import _native

POWERS_DBM = (-55, -60, -65, -68, -71, -74, -77, -80, -83, -86, -89)
CELLS: dict[str, dict[str, Any]] = {
    "802.11a": {"standard": "802.11a"},
    "802.11n, 20 MHz": {"standard": "802.11n"},
    "802.11ax, 80 MHz": {"standard": "802.11ax", "width_mhz": 80},
}
SEEDS = [1, 2, 3]
#: Transmit power of the simulator's radios, dBm.
SENT_DBM = 16.0


def scenario(bss: dict[str, Any], power_dbm: float) -> str:
    """A cell of one station whose signal arrives with ``power_dbm``."""
    return json.dumps(
        {
            "duration_s": 12.0,
            "warm_up_s": 2.0,
            "radio": {"path_loss": {"model": "constant", "loss_db": SENT_DBM - power_dbm}},
            "bss": [{"name": "cell", "rate": {"control": "minstrel"}, **bss}],
            "nodes": [
                {"name": "ap", "role": "access_point", "bss": "cell"},
                {"name": "s1", "role": "station", "bss": "cell"},
            ],
            "links": [],
            "flows": [
                {
                    "name": "f",
                    "source": "s1",
                    "destination": "ap",
                    "transport": {"protocol": "udp"},
                    "pattern": {"type": "saturated", "payload_octets": 1472},
                }
            ],
        }
    )


def mbps(module: Any, text: str) -> float:
    """Mean throughput of the trials, Mb/s."""
    columns = module.Scenario(text).simulate(SEEDS)
    totals = [
        value
        for metric, flow, second, value in zip(
            columns["metric"], columns["flow"], columns["second"], columns["value"], strict=True
        )
        if metric == "throughput_bps" and flow and second is None
    ]
    return fmean(totals) / 1e6


def module_at(path: str) -> ModuleType:
    """The native module in a file."""
    spec = importlib.util.spec_from_file_location("airtoll._native", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: not an extension module; name a file like _native.abi3.so")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Prints one row for each cell and power."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", help="native module with other frame errors")
    parser.add_argument("--coding", action="store_true", help="both codes of HT and later")
    options = parser.parse_args()
    if options.before and options.coding:
        parser.error("--before and --coding exclude one another")
    other = module_at(options.before) if options.before else None
    two = other is not None or options.coding
    heads = ("BCC, Mb/s", "LDPC, Mb/s") if options.coding else ("before, Mb/s", "Mb/s")
    print("| PHY | signal, dBm | " + " | ".join(heads if two else heads[1:]), end=" |")
    print(" change |" if two else "")
    print("|---|---|---|" + ("---|---|" if two else ""))
    for name, bss in CELLS.items():
        if options.coding and bss["standard"] == "802.11a":
            continue
        for power in POWERS_DBM:
            coded = {**bss, "coding": "ldpc"} if options.coding else bss
            now = mbps(_native, scenario(coded, power))
            row = f"| {name} | {power} |"
            if two:
                old = mbps(other or _native, scenario(bss, power))
                change = f"{100 * (now / old - 1):+.0f} %" if old else "-"
                print(f"{row} {old:.2f} | {now:.2f} | {change} |")
            else:
                print(f"{row} {now:.2f} |")


if __name__ == "__main__":
    main()
