"""The command line's own process spends little time on garbage that it never has to collect."""

import subprocess
import sys


def printed(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_what_is_alive_when_the_process_ends_is_not_searched_for_garbage():
    code = (
        "import atexit, gc\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > len(gc.get_objects())))\n"
        "from pcn.cli.process import set_up_process\n"
        "set_up_process(jax=False)\n"
    )
    assert printed(code) == ["True"]  # handlers run in the reverse of their order


def test_only_what_the_first_command_imports_is_never_looked_at_again():
    code = (
        "import gc\n"
        "from pcn.cli.process import collecting_later\n"
        "with collecting_later():\n"
        "    import json\n"
        "first = gc.get_freeze_count()\n"
        "with collecting_later():\n"
        "    later = [[] for _ in range(1000)]\n"
        "print(first > 1000, gc.get_freeze_count() < first + 100, gc.isenabled())\n"
    )
    assert printed(code) == ["True", "True", "True"]
