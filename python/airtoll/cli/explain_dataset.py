"""``airtoll explain DATASET SCENARIO``: which device explains the overheads of a data set.

Takes the names of a data set and of the scenarios whose readings the answer may see; gives the
mechanisms of ``airtoll identify`` ranked by how well each explains those, with its error on the
overheads that it has not seen.
"""

from __future__ import annotations

from pathlib import Path

from airtoll.analyse.identification import Model, weights
from airtoll.cli.identify import plain, subjects_of
from airtoll.cli.output import emit_json, out
from airtoll.observe.datasets import list_datasets
from airtoll.run.identifying import identify_device

#: Mechanisms that are shown, and the weight from which on two cannot be told apart.
_SHOWN = 5
_ALIKE = 1 / 3


def is_dataset(name: str) -> bool:
    """Whether a first measurement is the name of a data set, and no file."""
    return not Path(name).exists() and name in list_datasets()


def explain_dataset(dataset: str, scenarios: str, json: bool) -> None:
    """Print the ranking; ``scenarios``: names with commas. Raises ``UsageError``."""
    found = identify_device(subjects_of(dataset, scenarios.split(","), ()))
    ranked = weights(found.models)
    if json:
        emit_json({**plain(found), "weights": {m.name: share for m, share in ranked}})
        return
    console = out()
    console.print(
        f"{dataset}, fitted to {len(found.fitted_on)} overheads of {scenarios.replace(',', ', ')}; "
        f"{len(ranked[0][0].predicted)} others predicted"
    )
    for at, (model, share) in enumerate(ranked[:_SHOWN], start=1):
        console.print(f"{at}. {model.name} ({100 * share:.0f} %): {_costs(model)}")
        console.print(
            f"   others: {model.median_points:.1f} points off (median), "
            f"{100 * model.coverage:.0f} % inside their 90 % intervals"
        )
    alike = [model.name for model, share in ranked if share > _ALIKE * ranked[0][1]]
    if len(alike) > 1:
        console.print(f"These readings cannot tell apart: {'; '.join(alike)}.")
        console.print("airtoll identify --html shows the experiments of a laboratory that would.")


def _costs(model: Model) -> str:
    """The fitted times with their intervals."""
    told = [
        f"{name} {'no limit' if cost.at_limit else f'{cost.low:.0f} to {cost.high:.0f}'}"
        for name, cost in model.fitted.items()
    ]
    return f"us per frame: {', '.join(told)}" if told else "no time per frame"
