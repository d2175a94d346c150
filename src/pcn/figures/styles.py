"""Colours and markers of algorithms, which colour-blind people can distinguish, too."""

from collections.abc import Sequence
from typing import NamedTuple

# Okabe and Ito's colours, in an order in which neighbours differ in brightness, too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a8a00")
MARKERS = ("+", "o", "x", "s", "^", "D", "v", "*")
"""Markers that can be distinguished where they overlap."""


class Style(NamedTuple):
    """How one algorithm is drawn."""

    colour: str
    marker: str

    @property
    def face(self) -> str:
        """The inside of the marker: left open, so that others under it are seen."""
        return self.colour if self.marker in "+x" else "none"


FIRST = ("pcn", "mones", "ra")
"""Labels that have the same style in every figure."""


def styles_of(labels: Sequence[str]) -> dict[str, Style]:
    """A style for each label; if there are more labels than colours, colours repeat with other
    markers.

    >>> styles_of(["pcn", "pcn-paper", "ra"])["ra"] == styles_of(["ra"])["ra"]
    True
    """
    others = [label for label in labels if label not in FIRST]
    order = {label: index for index, label in enumerate((*FIRST, *others))}
    return {
        label: Style(
            COLOURS[order[label] % len(COLOURS)],
            MARKERS[(order[label] + order[label] // len(COLOURS)) % len(MARKERS)],
        )
        for label in labels
    }
