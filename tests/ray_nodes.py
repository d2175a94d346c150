"""A Ray cluster of two nodes with one core each, all on this machine.

The cluster belongs to a process of its own, this file: Ray starts nodes by forking, which a process
that runs JAX should not do.
"""

import subprocess
import sys
from contextlib import contextmanager

import pytest

QUICK_DETECTION = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 300,
    "health_check_timeout_ms": 10_000,  # a busy node is not a dead one
    "health_check_failure_threshold": 3,
}
"""A dead node is found out within two seconds instead of a quarter of a minute."""
MEMORY = {"object_store_memory": 100 * 2**20}


class Nodes:
    """The cluster, seen from a test."""

    def __init__(self, process):
        self._process = process
        self.address = self._line()

    def kill(self, raylet):
        """Kill the node with this raylet."""
        self._say(f"kill {raylet}")

    def add(self):
        """Add a node."""
        self._say("add")

    def _say(self, command):
        print(command, file=self._process.stdin, flush=True)
        assert self._line() == command

    def _line(self):
        line = self._process.stdout.readline().strip()
        assert line, "the process of the cluster has ended"
        return line


@contextmanager
def two_nodes(folder):
    """A head node without cores, and two nodes that can be killed; its log goes to the folder."""
    pytest.importorskip("ray", reason="the extra pcn[ray] is not installed")
    with (
        (folder / "cluster.log").open("w") as log,
        subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=folder,
            text=True,
        ) as process,
    ):
        yield Nodes(process)
        process.stdin.close()


def main():
    """Run a cluster until the input ends."""
    from ray.cluster_utils import Cluster

    def add():
        return cluster.add_node(num_cpus=1, **MEMORY)

    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 0, **MEMORY, "_system_config": QUICK_DETECTION},
    )
    try:
        nodes = [add(), add()]
        print(cluster.address, flush=True)
        for line in sys.stdin:
            command, *raylet = line.split()
            if command == "add":
                nodes.append(add())
            for node in [node for node in nodes if [str(raylet_of(node))] == raylet]:
                nodes.remove(node)
                cluster.remove_node(node, allow_graceful=False)
            print(line.strip(), flush=True)
    finally:
        cluster.shutdown()


def raylet_of(node):
    return node.all_processes["raylet"][0].process.pid


if __name__ == "__main__":
    main()
