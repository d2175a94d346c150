"""Planning in tabular models: set-valued dynamic programming over vectors of expected returns."""

from pcn.planning.dynamic_programming import plan
from pcn.planning.model import TabularModel
from pcn.planning.plans import Occupancy, Plans

__all__ = ["Occupancy", "Plans", "TabularModel", "plan"]
