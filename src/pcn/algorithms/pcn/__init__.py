"""Pareto Conditioned Networks (section 4 of the paper)."""
