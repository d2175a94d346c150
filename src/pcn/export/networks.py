"""The exported part of a run: its networks, and the rules by which commands change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np

from pcn.algorithms.pcn.agent import ConditionedAgent
from pcn.algorithms.pcn.network import expectations_of
from pcn.algorithms.stacked.agent import PolicyAgent
from pcn.errors import UserError
from pcn.runs.run import Run


@dataclass(frozen=True)
class Networks:
    """The networks of a run, and the first command of each policy."""

    stack: Any
    """The networks in one module; every array has a first axis of one entry per network."""
    rules: list[dict[str, Any]]
    """The rule by which each network's command changes while it acts."""
    policies: list[dict[str, Any]]
    """For each policy the number of its network and, where it takes one, its first command."""

    def __len__(self) -> int:
        return len(self.rules)


def networks_of(run: Run) -> Networks:
    """The networks that the policies of a run act with."""
    make = AGENT_KINDS.get(type(run.agent(0)))
    if make is None:
        raise UserError(f"policies of {run.settings.algorithm} cannot be exported")
    return make(run)


def _conditioned(run: Run) -> Networks:
    """Policies share networks; each has a command of its own."""
    coverage_set = run.coverage_set
    _, first, place = np.unique(coverage_set.network, return_index=True, return_inverse=True)
    agents: list[Any] = [run.agent(int(index)) for index in first]
    policies = [agent.policy for agent in agents]
    if any(policy.expectations is not None for policy in policies):
        # In a stack all or none have expectations; the rules say whose are used.
        key = np.zeros(2, np.uint32)
        policies = [
            policy if policy.expectations is not None
            else policy.expecting(expectations_of(policy, key))
            for policy in policies
        ]  # fmt: skip
    bounds = np.stack([np.asarray(agent.upper_bound, np.float32) for agent in agents])
    wanted = np.minimum(coverage_set.requested.astype(np.float32), bounds[place])
    horizons = coverage_set.horizons.astype(np.float32)
    return Networks(
        _stacked(policies),
        [_rule(agent) for agent in agents],
        [
            {"network": network, "desired_return": desired, "desired_horizon": horizon}
            for network, desired, horizon in zip(
                place.tolist(), wanted.tolist(), horizons.tolist(), strict=True
            )
        ],
    )


def _rule(agent: ConditionedAgent) -> dict[str, Any]:
    """The rule by which a command changes after a step, as numbers for JSON."""
    expectations = agent.policy.expectations
    bound = {"upper_bound": _finite(agent.upper_bound)}
    if expectations is not None:
        return {
            "kind": "expectations",
            **bound,
            "random_rewards": np.asarray(expectations.random_rewards).tolist(),
            "lowest": _finite(expectations.lowest),
            "highest": _finite(expectations.highest),
            "least_survival": float(expectations.least_survival),
        }
    if not bool(agent.follows_rewards):
        return {"kind": "fixed", **bound}
    lower = {} if agent.lower_bound is None else {"lower_bound": _finite(agent.lower_bound)}
    return {"kind": "rewards", **bound, **lower}


def _finite(values: Any) -> list[float]:
    """Replace infinity, which JSON does not have, by the largest number of single precision."""
    most = float(np.finfo(np.float32).max)
    return np.clip(np.asarray(values, np.float64), -most, most).tolist()


def _plain(run: Run) -> Networks:
    """Each policy is a network of its own, without a command."""
    count = len(run.coverage_set)
    agents: list[Any] = [run.agent(index) for index in range(count)]
    return Networks(
        _stacked([agent.policy for agent in agents]),
        [{"kind": "none"} for _ in range(count)],
        [{"network": index} for index in range(count)],
    )


def _stacked(policies: Sequence[Any]) -> Any:
    """The modules as one, their arrays side by side."""
    arrays = [eqx.filter(policy, eqx.is_array) for policy in policies]
    stack = jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *arrays)
    return eqx.combine(stack, policies[0])


AGENT_KINDS: dict[type, Callable[[Run], Networks]] = {
    ConditionedAgent: _conditioned,
    PolicyAgent: _plain,
}
"""Functions that find the networks of a run, by the kind of its agents."""
