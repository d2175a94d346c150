"""Recipe for Minecart, deterministic and stochastic."""

from pcn.recipes.recipe import BY_TRIAL, Recipe, because, steps

AUTHORS = because("the authors' values", learning_rate=1e-3, updates_per_iteration=50, capacity=50)

MINECART: Recipe = {
    **steps(10_000_000, "the paper's budget for PCN"),
    ("pcn", "paper"): AUTHORS,
    ("pcn", "authors"): {
        **AUTHORS,
        **because(
            "the authors' values",
            warmup_episodes=20,
            command_scale=(1.0, 1.0, 0.1, 0.1),
            **{"bounded_commands.upper_bound": (1.5, 1.5, 0.0)},
        ),
    },
    ("mones", "default"): {
        **because("about the steps of the authors' 100,000 draws", total_steps=20_000_000),
        **because(
            "linear policies, 48 weights instead of the authors' 678: with 8 hidden units the "
            "draws of the same seed needed longer to come home with ore once they were greedy",
            width=0,
        ),
        **because(BY_TRIAL, population=100, initial_deviation=0.5),
    },
    ("ra", "default"): {
        **because(
            "the paper's 20,000,000 steps are for each of its 78 policies; ours are for all "
            "together",
            total_steps=20_000_000,
        ),
        **because(
            "without time pressure policies wander to the step limit, and few updates fit the "
            "budget",
            horizon=150,
        ),
        **because(BY_TRIAL, width=0, episodes_per_update=8, entropy_bonus=0.3),
    },
}
