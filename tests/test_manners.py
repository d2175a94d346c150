"""Good manners: the package leaves the process, and other trainings in it, alone."""

import json
import subprocess
import sys
import threading

import numpy as np
import pytest

import pcn
from pcn.cli import main

OBSERVE = """
import json, os, sys

def state():
    import matplotlib
    options = {}
    if "jax" in sys.modules:
        import jax
        options = {name: repr(value) for name, value in jax.config.values.items()}
    return {
        "variables": dict(os.environ),
        "options": options,
        "backend": matplotlib.rcParams._get_backend_or_none(),
        "path": list(sys.path),
        "signals": [repr(__import__("signal").getsignal(2))],
    }
"""


def run_python(code, *arguments, cwd=None):
    """What a program prints last, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, cwd=cwd,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("manners") / "run"
    pcn.train("deep-sea-treasure", total_steps=4_000, out=path)
    return path


def test_importing_changes_nothing_and_imports_no_jax():
    code = OBSERVE + (
        "before = state()\nimport pcn\nafter = state()\n"
        "assert pcn.UserError and pcn.Request and 'train' in dir(pcn)\n"
        "print(json.dumps([before == after, 'jax' in sys.modules]))"
    )
    assert run_python(code) == [True, False]


def test_what_few_trainings_need_is_not_imported_for_all():
    code = "import json, sys\nimport pcn.algorithms\nprint(json.dumps('scipy' in sys.modules))"
    assert run_python(code) is False


def test_every_public_name_is_found_and_listed_once():
    assert len(set(pcn.__all__)) == len(pcn.__all__)
    for name in pcn.__all__:
        assert getattr(pcn, name) is not None
    assert dir(pcn) == sorted(pcn.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        pcn.trian  # noqa: B018


@pytest.mark.slow
def test_training_changes_nothing_in_the_process():
    code = OBSERVE + (
        "import jax, pcn\nbefore = state()\n"
        "pcn.train('deep-sea-treasure-v0', total_steps=600)\n"
        "after = state()\n"
        "changed = [name for name in before if before[name] != after[name]]\n"
        "print(json.dumps(changed))"
    )
    assert run_python(code) == []


@pytest.mark.slow
def test_a_figure_leaves_matplotlib_as_it_is(folder, tmp_path):
    code = OBSERVE + (
        "import pcn\nfrom pathlib import Path\n"
        "from pcn.figures.canvas import save\nfrom pcn.figures.front import front_figure\n"
        "before = state()\n"
        "save(front_figure(pcn.load(sys.argv[1])), Path(sys.argv[2]))\n"
        "import matplotlib\n"
        "print(json.dumps([before == state(), 'matplotlib.pyplot' in sys.modules]))"
    )
    assert run_python(code, folder, tmp_path / "front.png") == [True, False]
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize(
    "look",
    [
        "run = pcn.load(sys.argv[1]); repr(run); run.metrics; run.progress; run.spec",
        "from pcn.cli import main; main(['plot', sys.argv[1], '--out', 'front.png'])",
        "from pcn.cli import main; main(['plot', sys.argv[1], '--progress'])",
        "from pcn.cli import main; main(['compare', sys.argv[1]])",
        "from pcn.cli import main; main(['report', sys.argv[1], '--rollouts', 'none'])",
        "from pcn.explorer.explorer import Explorer; from pcn.explorer.serving import PageServer; "
        "from pcn.explorer.shown_runs import open_runs; from pathlib import Path; "
        "server = PageServer(Explorer(*open_runs([Path(sys.argv[1])]))); server.start(); "
        "server.explorer.document; pcn.load(sys.argv[1])._repr_html_(); server.close()",
        "from pcn.runs.measures import metrics_of; run = pcn.load(sys.argv[1]); "
        "assert metrics_of(run.coverage_set, run.spec)['executed'] == run.metrics['executed']",
    ],
    ids=["load", "plot", "progress", "compare", "report", "explore", "measure"],
)
def test_looking_at_a_run_needs_neither_jax_nor_the_environment(look, folder, tmp_path):
    code = (
        f"import json, sys\nimport pcn\n{look}\n"
        "used = [name for name in ('jax', 'pcn.envs.deep_sea_treasure', 'pcn.envs.finding')\n"
        "        if name in sys.modules]\nprint(json.dumps(used))"
    )
    assert run_python(code, folder, cwd=tmp_path) == []


ENVIRONMENT = """
import gymnasium as gym
import numpy as np

class Choice(gym.Env):
    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)
    objective_names = ["gain", "saving"]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 1, np.array([float(action), -float(action)]), True, False, {}
"""


@pytest.mark.slow
def test_a_policy_acts_where_the_environment_is_not_installed(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / "my_simulator.py").write_text(ENVIRONMENT)
    monkeypatch.chdir(home)
    main(["train", "my_simulator:Choice", "--total-steps", "300", "--out", str(tmp_path / "run")])
    code = (
        "import json, sys\nimport pcn\nrun = pcn.load(sys.argv[1])\n"
        "actions = [run.policy(index).act(0) for index in range(len(run.coverage_set))]\n"
        "print(json.dumps([actions, run.spec.objective_names, 'my_simulator' in sys.modules]))"
    )
    actions, names, imported = run_python(code, tmp_path / "run", cwd=tmp_path)
    executed = pcn.load(tmp_path / "run").coverage_set.executed
    assert actions == executed[:, 0].tolist()
    assert names == ["gain", "saving"]
    assert not imported


@pytest.mark.slow
# Python's warning filters belong to the process: threads that change them for a moment undo each
# other's changes, so that a warning of Gymnasium could become an error here.
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_two_trainings_in_two_threads_do_not_disturb_each_other():
    options = {
        "compiled": {"environment": "deep-sea-treasure", "total_steps": 3_000, "seed": 1},
        "gymnasium": {"environment": "deep-sea-treasure-v0", "total_steps": 1_500, "seed": 2},
    }
    alone = {name: pcn.train(**given) for name, given in options.items()}
    together, failures = {}, []

    def train(name):
        try:
            together[name] = pcn.train(**options[name])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=train, args=(name,)) for name in options]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for name, run in alone.items():
        for array, value in run.weights.items():
            np.testing.assert_array_equal(together[name].weights[array], value)
        np.testing.assert_array_equal(
            together[name].coverage_set.executed, run.coverage_set.executed
        )


@pytest.mark.slow
def test_stopping_one_of_two_trainings_leaves_the_other_alone():
    stop = threading.Event()
    stop.set()
    with pytest.raises(pcn.Stopped):
        pcn.train("deep-sea-treasure", total_steps=500, stop=stop)
    assert len(pcn.train("deep-sea-treasure", total_steps=500).coverage_set)
