"""Crossroad: traffic lights in SUMO, as a Gymnasium environment."""

from pcn.envs.crossroad.environment import Crossroad

__all__ = ["Crossroad"]
