"""Pareto Conditioned Networks: learn every non-dominated policy, and verify that it executes."""
