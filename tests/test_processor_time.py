"""CPU time of this process, of its children, and of workers, which are children of another one."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hostile import Burns
from pcn.envs.from_gymnasium import describe
from pcn.envs.gymnasium_source import GymnasiumSource
from pcn.envs.probing import Probe
from pcn.envs.worker_slots import WorkerSlots
from pcn.processor_time import cpu_seconds

BURN = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"


def test_cpu_seconds_are_those_of_this_process_and_of_its_children():
    before, own = cpu_seconds(), time.process_time()
    exec(BURN, {})
    alone = cpu_seconds() - before
    assert alone == pytest.approx(time.process_time() - own, abs=0.05)
    assert alone >= 0.25
    subprocess.run([sys.executable, "-S", "-c", BURN], check=True)
    assert cpu_seconds() - before >= alone + 0.25


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
def test_cpu_seconds_of_workers_count_while_they_work_and_once_they_have_ended():
    probe = Probe((-10.0, -10.0), deterministic=True, masked_actions=False, step_limit=10)
    spec = describe(GymnasiumSource("burning", Burns), probe)
    slots = WorkerSlots(Burns, spec, 2)
    try:
        slots.reset({0: 0, 1: 0})
        before = cpu_seconds()
        for _ in range(2):
            slots.step({0: 1, 1: 1})
        working = cpu_seconds() - before
    finally:
        slots.close()
    assert working >= 0.7  # two workers, two steps each, a fifth of a second a step
    ended = cpu_seconds() - before
    assert ended >= working - 1e-6  # differences of large sums are rounded
    slots.close()
    assert cpu_seconds() - before == pytest.approx(ended, abs=0.1), "nothing counts twice"
