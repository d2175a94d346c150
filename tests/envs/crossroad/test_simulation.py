"""SUMO itself: the lights, the guard, and what is said when it is not there."""

import sys

import libsumo
import numpy as np
import pytest

from pcn.envs.crossroad.simulation import LANES, LIGHTS, Phase, Simulation, load_libsumo
from pcn.errors import UserError


@pytest.fixture
def simulation():
    simulation = Simulation()
    simulation.start(None)
    yield simulation
    simulation.close()


def test_a_switch_brings_three_yellow_steps_in_which_nothing_can_be_asked(simulation):
    seen = []
    for _ in range(8):
        simulation.step(switch=True)
        seen.append((simulation.phase, simulation.yellow_left))
    one, other = Phase.HORIZONTAL_YELLOW, Phase.VERTICAL_YELLOW
    assert seen == [
        (one, 3), (one, 2), (one, 1), (Phase.VERTICAL_GREEN, 0),
        (other, 3), (other, 2), (other, 1), (Phase.HORIZONTAL_GREEN, 0),
    ]  # fmt: skip


def test_without_a_switch_the_lights_stay_as_they_are(simulation):
    for _ in range(100):
        simulation.step(switch=False)
        assert libsumo.trafficlight.getRedYellowGreenState(LIGHTS) == "rGGrGG"
    assert simulation.phase is Phase.HORIZONTAL_GREEN


def test_cars_stand_at_red_and_pass_at_green(simulation):
    for _ in range(60):
        simulation.step(switch=False)
    names, lanes, beyond = (np.array(part) for part in simulation.approaching())
    assert len(set(names)) == len(names)
    vertical = lanes >= LANES.index("from_north_0")
    assert set(lanes[beyond > 0]) <= set(lanes[~vertical])
    assert np.sum(vertical) > 10
    assert -1.5 < beyond[vertical].max() < 0


def test_a_second_simulation_takes_the_process_over_and_the_first_is_told(simulation):
    simulation.step(switch=False)
    second = Simulation()
    second.start(None)
    with pytest.raises(RuntimeError, match=r"replaced by another one.*process of its own"):
        simulation.step(switch=False)
    with pytest.raises(RuntimeError, match="replaced"):
        simulation.approaching()
    simulation.close()  # not its own any more: nothing happens
    second.step(switch=False)
    simulation.start(None)  # and back again
    simulation.step(switch=False)
    with pytest.raises(RuntimeError, match="replaced"):
        second.step(switch=False)


def test_a_closed_simulation_starts_again(simulation):
    simulation.close()
    with pytest.raises(RuntimeError, match="reset"):
        simulation.step(switch=False)
    simulation.start(7)
    simulation.step(switch=True)
    assert libsumo.simulation.getTime() == 1.0


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "libsumo", None)
    with pytest.raises(UserError, match=r"pip install 'pcn\[sumo\]'"):
        load_libsumo()


def test_missing_libraries_of_the_system_are_named(monkeypatch):
    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == "libsumo":
                raise ImportError("libGL.so.1: cannot open shared object file")

    monkeypatch.delitem(sys.modules, "libsumo")
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(UserError, match=r"libGL.so.1.*libgl1 libxext6 libxrender1 libatomic1"):
        load_libsumo()
