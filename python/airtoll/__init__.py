"""airtoll: what does Wi-Fi security cost?

A study says what to compare, a run measures it, an analysis says how sure the difference is:

>>> import tempfile
>>> from airtoll import Study, analyse, run
>>> study = Study(
...     study={"name": "mine", "title": "Does WPA3 cost throughput at home?"},
...     trials={"repetitions": 3},
...     scenario={"home": {"phy": "802.11g", "rate_mbps": 54, "stations": [{"name": "A"}]}},
...     traffic={"udp": {"transport": "udp", "payload_bytes": 1472, "duration_s": 0.2}},
...     grid={"policy": ["open", "wpa3-sae-ccmp"]},
... )
>>> done = run(study, out=tempfile.mkdtemp())
>>> analysis = analyse(done)
>>> analysis.overheads["policy"].unique().to_list()
['wpa3-sae-ccmp']

``done.answer()`` has the answers in sentences. :func:`advise` starts at the network that one has.
Errors that a caller can act on are ``airtoll.errors.AirtollError``.

Data flows one way: study -> plan -> run -> observe -> analyse -> answer -> present. Each stage is a
package. Where its main function has the name of the package (``run``, ``analyse``), the package can
be called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airtoll.advising.advise import advise
    from airtoll.analyse import analyse
    from airtoll.run import run
    from airtoll.study import Study

__all__ = ["Study", "__version__", "advise", "analyse", "run"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Imported when asked for: `airtoll --help` needs none of them.
    if name in ("run", "analyse"):
        from importlib import import_module

        return import_module(f"airtoll.{name}")
    if name == "Study":
        from airtoll.study import Study

        return Study
    if name == "advise":
        from airtoll.advising import advise

        return advise
    raise AttributeError(f"module 'airtoll' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
