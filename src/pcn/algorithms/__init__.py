"""Algorithms: each ends in a coverage set."""

from pcn.algorithms.mones.algorithm import MONES
from pcn.algorithms.pcn.algorithm import PCN
from pcn.algorithms.ra.algorithm import RA
from pcn.algorithms.trainer import AbstractAlgorithm

ALGORITHMS: dict[str, AbstractAlgorithm] = {"pcn": PCN(), "mones": MONES(), "ra": RA()}
