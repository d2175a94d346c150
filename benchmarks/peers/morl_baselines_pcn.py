"""Time PCN of morl-baselines on Minecart; run by the interpreter of `speed.py --peer-python`.

The settings are those of its own example, `examples/pcn_minecart.py`, without W&B. Its `train`
evaluates and saves every thousandth of the training and cannot be told not to: here both are left
out, or done every `--evaluate-every` steps (10,000 in the example's training of 1e7 steps).
"""

import argparse
import contextlib
import json
import os
import resource
import tempfile
import time

import mo_gymnasium
import numpy as np
import torch
from mo_gymnasium.wrappers import MORecordEpisodeStatistics
from morl_baselines.multi_policy.pcn.pcn import PCN

WARMUP_STEPS = 6_000
"""Past the twenty random episodes, so that updates and commands are warm too."""


class CountingPCN(PCN):
    """PCN that counts its updates, and how long saving and evaluating take."""

    evaluate_every: int = 0
    num_updates: int = 0
    evaluation_seconds: float = 0.0
    _next_evaluation: int = 0

    def update(self):
        self.num_updates += 1
        return super().update()

    def save(self, *args, **kwargs):
        started = time.process_time()
        if self._evaluation_due():
            super().save(*args, **kwargs)
        self.evaluation_seconds += time.process_time() - started

    def evaluate(self, *args, **kwargs):
        if not self._evaluation_due():
            return [], None, None
        started = time.process_time()
        self._next_evaluation = self.global_step + self.evaluate_every
        evaluation = super().evaluate(*args, **kwargs)
        self.evaluation_seconds += time.process_time() - started
        return evaluation

    def _evaluation_due(self) -> bool:
        return self.evaluate_every > 0 and self.global_step >= self._next_evaluation


def make_env():
    return MORecordEpisodeStatistics(mo_gymnasium.make("minecart-deterministic-v0"), gamma=1.0)


def train(steps: int, seed: int, evaluate_every: int) -> CountingPCN:
    """Train as in the library's example."""
    torch.manual_seed(seed)  # its `seed` leaves the network's first weights to chance
    env = make_env()
    env.reset(seed=seed)
    env.action_space.seed(seed)
    agent = CountingPCN(
        env,
        scaling_factor=np.array([1, 1, 0.1, 0.1]),
        learning_rate=1e-3,
        batch_size=256,
        log=False,
        seed=seed,
        device="cpu",
    )
    agent.evaluate_every = agent._next_evaluation = evaluate_every
    agent.train(
        eval_env=make_env(),
        total_timesteps=steps,
        ref_point=np.array([0, 0, -200.0]),
        num_er_episodes=20,
        num_step_episodes=10,
        max_buffer_size=50,
        num_model_updates=50,
        max_return=np.array([1.5, 1.5, -0.0]),
    )
    return agent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--evaluate-every", type=int, default=0, help="0 leaves evaluations out")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    # It prints every iteration, and saves into the folder it is run in.
    with (
        tempfile.TemporaryDirectory() as folder,
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
    ):
        os.chdir(folder)
        train(WARMUP_STEPS, arguments.seed, arguments.evaluate_every)
        started = time.process_time()
        agent = train(arguments.steps, arguments.seed, arguments.evaluate_every)
        seconds = time.process_time() - started
        os.chdir(os.path.dirname(folder))
    result = {
        "steps": agent.global_step,
        "updates": agent.num_updates,
        "training_seconds": seconds - agent.evaluation_seconds,
        "cpu_seconds": seconds,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
