"""The metadata of an exported model: everything that acting needs besides the graph."""

from typing import Any

import gymnasium as gym

from pcn.envs.observations import PICTURE_SIDE, picture_factor
from pcn.export.graphs.heads import head_graph
from pcn.export.graphs.inputs import observation_parts
from pcn.export.networks import Networks
from pcn.nets.heads import AbstractActionHead, JointHead
from pcn.runs.run import Run
from pcn.serialisation.spaces import space_to_json
from pcn.version import __version__

FORMAT = 1


def _action_shape(space: gym.Space[Any], head: AbstractActionHead) -> list[int]:
    """The shape of the output `action`: actions of several parts lie side by side in it."""
    return [head.num_parts] if isinstance(head, JointHead) else list(space.shape or ())


def model_facts(run: Run, networks: Networks, ids: list[int]) -> dict[str, Any]:
    """The metadata of the model as JSON; `ids` are those of the policies in the run's front.csv."""
    spec, settings = run.spec, run.settings
    head = networks.stack.action_head
    return {
        "format": FORMAT,
        "pcn": __version__,
        "environment": settings.environment,
        "arguments": dict(settings.arguments),
        "algorithm": settings.algorithm,
        "seed": settings.seed,
        "discount": settings.config.discount,
        "objectives": [vars(objective) for objective in spec.objectives],
        "observation": [
            {
                "input": part.name,
                "path": list(part.path),
                "dtype": str(part.kind),
                "shape": list(part.shape),
            }
            for part in observation_parts(spec.observation_space)
        ],
        "pictures": None
        if spec.shown_space is None
        else {
            "side": PICTURE_SIDE,
            "frames": spec.frame_stack,
            "factor": picture_factor(spec.shown_space),
        },
        "action": {
            "shape": _action_shape(spec.action_space, head),
            "space": space_to_json(spec.action_space),
            "dtype": head_graph(head).kind.__name__,
            "names": list(spec.action_names),
        },
        "mask_size": head.mask_size if spec.masked_actions else 0,
        "networks": networks.rules,
        "policies": [
            {"id": index, **begins, "executed": executed}
            for index, begins, executed in zip(
                ids, networks.policies, run.coverage_set.executed.tolist(), strict=True
            )
        ],
    }
