"""``airtoll calibrate RUN|DATASET --fit PROFILE``: device profiles from readings.

Takes readings, profiles and the numbers to fit; gives their values with intervals, predictions of
the held-out cells, and profile files that name the readings of the fit. With one result of iperf3
instead (``airtoll calibrate FILE.json``): what the station's host adds to the air, and the
throughput of other policies on that device.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import frozen

from airtoll.analyse.calibration import Prediction
from airtoll.analyse.quantities import show_value
from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, err, out, table
from airtoll.cli.places import named
from airtoll.errors import StorageError, UsageError
from airtoll.observe.folder import make
from airtoll.observe.replacing import put_text
from airtoll.policies import resolve
from airtoll.run.calibrating import Fitted, fit_profile
from airtoll.run.host_limit import cell_of, host_limit, predict, profile_text, read_iperf3
from airtoll.study import load

#: Share of held-out cells that should lie inside their prediction interval.
_GOAL = 0.9


@frozen(kw_only=True)
class CalibrateOptions:
    """Options of ``airtoll calibrate``."""

    subject: Annotated[
        str,
        typer.Argument(
            help="A run folder, a data set (with --study), or one iperf3 result (JSON).",
            metavar="RUN|DATASET|IPERF3",
        ),
    ]
    fit: Annotated[list[str] | None, typer.Option(help="Profile to fit; repeat.")] = None
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            help="Number to fit, e.g. host.tx_packet_cycles; repeat. With several profiles "
            "PROFILE:NUMBER."
        ),
    ] = None
    see: Annotated[
        list[str] | None,
        typer.Option(
            help="Policy whose readings the fit may see; repeat. Of an iperf3 result: the policy "
            "of the network (open)."
        ),
    ] = None
    study: Annotated[
        str | None,
        typer.Option(
            help="Study whose cells correspond to a data set; of an iperf3 result: the study with "
            "the scenario (quickstart)."
        ),
    ] = None
    scenario: Annotated[str | None, typer.Option(help="Only this scenario.")] = None
    hold_out: Annotated[
        list[str] | None, typer.Option(help="Scenario that is predicted only; repeat.")
    ] = None
    metric: Annotated[
        str, typer.Option(help="Metric to fit; overhead: throughput against the baseline.")
    ] = "throughput_bps"
    policy: Annotated[
        list[str] | None,
        typer.Option(help="Policy to predict from an iperf3 result; repeat."),
    ] = None
    direction: Annotated[
        str | None,
        typer.Option(
            help="Direction of an iperf3 result: up (the station sent) or down; default: by -R."
        ),
    ] = None
    on: Annotated[str, typer.Option(help="Testbed for the predictions.")] = "simulator"
    trials: Annotated[int, typer.Option(help="Trials per prediction.")] = 3
    seed: Annotated[int, typer.Option(help="Seed of predictions and bootstrap.")] = 1
    file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=named("--out"),
            help="Profile file to write (TOML); several profiles: a folder.",
        ),
    ] = None
    json: JsonOption = False


@command
def calibrate_command(options: CalibrateOptions) -> None:
    """Fit device profiles to some policies' readings and predict the others."""
    if options.file is not None and options.file.exists():
        raise UsageError(f"{options.file}: exists already; name another file with --out")
    if Path(options.subject).is_file():
        if options.fit or options.parameter or options.hold_out:
            raise UsageError(
                f"{options.subject}: a measurement takes no --fit, --parameter and --hold-out"
            )
        _measured(options)
        return
    if options.policy or options.direction:
        raise UsageError(f"{options.subject}: --policy and --direction are for one iperf3 result")
    for option, given in (
        ("--fit", options.fit),
        ("--parameter", options.parameter),
        ("--see", options.see),
    ):
        if not given:
            raise UsageError(f"{options.subject}: no file; a run or a data set needs {option}")
    fitted = fit_profile(
        options.subject,
        options.fit or (),
        options.parameter or (),
        options.see or (),
        study=options.study,
        scenario=options.scenario,
        hold_out=options.hold_out or (),
        metric=options.metric,
        on=options.on,
        trials=options.trials,
        seed=options.seed,
    )
    if options.file is not None:
        for place, text in _files(options.file, fitted).items():
            make(place.parent)
            put_text(place, text)
            err().print(f"wrote {place}")
    if options.json:
        emit_json(_plain(fitted))
    else:
        _print(fitted)


#: Policies that are predicted from a measurement unless --policy names others.
_PREDICTED = (
    "open",
    "wpa2-psk-ccmp",
    "wpa3-sae-ccmp",
    "wpa3-sae-gcmp-256",
    "wpa2-psk-ccmp+wireguard",
    "wpa2-psk-ccmp+ipsec-aes-gcm",
)


def _measured(options: CalibrateOptions) -> None:
    path, see = Path(options.subject), options.see or []
    direction, file = options.direction, options.file
    if len(see) > 1:
        raise UsageError("--see: a measurement has one policy, that of its network")
    if direction not in (None, "up", "down"):
        raise UsageError(f"--direction {direction}: up or down")
    measurement = read_iperf3(path)
    way = direction or measurement.direction
    seen = resolve(see[0] if see else "open").name
    cell = cell_of(
        load(options.study or "quickstart"), options.scenario, seen, measurement.transport, way
    )
    limit = host_limit(cell, measurement.throughput_bps)
    found = predict(cell, limit, options.policy or _PREDICTED)
    if file is not None:
        if limit.limit == "air":
            raise UsageError(
                f"{path}: the air limits it, so that no host can be fitted; omit --out"
            )
        try:
            file.write_text(profile_text(cell, limit.packet_s, path.name), "utf-8")
        except OSError as error:
            raise StorageError(f"{file}: cannot be written: {error.strerror}") from error
        err().print(f"wrote {file}")
    if options.json:
        emit_json(
            {
                "cell": cell.name,
                "direction": way,
                "measured_bps": limit.measured_bps,
                "air_bps": limit.air_bps,
                "limit": limit.limit,
                "packet_s": limit.packet_s or None,
                "predictions": [
                    {
                        "policy": one.policy,
                        "throughput_bps": None if one.why else one.predicted_bps,
                        "air_bps": None if one.why else one.air_bps,
                        "why_not": one.why,
                        "seen": one.policy == seen,
                    }
                    for one in found
                ],
            }
        )
        return
    console = out()
    words = f"{show_value(limit.measured_bps, 'bit/s')} of the {show_value(limit.air_bps, 'bit/s')}"
    console.print(f"{cell.name}, {way}: {words} that the air carries ({100 * limit.share:.0f} %)")
    if limit.limit == "host":
        console.print(f"the host is the limit: {1e6 * limit.packet_s:.1f} us for each packet")
    else:
        console.print("the air is the limit: predictions keep this share of it")
    view = table("predicted", ["policy", "throughput", "of the measured", "air alone", ""])
    for one in found:
        if one.why:
            view.add_row(one.policy, "skipped", "", "", one.why)
            continue
        view.add_row(
            one.policy,
            show_value(one.predicted_bps, "bit/s"),
            f"{100 * one.predicted_bps / limit.measured_bps:.1f} %",
            show_value(one.air_bps, "bit/s"),
            "measured" if one.policy == seen else "",
        )
    console.print(view)


def _files(wanted: Path, fitted: Fitted) -> dict[Path, str]:
    """The profiles by file: the wanted one, or in a folder one by the name of each profile."""
    if len(fitted.profile_texts) == 1:
        return {wanted: fitted.profile_text}
    return {wanted / f"{name}-fitted.toml": text for name, text in fitted.profile_texts.items()}


def _print(fitted: Fitted) -> None:
    console, outcome = out(), fitted.calibration
    view = table(
        "fitted", ["number", "value", "low", "high", "unit"], right=["value", "low", "high"]
    )
    for name, e in outcome.parameters.items():
        view.add_row(name, *(f"{v:.6g}" for v in (e.value, e.low, e.high)), e.unit)
    console.print(view)
    view = table(
        "predicted",
        ["cell", "predicted", "low", "high", "observed", "error", "inside", ""],
        right=["predicted", "low", "high", "observed", "error"],
    )
    for p in outcome.predictions:
        numbers = (p.predicted.value, p.predicted.low, p.predicted.high, p.observed)
        view.add_row(
            p.cell,
            *(_shown(v, fitted.metric, p.predicted.unit) for v in numbers),
            _error(p, fitted.metric),
            "yes" if p.inside else "no",
            "held out" if p.held_out else "fitted",
        )
    console.print(view)
    if outcome.held_out:
        inside = sum(p.inside for p in outcome.held_out)
        console.print(
            f"held out: {inside} of {len(outcome.held_out)} "
            f"({100 * outcome.coverage:.0f} %, the goal is {100 * _GOAL:.0f} %) inside their 95 % "
            f"prediction interval; mean error {_mean_error(outcome.held_out, fitted.metric)}; "
            f"model error {100 * outcome.model_error:.2f} %"
        )


def _shown(value: float, metric: str, unit: str) -> str:
    return f"{100 * value:.2f} %" if metric == "overhead" else show_value(value, unit)


def _error(p: Prediction, metric: str) -> str:
    if metric == "overhead":
        return f"{100 * (p.predicted.value - p.observed):+.2f} points"
    return f"{100 * p.relative_error:+.2f} %"


def _mean_error(predictions: Sequence[Prediction], metric: str) -> str:
    if metric == "overhead":
        errors = [abs(p.predicted.value - p.observed) for p in predictions]
        return f"{100 * sum(errors) / len(errors):.2f} points"
    return f"{100 * sum(abs(p.relative_error) for p in predictions) / len(predictions):.2f} %"


def _plain(fitted: Fitted) -> dict[str, Any]:
    outcome = fitted.calibration
    return {
        "parameters": {name: e.to_json() for name, e in outcome.parameters.items()},
        "predictions": [
            {
                "cell": p.cell,
                "predicted": p.predicted.to_json(),
                "observed": p.observed,
                "relative_error": p.relative_error if p.observed else None,
                "inside": p.inside,
                "held_out": p.held_out,
            }
            for p in outcome.predictions
        ],
        "model_error": outcome.model_error,
        "coverage": outcome.coverage,
        "seen": [dict(reading) for reading in fitted.seen],
        "metric": fitted.metric,
        "profiles": dict(fitted.profile_texts),
    }
