"""Recipe for the crossroads."""

from pcn.recipes.recipe import BY_TRIAL, Recipe, because, steps

AUTHORS = because(
    "the authors' values",
    learning_rate=1e-3,
    batch_size=1024,
    updates_per_iteration=50,
    capacity=50,
)

CROSSROAD: Recipe = {
    **steps(
        300_000,
        "not the paper's 2,000,000, which take 40 minutes at 850 steps a second: after these the "
        "default preset executes more than the paper's hypervolume",
    ),
    ("pcn", "default"): {
        **because(
            "learning after every 16 episodes is cheap beside simulating them",
            episodes_per_iteration=16,
            updates_per_iteration=32,
        ),
        **because(
            "the authors' value; with a higher one some commands are confused", learning_rate=1e-3
        ),
        **because(
            "a few random actions change an episode a lot: each switch is three seconds without "
            "a green light",
            action_noise=0.2,
        ),
    },
    ("pcn", "paper"): AUTHORS,
    ("pcn", "authors"): {
        **AUTHORS,
        **because(
            "the authors' values",
            command_scale=(1.0, 1.0, 0.01),
            **{"bounded_commands.upper_bound": (15.0, 15.0)},
        ),
    },
    ("mones", "default"): {
        **because(
            "no hidden units behind the picture's own layers: 1,698 weights instead of 23,922",
            width=0,
        ),
        **because(BY_TRIAL, initial_deviation=0.3),
    },
    ("ra", "default"): {
        **because("no hidden units behind the picture's own layers", width=0),
        **because(
            "every episode takes 100 steps and there are 13 policies: few of each between two "
            "updates",
            episodes_per_update=4,
        ),
        **because(
            "the picture's layers have hundreds of weights to a logit, most of which move it "
            "alike: steps are measured by how much they change the actions, or policies soon "
            "always take the same one",
            step_rule="natural",
            kl_bound=0.003,
        ),
    },
}
