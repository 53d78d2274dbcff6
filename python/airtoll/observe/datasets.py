"""Published readings: takes a folder of ``datasets/``, gives its figures and observations.

A data set is a folder with ``dataset.toml`` (the study's own statements), ``readings.csv``
(figures exactly as printed), ``README.md`` (source, units, definitions, corrected text damage) and
optionally ``protocol.csv``, ``policies.csv`` and ``sources.csv`` (where the figures of each table
were read, and their conditions). On loading, values become SI and policies get
their catalogue names; the printed digits and labels are kept.
Never corrects a printed figure, never writes, never reads the network.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from airtoll.errors import DatasetError
from airtoll.observe.schema import OBSERVATIONS, ROW_ORDER, SCHEMA_VERSION
from airtoll.study import data_folder

#: Columns of ``readings.csv``, all text, in this order.
COLUMNS: Final = (
    "study",
    "table",
    "kind",
    "configuration",
    "security",
    "transport",
    "ip",
    "offered_mbps",
    "packet_bytes",
    "client",
    "statistic",
    "trial",
    "metric",
    "value",
    "unit",
    "label",
)

#: Columns of ``sources.csv``: a table of the readings, where its figures stand (address, place in
#: it, commit or date), and the conditions of the measurement.
SOURCES: Final = ("table", "address", "place", "version", "conditions")

#: Printed unit -> (SI unit, factor).
UNITS: Final[dict[str, tuple[str, float]]] = {
    "kbps": ("bit/s", 1e3),
    "Mbps": ("bit/s", 1e6),
    "Gbps": ("bit/s", 1e9),
    "bit/s": ("bit/s", 1.0),
    "ms": ("s", 1e-3),
    "s": ("s", 1.0),
    "%": ("1", 1e-2),
    "percentage points": ("1", 1e-2),
    "octets": ("octet", 1.0),
    "octet": ("octet", 1.0),
    "m": ("m", 1.0),
    "1": ("1", 1.0),
    "J/bit": ("J/bit", 1.0),
    "J": ("J", 1.0),
    "mA": ("A", 1e-3),
    "uA": ("A", 1e-6),
    "mC": ("C", 1e-3),
}

#: Label in the published data -> catalogue policy.
POLICY_OF_LABEL: Final[dict[str, str]] = {
    "open": "open",
    "wep-40": "wep-40",
    "wep-104": "wep-104",
    "wpa-tkip": "wpa-psk-tkip",
    "wpa-ccmp": "wpa-psk-ccmp",
    "wpa2-ccmp": "wpa2-psk-ccmp",
    "wpa3-ccmp": "wpa3-sae-ccmp",
    "peap-tkip": "wpa-eap-peap-tkip",
    "peap-ccmp": "wpa2-eap-peap-ccmp",
    "leap-ccmp": "wpa2-eap-leap-ccmp",
    "wireguard": "wireguard",
    "openvpn": "openvpn",
    "ipsec": "ipsec-3des-sha1",
    "ipsec-3des-sha": "ipsec-3des-sha1",
    "ipsec-3des-md5": "ipsec-3des-md5",
    "8021x-md5": "8021x-md5",
    "8021x-tls": "8021x-tls",
}


@dataclass(frozen=True)
class Dataset:
    """One published study.

    ``readings`` holds the rows as printed (all columns text). ``figures`` holds the same rows
    plus ``row`` (0-based line), ``policy`` (catalogue name or null), ``number`` (printed value,
    printed unit), ``decimals`` (printed after the point), ``si`` and ``si_unit``.
    """

    name: str
    folder: Path
    meta: Mapping[str, Any]
    readings: pl.DataFrame
    figures: pl.DataFrame
    protocol: pl.DataFrame
    policies: pl.DataFrame
    sources: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def of_devices(self) -> bool:
        """Whether its figures are those of devices, collected from tables of vendors and users."""
        return bool(self.meta["dataset"].get("kind") == "devices")

    @property
    def title(self) -> str:
        """Title of the study."""
        return str(self.meta["dataset"]["title"])

    @property
    def baseline(self) -> str:
        """Label of the policy that overhead is computed against."""
        return str(self.meta["dataset"].get("baseline", "open"))

    @property
    def overhead(self) -> str | None:
        """Overhead definition that the study states, or None."""
        value = self.meta.get("overhead", {}).get("definition")
        return None if value is None else str(value)

    def observations(self) -> pl.DataFrame:
        """Raw readings in the observation schema (``testbed`` = ``published``), SI units.

        A study whose readings are points of time gives one trial with ``second`` = point - 1
        (the printed point carries no unit). Printed summaries are in ``published``.
        """
        series = self.meta.get("trials", {}).get("kind") == "series"
        rows = self.figures.filter((pl.col("kind") == "trial") & pl.col("policy").is_not_null())
        names = dict(self.meta.get("metrics", {}))
        point = pl.col("trial").cast(pl.UInt32)
        frame = rows.with_columns(
            schema_version=pl.lit(SCHEMA_VERSION, pl.UInt16),
            testbed=pl.lit("published"),
            metric=pl.col("metric").replace(names),
            unit=pl.col("si_unit"),
            value=pl.col("si"),
            trial=pl.lit(1, pl.UInt32) if series else point,
            attempt=pl.lit(1, pl.UInt32),
            seed=pl.lit(None, pl.UInt64),
            flow=pl.lit(None, pl.String),
            station=pl.when(pl.col("client") == "").then(None).otherwise(pl.col("client")),
            second=(point - 1) if series else pl.lit(None, pl.UInt32),
        )
        return frame.select([pl.col(name).cast(kind) for name, kind in OBSERVATIONS.items()]).sort(
            ROW_ORDER, nulls_last=False
        )

    def published(self) -> pl.DataFrame:
        """Printed summaries: cell columns, ``metric``, ``statistic``, ``value`` (SI), ``unit``."""
        names = dict(self.meta.get("metrics", {}))
        return self.figures.filter(pl.col("kind") == "published").select(
            "table",
            "cell",
            "scenario",
            "policy",
            "traffic",
            "factors",
            "client",
            pl.col("metric").replace(names),
            "statistic",
            pl.col("si").alias("value"),
            pl.col("si_unit").alias("unit"),
            pl.col("value").alias("printed"),
            pl.col("unit").alias("printed_unit"),
            "label",
        )


def datasets_root() -> Path:
    """Folder of the shipped data sets.

    ``AIRTOLL_DATASETS`` if set, else the shipped folder. Raises DatasetError where that folder
    has no data set, StudyError if the installation lacks the shipped one.
    """
    chosen = os.environ.get("AIRTOLL_DATASETS")
    folder = Path(chosen) if chosen else data_folder("datasets")
    if any(folder.glob("*/dataset.toml")):
        return folder
    raise DatasetError(f"{folder}: no data set in it: set AIRTOLL_DATASETS to a folder of them")


def list_datasets(root: Path | None = None) -> list[str]:
    """Names of the data sets below ``root``, sorted."""
    folder = root or datasets_root()
    return sorted(path.parent.name for path in folder.glob("*/dataset.toml"))


def load_dataset(name: str | Path, root: Path | None = None) -> Dataset:
    """Load a data set by name, or from a folder that holds ``dataset.toml``.

    Raises DatasetError that names the file, the line and what is wrong.
    """
    path = Path(name)
    folder = path if (path / "dataset.toml").is_file() else (root or datasets_root()) / str(name)
    if not (folder / "dataset.toml").is_file():
        known = ", ".join(list_datasets(root))
        raise DatasetError(f"no data set {str(name)!r}: known are {known}, or give its folder")
    try:
        meta = tomllib.loads((folder / "dataset.toml").read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DatasetError(f"{folder / 'dataset.toml'}: {error}") from error
    _check_meta(folder / "dataset.toml", meta)
    readings = _read_text_table(folder / "readings.csv", COLUMNS)
    return Dataset(
        name=str(meta["dataset"]["name"]),
        folder=folder,
        meta=meta,
        readings=readings,
        figures=figures_of(readings, str(folder / "readings.csv")),
        protocol=_optional_table(folder / "protocol.csv"),
        policies=_optional_table(folder / "policies.csv"),
        sources=_optional_table(folder / "sources.csv", SOURCES),
    )


def show_dataset(dataset: Dataset) -> dict[str, Any]:
    """Summary of a data set as plain JSON values."""
    figures = dataset.figures
    return {
        "name": dataset.name,
        "title": dataset.title,
        "authors": list(dataset.meta["dataset"].get("authors", [])),
        "year": dataset.meta["dataset"].get("year"),
        "venue": dataset.meta["dataset"].get("venue"),
        "rows": figures.height,
        "readings": figures.filter(pl.col("kind") == "trial").height,
        "published": figures.filter(pl.col("kind") == "published").height,
        "tables": figures["table"].unique(maintain_order=True).to_list(),
        "sources": dataset.sources.select(SOURCES[1:4]).rows() if dataset.of_devices else [],
        "metrics": sorted(figures["metric"].unique().to_list()),
        "policies": sorted(figures["policy"].drop_nulls().unique().to_list()),
        "overhead_definition": dataset.overhead,
        "claims": len(dataset.meta.get("claim", [])),
        "folder": str(dataset.folder),
    }


def figures_of(readings: pl.DataFrame, source: str) -> pl.DataFrame:
    """Add numbers, SI values, policies and cell names to rows as printed.

    ``readings`` has COLUMNS, all text; ``source`` names it in errors. Line numbers in errors
    count the header as line 1.
    """
    rows: list[dict[str, Any]] = []
    for index, row in enumerate(readings.iter_rows(named=True)):
        line = index + 2
        try:
            number = float(row["value"])
        except ValueError as error:
            raise DatasetError(f"{source}:{line}: value {row['value']!r} is no number") from error
        if row["unit"] not in UNITS:
            raise DatasetError(
                f"{source}:{line}: unit {row['unit']!r} unknown; known are {', '.join(UNITS)}"
            )
        if row["kind"] not in ("trial", "published"):
            raise DatasetError(f"{source}:{line}: kind {row['kind']!r} is not trial or published")
        unit, factor = UNITS[row["unit"]]
        policy = policy_of_label(row["security"])
        traffic = row["transport"].lower() or "none"
        factors = {
            key: float(row[column]) if column != "ip" else row[column]
            for key, column in (
                ("ip", "ip"),
                ("offered_mbps", "offered_mbps"),
                ("packet_bytes", "packet_bytes"),
            )
            if row[column] != ""
        }
        cell = f"{row['configuration']}/{policy or row['security']}/{traffic}"
        if factors:
            cell += "?" + ";".join(f"{key}={_plain(factors[key])}" for key in sorted(factors))
        rows.append(
            row
            | {
                "row": index,
                "policy": policy,
                "number": number,
                "decimals": len(row["value"].partition(".")[2]),
                "si": number * factor,
                "si_unit": unit,
                "scenario": row["configuration"],
                "traffic": traffic,
                "factors": json.dumps(factors, sort_keys=True, separators=(",", ":")),
                "cell": cell,
            }
        )
    extra = {
        "row": pl.UInt32(),
        "policy": pl.String(),
        "number": pl.Float64(),
        "decimals": pl.UInt8(),
        "si": pl.Float64(),
        "si_unit": pl.String(),
        "scenario": pl.String(),
        "traffic": pl.String(),
        "factors": pl.String(),
        "cell": pl.String(),
    }
    schema: dict[str, pl.DataType] = {name: pl.String() for name in readings.columns} | extra
    return pl.DataFrame(rows, schema=schema, orient="row")


def policy_of_label(label: str) -> str | None:
    """Catalogue policy of a published label (parts joined by ``+``); None if it is none.

    Ratios (``a / b``), family names (``wep``, ``tkip``, ``ccmp``) and protocols that are no
    policy (``mobile-ip``) give None.
    """
    parts = [part.strip() for part in label.split("+")]
    names = [POLICY_OF_LABEL.get(part) for part in parts]
    if any(name is None for name in names):
        return None
    return "+".join(name for name in names if name is not None)


_REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "link": ("configuration", "phy", "rate_mbps"),
    "aggregation": ("configuration", "source"),
    "join": ("configuration", "phy", "band", "clock_ms"),
    "claim": ("where", "says", "kind"),
    "definition": ("quantity", "where", "defined", "measured"),
}


def _check_meta(path: Path, meta: Mapping[str, Any]) -> None:
    head = meta.get("dataset")
    if not isinstance(head, dict):
        raise DatasetError(f"{path}: the table [dataset] is missing")
    for key in ("name", "title"):
        if not isinstance(head.get(key), str):
            raise DatasetError(f"{path}: [dataset] {key} is missing")
    for table, keys in _REQUIRED.items():
        entries = meta.get(table, [])
        if not isinstance(entries, list):
            raise DatasetError(f"{path}: write [[{table}]], once per entry")
        for number, entry in enumerate(entries, 1):
            for key in keys:
                if key not in entry:
                    raise DatasetError(f"{path}: [[{table}]] number {number}: {key} is missing")


def _plain(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _read_text_table(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    try:
        frame = pl.read_csv(path, infer_schema=False).fill_null("")
    except FileNotFoundError as error:
        raise DatasetError(f"{path}: missing; a data set needs it") from error
    except pl.exceptions.PolarsError as error:
        raise DatasetError(f"{path}: not readable as CSV: {str(error).splitlines()[0]}") from error
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise DatasetError(f"{path}: column {missing[0]!r} is missing")
    return frame


def _optional_table(path: Path, columns: tuple[str, ...] = ()) -> pl.DataFrame:
    if not path.is_file():
        return pl.DataFrame()
    return _read_text_table(path, columns)
