"""Compares exported models with JAX, action for action, and times their steps.

    python benchmarks/onnx_steps.py RUN ... [--policies 20]

Greedy episodes are recorded with `Policy` in JAX. The printed runner then acts on the recorded
observations and rewards, in a process of its own that never imports JAX. As long as every action is
the same, so is every episode.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import numpy as np

REPLAY = """
import importlib.util, json, sys, time
import numpy as np

runner, recorded, repeats = sys.argv[1:]
spec = importlib.util.spec_from_file_location("runner", runner)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
content = np.load(recorded, allow_pickle=False)
facts = json.loads(str(content["facts"]))
parts = {tuple(path): content[f"part_{i}"] for i, path in enumerate(facts["paths"])}

def observed(step):
    if list(parts) == [()]:
        return parts[()][step]
    shown = {}
    for path, array in parts.items():
        inner = shown
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = array[step]
    return shown

def flat(action):
    if isinstance(action, dict):
        return np.hstack([flat(action[name]) for name in sorted(action)])
    return np.hstack([flat(part) for part in action]) if type(action) is tuple else np.ravel(action)

masks = content["masks"] if "masks" in content else None
wrong, steps, seconds, policies = 0, 0, 0.0, []
spans = list(zip(content["starts"], content["ends"])) * int(repeats)
for number, (start, end) in enumerate(spans):
    if number < len(facts["policies"]):
        made = module.Policy(facts["policies"][number]) if facts["whole"] else module.Policy()
        policies.append(made)
    policy = policies[number % len(facts["policies"])]
    policy.reset()
    for step in range(start, end):
        given = (observed(step),) if masks is None else (observed(step), masks[step])
        began = time.thread_time()
        action = policy.act(*given)
        seconds += time.thread_time() - began
        same = np.allclose(flat(action), content["actions"][step], rtol=1e-4, atol=1e-5)
        wrong, steps = wrong + (not same), steps + 1
        began = time.thread_time()
        policy.observe(content["rewards"][step])
        seconds += time.thread_time() - began
print(json.dumps({
    "episodes": number + 1, "steps": steps, "different": wrong,
    "microseconds": 1e6 * seconds / steps, "jax": "jax" in sys.modules, "pcn": "pcn" in sys.modules,
}))
"""


def record(run, indices, path, *, whole):
    """Write what a person would see who plays these policies greedily, once each."""
    from pcn.export.graphs.inputs import observation_parts
    from pcn.nets.heads import action_head_for

    shown = run.spec.shown_space or run.spec.observation_space
    paths = [part.path for part in observation_parts(shown)]
    observations, actions, rewards, masks, ends = [[] for _ in paths], [], [], [], []
    with closing(run.environment().person_view()) as environment:
        for index in indices:
            policy = run.policy(int(index))
            observation, info = environment.reset(seed=0)
            done = False
            while not done:
                for part, taken in zip(paths, observations, strict=True):
                    piece = observation
                    for key in part:
                        piece = piece[key]
                    taken.append(np.array(piece))
                if run.spec.masked_actions:
                    masks.append(np.hstack(info["action_mask"]))
                actions.append(policy.act(observation, info.get("action_mask")))
                observation, reward, terminated, truncated, info = environment.step(actions[-1])
                policy.observe(reward)
                rewards.append(reward)
                done = terminated or truncated
            ends.append(len(actions))
    head = action_head_for(run.spec.action_space)
    facts = {"paths": paths, "whole": whole, "policies": [int(index) for index in indices]}
    np.savez(
        path,
        facts=np.array(json.dumps(facts)),
        actions=np.array([head.from_environment(action) for action in actions]),
        rewards=np.array(rewards),
        starts=np.array([0, *ends[:-1]]),
        ends=np.array(ends),
        **{f"part_{i}": np.array(taken) for i, taken in enumerate(observations)},
        **({"masks": np.array(masks)} if masks else {}),
    )


def replay(runner, recorded, *, repeats=1):
    """What the runner did with recorded episodes, in a process without JAX."""
    result = subprocess.run(
        [sys.executable, "-c", REPLAY, str(runner), str(recorded), str(repeats)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    return json.loads(result.stdout)


def compare(run, indices, folder, *, whole, repeats=1):
    """Export policies and replay their episodes: one model of the whole run, or one for each."""
    from pcn.export import write_onnx

    if whole:
        record(run, indices, folder / "all.npz", whole=True)
        return [
            replay(write_onnx(run, folder / "all.onnx").runner, folder / "all.npz", repeats=repeats)
        ]
    results = []
    for index in indices:
        record(run, [index], folder / f"{index}.npz", whole=False)
        files = write_onnx(run, folder / f"policy-{index}.onnx", policy=int(index))
        results.append(replay(files.runner, folder / f"{index}.npz", repeats=repeats))
    return results


def main():
    """Print a line for each run: whole, and policy by policy."""
    import pcn

    pcn.configure_jax()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--policies", type=int, default=20)
    parser.add_argument("--single", type=int, default=2)
    options = parser.parse_args()
    for path in options.runs:
        run = pcn.load(path)
        count = len(run.coverage_set)
        indices = np.unique(np.linspace(0, count - 1, min(options.policies, count)).astype(int))
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            for kind, whole, chosen in (
                ("whole run", True, indices),
                ("single", False, indices[:: max(1, len(indices) // options.single)]),
            ):
                for result in compare(run, chosen, folder, whole=whole, repeats=20):
                    size = max(file.stat().st_size for file in folder.glob("*.onnx")) / 1e3
                    print(f"{path.name:16} {kind:9} {size:6.0f} kB {result}", flush=True)


if __name__ == "__main__":
    main()
