"""The wheel, installed outside the repository, has everything that a user needs."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from pcn.version import __version__

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pcn"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The wheel's content, alone in a folder; what it needs comes from this environment."""
    folder = tmp_path_factory.mktemp("installed")
    (wheel,) = built.glob("*.whl")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*command, "--target", str(folder), str(wheel)], check=True)
    return folder


def versioned(place):
    """The files below a folder of the repository."""
    command = ["git", "ls-files", place]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.split()


def run_elsewhere(installed, folder, code):
    """Run code in a folder of its own, with the installed package before the repository's."""
    environment = os.environ | {"PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_place_that_names_the_version_names_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    changes = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert project["version"] == __version__ == cited[1] == changes[1]


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == {name.removeprefix("src/") for name in versioned("src/pcn")}


@pytest.mark.slow
def test_the_source_distribution_holds_what_is_versioned_and_builds_the_same_wheel(built, tmp_path):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        content.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert found - {"PKG-INFO"} == set(versioned("."))
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (ours,), (theirs,) = tmp_path.glob("*.whl"), built.glob("*.whl")
    assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.slow
def test_the_installed_package_finds_its_data_files(installed, tmp_path):
    code = """
import pcn, pathlib
from pcn.envs.finding import find_environment
print(pathlib.Path(pcn.__file__).parent)
for name in ("minecart", "four-room", "fruit-tree", "walkroom-3"):
    assert find_environment(name, {}).environment.spec.front is not None, name
"""
    printed = run_elsewhere(installed, tmp_path, code)
    assert Path(printed.strip()) == installed / "pcn"


@pytest.mark.slow
def test_the_installed_package_trains_and_reports(installed, tmp_path):
    code = """
from pcn.cli import main
main(["train", "deep-sea-treasure", "--total-steps", "3000", "--out", "run"])
main(["report", "run", "--out", "front.html", "--rollouts", "none"])
"""
    run_elsewhere(installed, tmp_path, code)
    page = (tmp_path / "front.html").read_text()
    assert "deep-sea-treasure" in page
    assert "<script" in page


@pytest.mark.slow
def test_the_installed_package_has_the_traffic_net(installed, tmp_path):
    pytest.importorskip("libsumo")
    code = """
import gymnasium as gym
import pcn
env = gym.make("pcn/crossroad-v0")
env.reset(seed=0)
env.step(env.action_space.sample())
env.close()
print("stepped")
"""
    assert "stepped" in run_elsewhere(installed, tmp_path, code)
