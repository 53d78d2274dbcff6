"""``airtoll capture report FILE...``: what security cost on a network that was captured.

Takes pcap and pcapng files and keys; gives a summary, JSON, CSV or an HTML page on stdout, and
Parquet rows in the observation schema. A damaged file gives what it holds and says where it broke.
"""

from __future__ import annotations

import csv
import json as jsons
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from airtoll.analyse.captured import take_apart
from airtoll.analyse.quantities import show_value
from airtoll.capture import CaptureReport, capture_report, observations, page
from airtoll.cli.output import emit_json, err, out, table
from airtoll.errors import StorageError, UsageError

app = typer.Typer(help="Read captures of real networks.", no_args_is_help=True)

_CSV = (
    "station",
    "bssid",
    "ssid",
    "akm",
    "cipher",
    "group_cipher",
    "pmf",
    "eap_method",
    "tls_version",
    "outcome",
    "reason",
    "at_s",
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "negotiation_time_s",
)


@app.callback()
def root() -> None:
    """Read captures of real networks."""


@app.command("report")
def report_command(
    files: Annotated[
        list[str], typer.Argument(help="pcap or pcapng, plain, gzip or zstd; - is stdin.")
    ],
    key: Annotated[
        list[str] | None,
        typer.Option(
            help="wpa-pwd:PASS:SSID (percent-escapes allowed), wpa-psk:HEX, pmk:HEX, msk:HEX, "
            "tk:HEX or wep:HEX; may be repeated."
        ),
    ] = None,
    keys: Annotated[
        list[Path] | None, typer.Option(help="File with one key a line; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    csv_: Annotated[bool, typer.Option("--csv", help="Print one line a session.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print a page with pictures.")] = False,
    parquet: Annotated[
        Path | None, typer.Option(help="Write rows in the observation schema there.")
    ] = None,
) -> None:
    """Say what security cost on a captured network, and how long clients took to get in."""
    if json + csv_ + html > 1:
        raise UsageError("--json, --csv and --html exclude each other: give one")
    if files.count("-") > 1:
        raise UsageError("-: standard input can be read once")
    report = capture_report(files, key or [], keys or [])
    if parquet is not None:
        try:
            observations(report).write_parquet(parquet)
        except OSError as error:
            raise StorageError(f"{parquet}: {error.strerror or error}") from None
    if json:
        sys.stdout.write(jsons.dumps(report.data, ensure_ascii=False) + "\n")
    elif csv_:
        _write_csv(report)
    elif html:
        sys.stdout.write(page(report))
    else:
        _summarise(report)
    for damage in report.data["damages"]:
        err().print(
            f"{damage['file']}: broken at octet {damage['offset']}, after "
            f"{damage['after_frames']} frames: {damage['what']}",
            markup=False,
        )


@app.command("compare")
def compare_command(
    baseline: Annotated[str, typer.Argument(help="Capture without security.")],
    secured: Annotated[str, typer.Argument(help="Capture of the same traffic with it.")],
    key: Annotated[list[str] | None, typer.Option(help="As for `report`.")] = None,
    keys: Annotated[list[Path] | None, typer.Option(help="As for `report`.")] = None,
    definition: Annotated[str, typer.Option(help="of_baseline or of_secured.")] = "of_baseline",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Take the difference between two captures apart: where the air went, per bit of payload.

    What no frame carries (back-off, spaces, hosts) is one remainder. Both captures should hold the
    traffic and little else.
    """
    if definition not in ("of_baseline", "of_secured"):
        raise UsageError(f"--definition {definition}: of_baseline or of_secured")
    given = key or [], keys or []
    found = take_apart(
        capture_report([baseline], *given),
        capture_report([secured], *given),
        "of_baseline" if definition == "of_baseline" else "of_secured",
    )
    if json:
        fields = ("baseline_bps", "secured_bps", "overhead", "definition")
        plain = {name: getattr(found, name) for name in fields}
        emit_json({**plain, "parts": found.parts.to_dicts()})
        return
    console = out()
    console.print(
        f"payload {show_value(found.baseline_bps, 'bit/s')} without, "
        f"{show_value(found.secured_bps, 'bit/s')} with: {100 * found.overhead:.2f} % "
        f"({found.definition})",
        markup=False,
    )
    view = table("its parts", ["part", "points", "what it is"], right=["points"])
    for row in found.parts.iter_rows(named=True):
        name = row["part"].removeprefix("airtime_").removesuffix("_s").replace("_", " ")
        view.add_row(name, f"{100 * row['value']:+.2f}", row["meaning"])
    console.print(view)


def _write_csv(report: CaptureReport) -> None:
    writer = csv.DictWriter(sys.stdout, _CSV, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(report.sessions)


def _summarise(report: CaptureReport) -> None:
    data = report.data
    closed = sum(data["undecrypted"].values())
    why = ", ".join(f"{count} {reason}" for reason, count in data["undecrypted"].items())
    console = out()
    console.print(
        f"{data['frames']} frames in {data['duration_s']:.3f} s; "
        f"{data['protected']} protected, {data['decrypted']} decrypted"
        + (f", {closed} closed ({why})" if closed else "")
        + f"; {data['eapol_frames']} with EAPOL, {data['eap_frames']} with EAP",
        markup=False,
    )
    if report.sessions:
        sessions = table("Sessions", _COLUMNS, right=_COLUMNS[6:10])
        for session in report.sessions:
            sessions.add_row(*_cells(session))
        console.print(sessions)
    _ledger(report, console)


_COLUMNS = (
    "station",
    "network",
    "AKM",
    "cipher",
    "PMF",
    "EAP",
    "assoc ms",
    "EAP ms",
    "keys ms",
    "all ms",
    "outcome",
)


def _cells(session: dict[str, Any]) -> list[str]:
    def milliseconds(key: str) -> str:
        value = session[key]
        return "" if value is None else f"{1000 * value:.2f}"

    texts = [
        session["station"],
        f"{session['ssid'] or '?'} {session['bssid']}",
        session["akm"] or "?",
        session["cipher"] or "?",
        session["pmf"],
        session["eap_method"] or "",
        milliseconds("association_time_s"),
        milliseconds("eap_time_s"),
        milliseconds("key_handshake_time_s"),
        milliseconds("negotiation_time_s"),
        session["outcome"] + (f": {session['reason']}" if session["reason"] else ""),
    ]
    return [text.replace("[", r"\[") for text in texts]


def _ledger(report: CaptureReport, console: Any) -> None:
    total = report.ledger["total"]
    airtime = total["airtime_s"]
    everything = sum(airtime.values())
    shares = table("Ledger", ("kind", "octets", "airtime s", "share"), right=("octets", "share"))
    for kind, octets in total["octets"].items():
        share = f"{100 * airtime[kind] / everything:.2f} %" if everything else ""
        shares.add_row(kind.replace("_", " "), str(octets), f"{airtime[kind]:.6f}", share)
    console.print(shares)
    if report.ledger["frames_without_rate"]:
        console.print(
            f"{report.ledger['frames_without_rate']} frames name no rate: octets only.",
            markup=False,
        )
