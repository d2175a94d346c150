"""Refinements of PCN: each goes beyond the paper, in one file, with a config of its own."""

from pcn.algorithms.pcn.refinements.abstract import AbstractRefinement
from pcn.algorithms.pcn.refinements.bounded_commands import BoundedCommands
from pcn.algorithms.pcn.refinements.breaking_off import BreakingOff
from pcn.algorithms.pcn.refinements.consolidation import Consolidation
from pcn.algorithms.pcn.refinements.expected_returns import ExpectedReturns
from pcn.algorithms.pcn.refinements.expected_rewards import ExpectedRewards
from pcn.algorithms.pcn.refinements.fitted_planning import FittedPlanning
from pcn.algorithms.pcn.refinements.giving_way import GivingWay
from pcn.algorithms.pcn.refinements.junctions import Junctions
from pcn.algorithms.pcn.refinements.longer_warm_up import LongerWarmUp
from pcn.algorithms.pcn.refinements.loop_erasure import LoopErasure
from pcn.algorithms.pcn.refinements.noise_tolerance import NoiseTolerance
from pcn.algorithms.pcn.refinements.planning import Planning
from pcn.algorithms.pcn.refinements.reactions import Reactions
from pcn.algorithms.pcn.refinements.replay_check import ReplayCheck
from pcn.algorithms.pcn.refinements.rhythms import Rhythms
from pcn.algorithms.pcn.refinements.routes import Routes
from pcn.algorithms.pcn.refinements.scouting import Scouting
from pcn.algorithms.pcn.refinements.standardise import Standardise
from pcn.algorithms.pcn.refinements.sticky_actions import StickyActions
from pcn.algorithms.pcn.refinements.stored_evaluations import StoredEvaluations
from pcn.algorithms.pcn.refinements.variations import Variations
from pcn.algorithms.pcn.refinements.weighted_values import WeightedValues

__all__ = [
    "REFINEMENTS",
    "AbstractRefinement",
    "BoundedCommands",
    "BreakingOff",
    "Consolidation",
    "ExpectedReturns",
    "ExpectedRewards",
    "FittedPlanning",
    "GivingWay",
    "Junctions",
    "LongerWarmUp",
    "LoopErasure",
    "NoiseTolerance",
    "Planning",
    "Reactions",
    "ReplayCheck",
    "Rhythms",
    "Routes",
    "Scouting",
    "Standardise",
    "StickyActions",
    "StoredEvaluations",
    "Variations",
    "WeightedValues",
]

REFINEMENTS: dict[str, type[AbstractRefinement]] = {
    "standardise": Standardise,
    "bounded_commands": BoundedCommands,
    "sticky_actions": StickyActions,
    "longer_warm_up": LongerWarmUp,
    "rhythms": Rhythms,
    "reactions": Reactions,
    "breaking_off": BreakingOff,
    "loop_erasure": LoopErasure,
    "variations": Variations,
    "routes": Routes,
    "junctions": Junctions,
    "giving_way": GivingWay,
    "replay_check": ReplayCheck,
    "stored_evaluations": StoredEvaluations,
    "noise_tolerance": NoiseTolerance,
    "consolidation": Consolidation,
    "planning": Planning,
    "scouting": Scouting,
    "fitted_planning": FittedPlanning,
    "weighted_values": WeightedValues,
    "expected_rewards": ExpectedRewards,
    "expected_returns": ExpectedReturns,
}
"""In the order in which they act; the default preset has all of them, `paper` has none."""
