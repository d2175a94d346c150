"""Plans with short trainings, and what undisturbed trainings make of them."""

import pcn
from pcn.experiments.sweep import sweep_plan

STEPS = 10_000
QUICK = {"intervals": 2, "episodes_per_update": 2, "evaluations": 2}
"""Settings of RA with which a training has many short iterations and little to compile."""


def plan_of(seeds, total_steps=STEPS, environments=("deep-sea-treasure",)):
    return sweep_plan(
        environments,
        algorithms=["ra"],
        seeds=seeds,
        grid={name: [value] for name, value in QUICK.items()},
        total_steps=total_steps,
    )


def train_alone(folder, seeds, total_steps=STEPS):
    """The same trainings on Deep Sea Treasure, one after the other, without any plan."""
    for seed in seeds:
        pcn.train(
            "deep-sea-treasure",
            algorithm="ra",
            seed=seed,
            out=folder / f"seed-{seed}",
            total_steps=total_steps,
            **QUICK,
        )
    return folder


def assert_same(run, other):
    for name in ("front.csv", "weights.npz", "config.json", "spec.json"):
        assert (run / name).read_bytes() == (other / name).read_bytes(), name
