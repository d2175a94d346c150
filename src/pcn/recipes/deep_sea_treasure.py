"""Recipe for Deep Sea Treasure."""

from pcn.recipes.recipe import Recipe, because, steps

DEEP_SEA_TREASURE: Recipe = {
    **steps(100_000, "the paper's budget for PCN"),
    ("pcn", "paper"): because("one row per cell, as in the authors' code", joint_one_hot=True),
    ("pcn", "authors"): {
        **because("one row per cell, as in the authors' code", joint_one_hot=True),
        **because(
            "the authors' values",
            hidden_layers=0,
            command_scale=(0.1, 0.1, 0.01),
            **{"bounded_commands.upper_bound": (124.0, -1.0)},
        ),
    },
    ("mones", "default"): because(
        "the authors' 25,000 draws take about 20 steps each; with a quarter of these steps one "
        "seed of five never reached the deepest treasure",
        total_steps=500_000,
    ),
    ("ra", "default"): because(
        "the paper's 100,000 steps for each of RA's 13 policies, which share no experience",
        total_steps=1_300_000,
    ),
}
