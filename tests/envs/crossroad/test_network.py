import shutil
import xml.etree.ElementTree as ElementTree

import pytest

from pcn.envs.crossroad.network import NET, generated
from pcn.envs.crossroad.simulation import CROSSINGS, LANES, LENGTHS, YELLOW_STEPS


@pytest.mark.skipif(shutil.which("netconvert") is None, reason="needs netconvert (eclipse-sumo)")
def test_the_net_is_what_its_sources_generate():
    assert generated() == NET.read_text()


def test_the_constants_are_those_of_the_net():
    net = ElementTree.parse(NET)
    lengths = {lane.get("id"): float(lane.get("length")) for lane in net.iter("lane")}
    assert tuple(lengths[lane] for lane in LANES) == LENGTHS
    ways = {
        f"{connection.get('from')}_{connection.get('fromLane')}": connection.get("via")
        for connection in net.iter("connection")
        if connection.get("via")
    }
    assert tuple(ways[lane] for lane in LANES) == CROSSINGS
    states = [(phase.get("state"), phase.get("duration")) for phase in net.iter("phase")]
    assert [state for state, _ in states] == ["rGGrGG", "ryyryy", "GrrGrr", "yrryrr"]
    assert {int(duration) for _, duration in states[1::2]} == {YELLOW_STEPS}
