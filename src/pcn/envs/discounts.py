"""Discounts that environments need to have a trade-off."""

DISCOUNTS = {
    "resource-gathering-v0": 0.9,
    "resource-gathering": 0.9,
    "four-room-v0": 0.95,
    "four-room": 0.95,
    "fruit-tree": 0.99,
    "fruit-tree-v0": 0.99,
    "mo-lunar-lander-v3": 0.99,
}
"""Environments in which time is not an objective. Without a discount, one policy that takes its
time is the best in every objective. Fronts, including MO-Gymnasium's `pareto_front`, are for these
discounts. (All fruits of a tree are equally far away, and a lander's fuel is an objective: their
discounts are those of published results.)"""
