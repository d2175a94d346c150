"""Recipes for Walkroom, which depend on its number of objectives."""

from pcn.pareto import AUTHORS_INTERVALS, num_lattice_points
from pcn.recipes.recipe import BY_TRIAL, Because, Recipe, because, steps


def walkroom(objectives: int) -> Recipe:
    """The paper's budget and dataset for a number of objectives."""
    objectives = max(objectives, 2)  # fewer are refused by the environment
    # The authors count MONES' draws, and PCN's steps, by this number.
    budget = 100 * objectives * (300 + 100 * objectives)
    capacity = 10 * objectives**3
    few = because("each evaluation measures a hypervolume, and takes long", evaluations=5)
    paper = {**because("the paper's dataset, 10 n^3 episodes", capacity=capacity), **few}
    recipe: dict[tuple[str, str], dict[str, Because]] = {
        **steps(budget, "the paper's budget for PCN, 100 n (300 + 100 n) steps"),
        ("pcn", "default"): {
            **because(
                "the paper's dataset, 10 n^3 episodes, but 500 at least: fronts have up to "
                "thousands of points, and 80 episodes for two objectives lose some",
                capacity=max(capacity, 500),
            ),
            **(few if objectives >= 7 else {}),
        },
        ("pcn", "paper"): paper,
        ("pcn", "authors"): {
            **paper,
            **because(
                "the authors' values",
                hidden_layers=0,
                command_scale=(0.1,) * objectives + (0.01,),
                **{"bounded_commands.upper_bound": (0.0,) * objectives},
            ),
        },
        ("mones", "default"): {
            **because("the authors count draws; one takes 10 to 20 steps", total_steps=10 * budget),
            **because(BY_TRIAL, population=100),
        },
    }
    if objectives > 2:
        recipe["mones", "default"] |= because(
            "fronts of 58 to thousands of points do not show in the usual 200 draws",
            final_draws=1_000,
        )
    if objectives in AUTHORS_INTERVALS:
        share, each = ("fifth", 20_000) if objectives <= 4 else ("tenth", 10_000)
        policies = num_lattice_points(objectives, AUTHORS_INTERVALS[objectives])
        recipe["ra", "default"] = {
            **because(
                f"a {share} of the authors' steps for each of its {policies} policies, which "
                "share no experience",
                total_steps=each * policies,
            ),
            **because(BY_TRIAL, episodes_per_update=4),
        }
    return recipe
