"""Discounts under which environments have a trade-off at all."""

DISCOUNTS = {"resource-gathering-v0": 0.9, "four-room-v0": 0.95}
"""MO-Gymnasium's environments where time is no objective: without a discount, one policy that takes
its time is as good as any in every objective. Their own `pareto_front` is asked for at these."""
