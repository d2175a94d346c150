"""Algorithms: each ends in a coverage set."""

from pcn.algorithms.pcn.algorithm import PCN
from pcn.algorithms.trainer import AbstractAlgorithm

ALGORITHMS: dict[str, AbstractAlgorithm] = {"pcn": PCN()}
