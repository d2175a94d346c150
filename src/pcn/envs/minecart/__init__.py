"""Minecart: the environment, its picture, and the search that proves its front."""

from pcn.envs.minecart.environment import Minecart

__all__ = ["Minecart"]
