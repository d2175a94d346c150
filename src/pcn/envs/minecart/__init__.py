"""Minecart: the environment and its picture."""

from pcn.envs.minecart.environment import Minecart

__all__ = ["Minecart"]
