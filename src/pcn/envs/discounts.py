"""Discounts under which environments have a trade-off at all."""

DISCOUNTS = {
    "resource-gathering-v0": 0.9,
    "resource-gathering": 0.9,
    "four-room-v0": 0.95,
    "four-room": 0.95,
    "fruit-tree": 0.99,
    "fruit-tree-v0": 0.99,
    "mo-lunar-lander-v3": 0.99,
}
"""Environments where time is no objective: without a discount, one policy that takes its time is as
good as any in every objective. Fronts, MO-Gymnasium's own `pareto_front` too, are for these. (The
fruits of a tree are all equally far, and a lander's fuel is an objective: their discounts are those
that results are published with.)"""
