"""Figures of finished runs, made with matplotlib's objects: no screen and no global backend.

>>> from pcn.figures import front_figure, save
"""

from typing import TYPE_CHECKING, Any

from pcn.lazy import attribute_of

if TYPE_CHECKING:
    from pcn.figures.canvas import save
    from pcn.figures.front import front_figure, fronts_figure
    from pcn.figures.progress import progress_figure

__all__ = ["front_figure", "fronts_figure", "progress_figure", "save"]

_MODULES = {
    "front_figure": "pcn.figures.front",
    "fronts_figure": "pcn.figures.front",
    "progress_figure": "pcn.figures.progress",
    "save": "pcn.figures.canvas",
}


def __getattr__(name: str) -> Any:
    return attribute_of(__name__, name, _MODULES)
