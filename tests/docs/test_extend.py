"""The numbered steps of docs/extend.md are taken in a copy of the package, which then trains."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from doc_pages import ROOT, blocks, blocks_in, section

PAGE = "docs/extend.md"
OWN = "docs/your-own-environment.md"
SHORT = {"runs/orchard": 1500, "runs/random": 1000, "runs/short": 1500}
"""The printed commands that are carried out, with fewer steps; the others are only understood."""


def add(package, block):
    """Do what a block says: write a file, or add what stands beside `...` to the one it names."""
    first, _, code = block.partition("\n")
    path = package / first.removeprefix("# ")
    if "..." not in code:
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)
        return
    content = path.read_text()
    for words, more in re.findall(r"^(\w+ = Literal\[)\.\.\., (.*)\]$", code, re.MULTILINE):
        assert content.count(words) == 1
        content = content.replace(words, f"{words}{more}, ")
        code = code.replace(f"{words}..., {more}]\n", "")
    before, table, entries = re.match(
        r"(.*?)^([A-Z_]+) = {\n *\.\.\.,\n(.*)^}", code, re.M | re.S
    ).groups()
    found = re.search(rf"^{table}\b[^\n]*= {{(?:[^\n]+}}$|\n.*?^}}$)", content, re.M | re.S)
    assert found, f"{path.name} has no table {table}"
    start, end = found.start(), found.end() - 1
    comma = "" if content[end - 1] == "\n" else ", "
    path.write_text(content[:start] + before + content[start:end] + comma + entries + content[end:])


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A folder with the extended package, in which `python` runs a script with it."""
    folder = tmp_path_factory.mktemp("extended")
    package = folder / "pcn"
    shutil.copytree(ROOT / "src" / "pcn", package, ignore=shutil.ignore_patterns("__pycache__"))
    orchard = blocks_in(section(OWN, "## An environment in JAX"), "python")[0]
    (package / "envs" / "orchard.py").write_text(orchard)
    steps = [block for block in blocks(PAGE, "python") if block.startswith("# ")]
    assert len(steps) == 12
    for block in steps:
        add(package, block)
    return folder


def printed_commands():
    return [
        shlex.split(line)[1:]
        for block in blocks(PAGE, "bash")
        for line in block.splitlines()
        if line.startswith("pcn ")
    ]


SCRIPT = """
import json, sys
import gymnasium as gym, jax, numpy as np
import pcn
from pcn.cli.main import main
from pcn.cli.train import TrainOptions
from pcn.nets.heads import action_head_for

assert pcn.__file__.startswith(sys.argv[1])
understood, carry_out = [], TrainOptions.__call__
for words, steps in json.loads(sys.argv[2]):
    if steps is None:
        TrainOptions.__call__ = lambda self: understood.append(self)
        main(words)
        TrainOptions.__call__ = carry_out
    else:
        main([*words, "--total-steps", str(steps)])
space = gym.spaces.Box(-2.0, 6.0, (2,))
head = action_head_for(space, "fine", 5)
assert head.option_names() is None  # what planning asks of every head in a stochastic environment
outputs = jax.random.normal(jax.random.key(0), (head.num_outputs,))
noises = jax.vmap(head.noise)(jax.random.split(jax.random.key(1), 500))
rows = np.asarray(jax.vmap(lambda noise: head.sampled(outputs, noise))(noises))
assert all(space.contains(action) for action in head.to_environment(rows))
# By hand: cubes of -1, -1/2, 0, 1/2, 1 are -1, -1/8, 0, 1/8, 1, and the box is 2 + 4 times that.
assert np.unique(rows).tolist() == [-2.0, 1.5, 2.0, 2.5, 6.0]
likely = np.exp(jax.vmap(lambda row: head.log_probability(outputs, row))(rows))
best = rows[np.argmax(likely)]
assert head.greedy(outputs).tolist() == best.tolist()
shares = np.mean(np.all(rows == best, axis=1))
assert abs(shares - likely.max()) < 0.08
print(json.dumps({"understood": len(understood)}))
"""


@pytest.mark.slow
def test_every_step_is_taken_and_the_result_trains(extended):
    commands = []
    for words in printed_commands():
        steps = SHORT.get(words[words.index("--out") + 1])
        if steps is not None and "--total-steps" in words:
            del words[words.index("--total-steps") : words.index("--total-steps") + 2]
        commands.append((words, steps))
    assert sum(steps is not None for _, steps in commands) == len(SHORT)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(extended), json.dumps(commands)],
        cwd=extended,
        env={**os.environ, "PYTHONPATH": str(extended)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"understood": len(commands) - len(SHORT)}
    runs = extended / "runs"
    configs = {name.name: json.loads((name / "config.json").read_text()) for name in runs.iterdir()}
    metrics = {
        name.name: json.loads((name / "metrics.json").read_text()) for name in runs.iterdir()
    }
    assert configs["orchard"]["environment"] == "orchard"
    assert configs["random"]["algorithm"] == "random-search"
    assert configs["random"]["config"]["draws"] == 50
    assert configs["short"]["config"]["refinements"]["short_late_episodes"] == {"limit": 30}
    for found in metrics.values():
        executed = found["executed"]
        assert executed["hypervolume"] > 0
        assert executed["extent"] > 0 or executed["cardinality"] == 1
    assert metrics["random"]["takes_commands"] is False
