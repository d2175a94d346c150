"""Writing policies as ONNX: the model, a runner and a model card beside it."""

import unicodedata
from dataclasses import dataclass
from pathlib import Path

from pcn.errors import UserError
from pcn.runs.run import Run
from pcn.serialisation.files import refuse_missing_folder, write_bytes


@dataclass(frozen=True)
class OnnxFiles:
    """The files of an exported model."""

    model: Path
    runner: Path
    card: Path

    @classmethod
    def beside(cls, model: Path) -> "OnnxFiles":
        """The names of the files for a model; the runner's name can be imported."""
        letters = unicodedata.normalize("NFKC", model.stem)  # as Python reads names
        stem = "".join(one if f"_{one}".isidentifier() else "_" for one in letters)
        name = f"{stem}_policy" if stem.isidentifier() else f"model_{stem}_policy"
        return cls(model, model.with_name(f"{name}.py"), model.with_name(f"{model.stem}_card.md"))


def write_onnx(run: Run, path: str | Path, *, policy: int | None = None) -> OnnxFiles:
    """Write one policy of a run, or the whole run, as an ONNX model with a runner and a card.

    The model of a whole run takes any command: that of one of the run's policies, or one of your
    own. It needs the extra `pcn[onnx]`.
    """
    if Path(path).suffix.lower() != ".onnx":
        raise UserError(f"a model's file must end in .onnx, got {Path(path)}")
    files = OnnxFiles.beside(Path(path))
    _refuse_bad_places(files)
    exported = run if policy is None else run.taking(policy)
    ids = list(range(len(run.coverage_set))) if policy is None else [policy]
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"export needs {error.name}: install it with `pip install 'pcn[onnx]'`"
        ) from None
    from pcn.export.card import model_card
    from pcn.export.checking import check_agreement
    from pcn.export.facts import model_facts
    from pcn.export.graphs.policies import policy_graph
    from pcn.export.networks import networks_of
    from pcn.export.runner import runner_source

    networks = networks_of(exported)
    facts = model_facts(exported, networks, ids)
    model = policy_graph(networks.stack, run.spec, len(networks)).model(facts)
    agreement = check_agreement(model.SerializeToString(), exported, networks)
    _write(files.model, model.SerializeToString())
    runner = runner_source(facts, files.model.name, whole=policy is None)
    _write(files.runner, runner.encode())
    _write(files.card, model_card(exported, facts, files, agreement).encode())
    return files


def _refuse_bad_places(files: OnnxFiles) -> None:
    """Refuse files that cannot be written, or would be overwritten, before anything is computed."""
    from pcn.export.runner import MARK, is_for_another_model

    try:
        files.model.name.encode()  # the runner's source holds the name
        refuse_missing_folder(files.model)
        for path in (files.runner, files.card):
            if path.exists() and MARK.encode() not in path.read_bytes()[:200]:
                raise UserError(f"{path} exists and was not written by pcn: choose another file")
        if files.runner.exists() and is_for_another_model(
            files.runner.read_text(encoding="utf-8", errors="replace"), files.model.name
        ):
            raise UserError(
                f"{files.runner} acts with another model than {files.model.name}: choose another "
                "file"
            )
    except UserError:
        raise
    except (OSError, ValueError) as error:  # names that are too long, or hold wrong bytes
        raise UserError(f"cannot write {str(files.model)[:200]!r}: {_reason(error)}") from None


def _write(path: Path, content: bytes) -> None:
    try:
        write_bytes(path, content)
    except OSError as error:
        raise UserError(f"cannot write {path}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
