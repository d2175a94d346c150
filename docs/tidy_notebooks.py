"""Takes out of the notebooks what changes with every execution: times, counts and second copies of pictures."""

import json
from pathlib import Path

for path in sorted(Path(__file__).parent.glob("notebooks/*.ipynb")):
    notebook = json.loads(path.read_text())
    notebook["metadata"].get("language_info", {}).pop("version", None)
    for cell in notebook["cells"]:
        cell["metadata"].pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("image/jpeg", None)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
