"""Train an algorithm of morl-baselines on an id of MO-Gymnasium and execute what it learnt.

Run by an interpreter of its own, in which morl-baselines 1.3.0 is installed (`pip install
torch==2.13.0`, then `morl-baselines==1.3.0`, then `--no-deps box2d==2.3.10`); `pcn` is not needed:

    python executed_fronts.py pql resource-gathering-v0 --steps 100000 --discount 0.9 \
        --reference-point -1 -1 -2 --out peers.jsonl

Settings are those of morl-baselines' own examples, scaled to the budget where they are numbers of
steps. PCN's factors for commands, which it wants to be told, are found by twenty random episodes.
Each policy (PCN: a command for each of its 100 best episodes; PQL: each vector of the start; the
others: 100 equally spaced weights) is then executed, and the hypervolume of the means is written as
one line of JSON. `cpu_seconds` are those of the training alone, `process_seconds` those of the
process until its end, with all that was imported; `steps` are all environment steps
of it, those on its evaluation environment included.
"""

import argparse
import contextlib
import json
import os
import resource
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import mo_gymnasium
import numpy as np
import torch
from morl_baselines.common.performance_indicators import hypervolume
from morl_baselines.common.weights import equally_spaced_weights
from morl_baselines.multi_policy.envelope.envelope import Envelope
from morl_baselines.multi_policy.gpi_pd.gpi_pd import GPILS
from morl_baselines.multi_policy.pareto_q_learning.pql import PQL
from morl_baselines.multi_policy.pcn.pcn import PCN

NUM_POLICIES = 100
LARGEST_DISCOUNT = 0.99
"""Of the value-based ones, which do not converge without a discount."""


class Counting(gym.Wrapper):
    """Counts steps."""

    num_steps = 0

    def step(self, action):
        self.num_steps += 1
        return self.env.step(action)


class Vector(gym.ObservationWrapper):
    """Observations as one vector of numbers; counts of broken bottles stay inside their space."""

    def __init__(self, env, dtype):
        super().__init__(env)
        self._dtype = dtype
        space = env.observation_space
        flat = gym.spaces.flatten_space(space) if isinstance(space, gym.spaces.Dict) else space
        self.observation_space = gym.spaces.Box(
            flat.low.astype(dtype), flat.high.astype(dtype), flat.shape, dtype
        )

    def observation(self, observation):
        space = self.env.observation_space
        if isinstance(space, gym.spaces.Dict):
            observation = {
                name: np.minimum(value, 1) if isinstance(part, gym.spaces.MultiBinary) else value
                for (name, part), value in zip(
                    space.items(), (observation[name] for name in space), strict=True
                )
            }
            observation = gym.spaces.flatten(space, observation)
        return np.asarray(observation).astype(self._dtype)


class SilentPCN(PCN):
    """PCN that neither saves nor evaluates a thousand times while it trains."""

    def save(self, *args, **kwargs):
        pass

    def evaluate(self, *args, **kwargs):
        return [], None, None


class Task(NamedTuple):
    """What is trained on and measured by."""

    env: Counting
    eval_env: Counting
    steps: int
    discount: float
    reference_point: np.ndarray
    seed: int


Episode = Callable[[gym.Env], np.ndarray]
"""Runs one episode and returns its rewards."""


def train_pcn(task: Task) -> list[Episode]:
    returns, lengths = [], []
    for _ in range(20):
        rewards = play(task.env, lambda _: task.env.action_space.sample())
        returns.append(task.discount ** np.arange(len(rewards)) @ rewards)
        lengths.append(len(rewards))
    largest = np.abs([*returns]).max(axis=0)
    factors = np.append(1 / np.where(largest > 0, largest, 1.0), 1 / max(lengths))
    agent = SilentPCN(
        task.env, scaling_factor=factors.astype(np.float32), learning_rate=1e-3, batch_size=256,
        gamma=task.discount, log=False, seed=task.seed, device="cpu",
    )  # fmt: skip
    highest = np.full(task.env.unwrapped.reward_space.shape[0], 100.0, np.float32)
    agent.train(
        total_timesteps=task.steps, eval_env=task.eval_env, ref_point=task.reference_point,
        num_er_episodes=20, num_step_episodes=10, num_model_updates=50, max_return=highest,
    )  # fmt: skip
    best = agent._nlargest(min(NUM_POLICIES, len(agent.experience_replay)))

    def command(episode: Any) -> Episode:
        wanted, horizon = np.float32(episode[0].reward), np.float32(len(episode))
        return lambda env: np.array(
            [one.reward for one in agent._run_episode(env, wanted, horizon, highest, True)]
        )

    return [command(entry[2]) for entry in best]


def train_pql(task: Task) -> list[Episode]:
    agent = PQL(
        task.env, task.reference_point, gamma=task.discount, initial_epsilon=1.0,
        epsilon_decay_steps=task.steps // 2, final_epsilon=0.2, seed=task.seed, log=False,
    )  # fmt: skip
    agent.train(total_timesteps=task.steps, eval_env=task.eval_env)

    def number(observation: np.ndarray) -> int:
        return int(np.ravel_multi_index(observation, agent.env_shape))

    def follow(vector: np.ndarray) -> Episode:
        def episode(env: gym.Env) -> np.ndarray:
            target = vector

            def act(observation: np.ndarray) -> int:
                # Its own loop never ends where no vector fits exactly; here the nearest one does.
                nonlocal target
                state, choices = number(observation), []
                for action in range(agent.num_actions):
                    for later in agent.non_dominated[state][action]:
                        promised = agent.avg_reward[state, action] + agent.gamma * np.array(later)
                        choices.append((np.abs(promised - target).sum(), action, later))
                _, action, later = min(choices, key=lambda choice: choice[0])
                target = np.array(later)
                return action

            return play(env, act)

        return episode

    start = number(task.eval_env.reset()[0])
    return [follow(np.array(vector)) for vector in agent.get_local_pcs(state=start)]


def by_weights(agent: Any, num_objectives: int) -> list[Episode]:
    def episode(weights: np.ndarray) -> Episode:
        return lambda env: play(env, lambda observation: agent.eval(observation, weights))

    return [episode(w) for w in equally_spaced_weights(num_objectives, n=NUM_POLICIES)]


def train_gpi_ls(task: Task) -> list[Episode]:
    agent = GPILS(
        task.env, num_nets=2, learning_rate=3e-4, batch_size=128, net_arch=[256] * 4,
        gamma=min(task.discount, LARGEST_DISCOUNT), buffer_size=200_000, initial_epsilon=1.0,
        final_epsilon=0.05, epsilon_decay_steps=task.steps // 2, learning_starts=100,
        gradient_updates=10, target_net_update_freq=200, max_grad_norm=None, per=True,
        log=False, seed=task.seed, device="cpu",
    )  # fmt: skip
    agent.train(
        total_timesteps=task.steps, eval_env=task.eval_env, ref_point=task.reference_point,
        timesteps_per_iter=max(1, min(10_000, task.steps // 10)), checkpoints=False,
    )  # fmt: skip
    return by_weights(agent, len(task.reference_point))


def train_envelope(task: Task) -> list[Episode]:
    agent = Envelope(
        task.env, learning_rate=3e-4, batch_size=64, max_grad_norm=0.1, net_arch=[256] * 4,
        gamma=min(task.discount, LARGEST_DISCOUNT), buffer_size=200_000, initial_epsilon=1.0,
        final_epsilon=0.05, epsilon_decay_steps=task.steps // 2, initial_homotopy_lambda=0.0,
        final_homotopy_lambda=1.0, homotopy_decay_steps=max(1, task.steps // 10),
        learning_starts=100, envelope=True, gradient_updates=1, target_net_update_freq=1000,
        log=False, seed=task.seed, device="cpu",
    )  # fmt: skip
    agent.train(total_timesteps=task.steps)
    return by_weights(agent, len(task.reference_point))


TRAINERS = {
    "pcn": train_pcn,
    "pql": train_pql,
    "gpi-ls": train_gpi_ls,
    "envelope": train_envelope,
}


def play(env: gym.Env, act: Callable[[np.ndarray], int]) -> np.ndarray:
    """The rewards of one episode."""
    observation, _ = env.reset()
    rewards, ended = [], False
    while not ended:
        observation, reward, terminated, truncated, _ = env.step(act(observation))
        rewards.append(np.asarray(reward, np.float64))
        ended = terminated or truncated
    return np.array(rewards)


def make(name: str, seed: int, dtype: Any) -> Counting:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = Counting(Vector(mo_gymnasium.make(name), dtype))
        env.reset(seed=seed)
        env.action_space.seed(seed)
    return env


def execute(policies: list[Episode], env: gym.Env, executions: int, discount: float) -> np.ndarray:
    """The mean return of each policy."""

    def returned(policy: Episode) -> np.ndarray:
        rewards = np.asarray(policy(env), np.float64)
        return discount ** np.arange(len(rewards)) @ rewards

    return np.array([
        np.mean([returned(policy) for _ in range(executions)], axis=0) for policy in policies
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("algorithm", choices=TRAINERS)
    parser.add_argument("id")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--discount", type=float, default=1.0)
    parser.add_argument("--reference-point", type=float, nargs="+", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--executions", type=int, default=30, help="1 where deterministic")
    parser.add_argument("--out", type=Path, required=True, help="a file to append a line to")
    given = parser.parse_args()
    out = given.out.resolve()
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    np.random.seed(given.seed)  # noqa: NPY002 (Minecart draws from the global generator)
    dtype = np.int32 if given.algorithm == "pql" else np.float32
    task = Task(
        make(given.id, given.seed, dtype),
        make(given.id, given.seed + 1, dtype),
        given.steps,
        given.discount,
        np.array(given.reference_point),
        given.seed,
    )
    # They print a lot, and write into the folder they are run in.
    with (
        tempfile.TemporaryDirectory() as folder,
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.chdir(folder),
    ):
        started = time.process_time()
        policies = TRAINERS[given.algorithm](task)
        process_seconds = time.process_time()
        seconds = process_seconds - started
    steps = task.env.num_steps + task.eval_env.num_steps
    returns = execute(
        policies, make(given.id, given.seed + 2, dtype), given.executions, given.discount
    )
    found = {
        "id": given.id,
        "algorithm": given.algorithm,
        "seed": given.seed,
        "steps": steps,
        "total_steps": given.steps,
        "discount": given.discount,
        "reference_point": given.reference_point,
        "executions": given.executions,
        "policies": len(policies),
        "hypervolume": float(hypervolume(task.reference_point, list(returns))),
        "cpu_seconds": round(seconds, 1),
        "process_seconds": round(process_seconds, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "returns": np.unique(returns.round(6), axis=0).tolist(),
    }
    with out.open("a") as file:
        file.write(json.dumps(found) + "\n")
    print(json.dumps({name: value for name, value in found.items() if name != "returns"}))


if __name__ == "__main__":
    main()
