"""Train a single-objective agent of stable-baselines3 and log its episodes with vector rewards.

Run by an interpreter of its own, in which mo-gymnasium, torch and stable-baselines3 are installed;
`pcn` is not needed:

    python single_objective_data.py mo-hopper-v5 --steps 200000 --out hopper.npz
    pcn train mo-hopper-v5 --from-dataset hopper.npz --total-steps 300000     # begin with them
    pcn train --from-dataset hopper.npz --execute-on mo-hopper-v5             # from them alone

The agent is PPO with its own defaults. It is trained on the sum of the objectives, or on their
weighted sum. Episodes are logged at several times of its training, as logs of a real system would
have them: with the noise that it acts with. The last line says what its own greedy policy returns.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import gymnasium as gym
import mo_gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO


class Summed(gym.Wrapper):
    """The weighted sum of the objectives as the reward."""

    def __init__(self, env: gym.Env, weights: np.ndarray) -> None:
        super().__init__(env)
        self._weights = weights

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, float(self._weights @ reward), terminated, truncated, info


def logged(agent: PPO, env: gym.Env, count: int, seed: int, *, greedy: bool) -> list[dict]:
    """So many episodes of the agent, with the actions that the environment was given."""
    low, high = env.action_space.low, env.action_space.high
    episodes = []
    for number in range(count):
        observation, _ = env.reset(seed=seed + number)
        rows: dict[str, list] = {
            name: [] for name in ("observations", "actions", "rewards", "terminations")
        }
        ended = False
        while not ended:
            action, _ = agent.predict(observation, deterministic=greedy)
            action = np.clip(action, low, high).astype(np.float32)
            rows["observations"].append(np.asarray(observation, np.float32))
            rows["actions"].append(action)
            observation, reward, terminated, truncated, _ = env.step(action)
            rows["rewards"].append(np.asarray(reward, np.float64))
            rows["terminations"].append(terminated)
            ended = terminated or truncated
        rows["last_observations"] = [np.asarray(observation, np.float32)]
        episodes.append(rows)
    return episodes


def returns(episodes: list[dict], discount: float) -> np.ndarray:
    """The discounted return of each episode."""
    rewards = [np.array(one["rewards"]) for one in episodes]
    return np.array([discount ** np.arange(len(one)) @ one for one in rewards])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("id")
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--weights", type=float, nargs="+", help="of the objectives; 1 each")
    parser.add_argument("--times", type=int, default=5, help="how often episodes are logged")
    parser.add_argument("--episodes", type=int, default=20, help="how many each time")
    parser.add_argument("--discount", type=float, default=0.99)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    vector_env = mo_gymnasium.make(given.id)
    objectives = vector_env.unwrapped.reward_space.shape[0]
    weights = np.ones(objectives) if given.weights is None else np.array(given.weights)
    agent = PPO("MlpPolicy", Summed(mo_gymnasium.make(given.id), weights), seed=given.seed)
    begun, episodes = time.process_time(), []
    for part in range(given.times):
        agent.learn(given.steps // given.times, reset_num_timesteps=part == 0)
        some = logged(agent, vector_env, given.episodes, 1000 * (part + 1), greedy=False)
        print(agent.num_timesteps, returns(some, given.discount).mean(axis=0).round(1), flush=True)
        episodes += some
    terminations = np.concatenate([one["terminations"] for one in episodes])
    last = np.cumsum([len(one["rewards"]) for one in episodes]) - 1
    truncations = np.zeros_like(terminations)
    truncations[last] = ~terminations[last]
    np.savez(
        given.out,
        terminations=terminations,
        truncations=truncations,
        environment=given.id,
        **{
            name: np.concatenate([one[name] for one in episodes])
            for name in ("observations", "actions", "rewards", "last_observations")
        },
    )
    own = logged(agent, vector_env, 30, 10**6, greedy=True)
    facts = {
        "id": given.id,
        "steps": agent.num_timesteps,
        "seed": given.seed,
        "episodes": len(episodes),
        "logged_steps": len(terminations),
        "greedy_return": returns(own, given.discount).mean(axis=0).round(2).tolist(),
        "greedy_length": float(np.mean([len(one["rewards"]) for one in own])),
        "cpu_seconds": round(time.process_time() - begun, 1),
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
