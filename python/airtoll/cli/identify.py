"""``airtoll identify DATASET --see SCENARIO``: which device explains measured overheads.

Takes a published data set, the scenarios whose readings the fit may see, and further data sets to
predict; gives candidate mechanisms side by side by their error on readings that they have not seen.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from attrs import frozen

from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, out, table
from airtoll.errors import UsageError
from airtoll.report.identified import identified_page
from airtoll.run.identifying import Identified, Subject, identify_device
from airtoll.run.identifying import leave_one_out as leave_each_out


@frozen(kw_only=True)
class IdentifyOptions:
    """Options of ``airtoll identify``."""

    dataset: Annotated[str, typer.Argument(help="A data set.", metavar="DATASET")]
    see: Annotated[
        list[str] | None,
        typer.Option(help="Scenario whose readings the fit may see, or DATASET/SCENARIO; repeat."),
    ] = None
    study: Annotated[
        str | None, typer.Option(help="Study whose cells correspond to it; default: its name.")
    ] = None
    predict: Annotated[
        list[str] | None,
        typer.Option(help="Predict this data set, too (DATASET or DATASET:STUDY); repeat."),
    ] = None
    settings: Annotated[
        str, typer.Option(help="stated, or open: chosen by the open readings alone.")
    ] = "stated"
    trials: Annotated[int, typer.Option(min=1, help="Trials per prediction.")] = 4
    seed: Annotated[int, typer.Option(help="Seed of the predictions.")] = 1
    leave_one_out: Annotated[
        bool,
        typer.Option(help="Predict each data set by a fit to all the others, instead of --see."),
    ] = False
    mechanism: Annotated[
        list[str] | None, typer.Option(help="Only this mechanism; repeat. Default: all.")
    ] = None
    html: Annotated[
        bool, typer.Option("--html", help="Print a page, with experiments for a laboratory.")
    ] = False
    json: JsonOption = False


@command
def identify_command(options: IdentifyOptions) -> None:
    """Fit candidate mechanisms of a device to some overheads and predict the others."""
    subjects = subjects_of(options.dataset, options.see or (), options.predict or (), options.study)
    if options.leave_one_out == bool(options.see):
        raise UsageError("say --see SCENARIO, or --leave-one-out with --predict DATASET")
    if options.html and (options.json or options.leave_one_out):
        raise UsageError("--html prints the page of one fit: leave --json and --leave-one-out out")
    if options.leave_one_out:
        each = leave_each_out(
            subjects,
            settings=options.settings,
            trials=options.trials,
            seed=options.seed,
            mechanisms=options.mechanism or (),
        )
        if options.json:
            emit_json({name: plain(one) for name, one in each.items()})
        else:
            for name, one in each.items():
                out().print(f"{name} left out:")
                _print(one)
        return
    found = identify_device(
        subjects,
        settings=options.settings,
        trials=options.trials,
        seed=options.seed,
        experiments=options.html,
        mechanisms=options.mechanism or (),
    )
    if options.html:
        sys.stdout.write(identified_page(plain(found), f"Which device explains {options.dataset}"))
    elif options.json:
        emit_json(plain(found))
    else:
        _print(found)


def subjects_of(
    dataset: str, see: Sequence[str], predict: Sequence[str], study: str | None = None
) -> list[Subject]:
    """The data sets of a command with the scenarios of each that the fit may see."""
    seen: dict[str, list[str]] = {dataset: []}
    studies = {dataset: study or dataset}
    for name in predict:
        other, _, own = name.partition(":")
        if other == dataset:
            raise UsageError(f"--predict {name}: what --see leaves out of it is predicted anyway")
        seen[other], studies[other] = [], own or other
    for place in see:
        owner, _, scenario = place.rpartition("/")
        if (owner or dataset) not in seen:
            raise UsageError(f"--see {place}: name {owner} with --predict, too")
        seen[owner or dataset].append(scenario)
    return [Subject(name, studies[name], tuple(own)) for name, own in seen.items()]


def plain(found: Identified) -> dict[str, Any]:
    """The outcome as JSON values."""
    return {
        "fitted_on": list(found.fitted_on),
        "best": found.models[0].name,
        "settings": dict(found.settings),
        "open": {
            name: [
                {"setting": c.setting, "error": c.error, "criterion": c.criterion} for c in choices
            ]
            for name, choices in found.choices.items()
        },
        "models": [
            {
                "name": model.name,
                "fitted": {name: cost.value for name, cost in model.fitted.items()},
                "intervals_90": {name: [c.low, c.high] for name, c in model.fitted.items()},
                "at_limit": list(model.at_limit),
                "noise_points": model.noise_points,
                "spread_us": model.spread_us,
                "log_evidence": model.log_evidence,
                "key_lengths": model.key_lengths,
                "widened": model.widened,
                "held_out": {
                    "n": len(model.predicted),
                    "rms_points": model.rms_points,
                    "median_points": model.median_points,
                    "coverage_90": model.coverage,
                    "half_width_points": model.half_width_points,
                    "kendall": model.kendall(),
                },
                "predictions": [
                    {
                        "reading": p.reading.name,
                        "observed_points": p.reading.value,
                        "predicted_points": p.value,
                        "half_width_points": p.half_width,
                        "interval_90": [p.low, p.high],
                    }
                    for p in model.predicted
                ],
            }
            for model in found.models
        ],
        "experiments": [
            {
                "title": one.title,
                "levels": list(one.levels),
                "overheads": {name: list(values) for name, values in one.overheads.items()},
            }
            for one in found.experiments
        ],
    }


def _print(found: Identified) -> None:
    console = out()
    for name, choices in found.choices.items():
        view = table(
            f"{name}: settings by open readings (used: {found.settings[name]})",
            ["setting", "error", "criterion"],
            right=["error", "criterion"],
        )
        for choice in choices:
            view.add_row(choice.setting, f"{100 * choice.error:.1f} %", f"{choice.criterion:.1f}")
        console.print(view)
    view = table(
        f"held-out overheads, fitted on {len(found.fitted_on)}",
        ["mechanism", "us per frame", "n", "RMS", "median", "inside", "half-width", "tau-b"],
        right=["n", "RMS", "median", "inside", "half-width"],
    )
    for m in found.models:
        costs = ", ".join(
            f"{name} {'no limit' if cost.at_limit else f'{cost.low:.0f}-{cost.high:.0f}'}"
            for name, cost in m.fitted.items()
        )
        order = ", ".join(f"{tau:.2f}" for tau in m.kendall().values())
        view.add_row(
            m.name,
            costs,
            str(len(m.predicted)),
            f"{m.rms_points:.2f}",
            f"{m.median_points:.2f}",
            f"{100 * m.coverage:.0f} %",
            f"{m.half_width_points:.2f}",
            order,
        )
    console.print(view)
