"""How the net is made from its sources: `python -m pcn.envs.crossroad.network`.

That needs SUMO's netconvert (`pip install eclipse-sumo`); using the net does not.
"""

import re
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent / "net"
NET = FOLDER / "crossroad.net.xml"
ROUTES = FOLDER / "crossroad.rou.xml"

OPTIONS = (
    "--node-files=crossroad.nod.xml",
    "--edge-files=crossroad.edg.xml",
    "--connection-files=crossroad.con.xml",
    "--no-turnarounds",
    "--tls.yellow.time=3",
    # Longer than an episode: green ends when the agent says so.
    "--tls.green.time=1000",
    "--no-warnings",
)
"""Read in the folder of the sources."""


def generated(netconvert: str = "netconvert") -> str:
    """The net as netconvert makes it, without the comment that holds the time and paths."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "net.xml"
        command = [netconvert, *OPTIONS, f"--output-file={out}"]
        subprocess.run(command, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
        return re.sub(r"<!-- generated on .*?-->\s*", "", out.read_text(), flags=re.DOTALL)


if __name__ == "__main__":
    NET.write_text(generated())
    print(f"Wrote {NET}")
