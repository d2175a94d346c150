"""The fronts of the laboratory's environments, as `proofs/` computed them."""

import json
from pathlib import Path

import numpy as np

from pcn.envs.spec import Front

FOLDER = Path(__file__).parents[1] / "fronts"


def front_file(name: str) -> Path:
    """Where the front of an environment is shipped."""
    return FOLDER / f"{name}.json"


def known_front(name: str) -> Front | None:
    """The front of an environment; None where none is shipped."""
    file = front_file(name)
    if not file.exists():
        return None
    content = json.loads(file.read_text())
    return Front(
        returns=np.array(content["returns"], dtype=np.float64),
        status=content["status"],
        source=content["source"],
        discount=content["discount"],
    )
