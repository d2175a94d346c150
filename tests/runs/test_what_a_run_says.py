"""The files of a run, against what its environment saw and what can be computed by hand."""

import csv
import json
import shutil

import numpy as np
import pytest

import pcn
from logged import SETTLED, Gamble, Walk
from sizes import tiny

pytestmark = pytest.mark.slow

TOLERANCE = 1e-3


def train(environment, out, **options):
    arguments = {**SETTLED, "deterministic": environment is Walk}
    return pcn.train(environment, arguments=arguments, out=out, **tiny("pcn"), **options)


@pytest.fixture(scope="module", params=[Walk, Gamble], ids=["walk", "gamble"])
def run(request, tmp_path_factory):
    """A short training on disk; policies that gamble do not reach what is asked of them."""
    return train(request.param, tmp_path_factory.mktemp("runs") / request.param.__name__)


def table(run):
    with (run.path / "front.csv").open() as file:
        return list(csv.DictReader(file))


def columns(run, kind):
    """The columns of one kind in `front.csv`, found by their names."""
    names = [f"{kind}_objective_{number}" for number in range(2)]
    return np.array([[float(row[name]) for name in names] for row in table(run)])


def front_of(returns):
    """The distinct points that no other dominates, from left to right."""
    points = sorted({tuple(point) for point in np.asarray(returns).tolist()})
    return [
        (x, y)
        for x, y in points
        if not any(a >= x and b >= y and (a, b) != (x, y) for a, b in points)
    ]


def area(returns):
    """The hypervolume of two objectives: one strip for each point of the front."""
    left, low = SETTLED["reference_point"]
    edges = [left, *(x for x, _ in front_of(returns))]
    return sum(
        (x - before) * (y - low) for before, (x, y) in zip(edges, front_of(returns), strict=False)
    )


def shortfall(requested, executed):
    """How much of an objective's range is missing, where most is missing, on average."""
    extent = np.ptp(requested, axis=0)
    extent[extent == 0] = 1.0
    missing = [
        max(
            gap / e if gap > TOLERANCE else 0.0 for gap, e in zip(wanted - got, extent, strict=True)
        )
        for wanted, got in zip(requested, executed, strict=True)
    ]
    return np.mean(missing)


def test_each_column_of_the_front_holds_what_its_name_says(run):
    for kind in ("requested", "executed", "deviation"):
        np.testing.assert_array_equal(columns(run, kind), getattr(run.coverage_set, kind))
    horizons = [float(row["requested_horizon"]) for row in table(run)]
    assert horizons == run.coverage_set.horizons.tolist()


def test_a_loaded_coverage_set_is_the_one_that_was_trained(run):
    loaded = pcn.load(run.path).coverage_set
    for kind in ("requested", "horizons", "executed", "deviation"):
        np.testing.assert_array_equal(getattr(loaded, kind), getattr(run.coverage_set, kind))


def test_what_is_called_executed_is_what_the_environment_paid(tmp_path):
    run = train(Gamble, tmp_path / "run", seed=1)
    counts = run.coverage_set.executions
    # Episodes take one step, and the last ones execute what is offered.
    paid = np.array(Gamble.rewards[-counts.sum() :])
    np.testing.assert_allclose(counts @ run.coverage_set.executed, paid.sum(axis=0))
    squares = counts @ run.coverage_set.executed**2
    squares += (counts - 1) @ run.coverage_set.deviation**2
    np.testing.assert_allclose(squares, (paid**2).sum(axis=0))


def test_non_dominated_marks_the_front_of_what_was_executed(run):
    executed = columns(run, "executed")
    marks = [row["non_dominated"] for row in table(run)]
    assert marks == ["1" if tuple(point) in front_of(executed) else "0" for point in executed]


def test_the_metrics_are_those_of_what_they_are_named_after(run):
    metrics = json.loads((run.path / "metrics.json").read_text())
    requested, executed = columns(run, "requested"), columns(run, "executed")
    gambles = run.path.name == "Gamble"
    volume = "hypervolume_uncorrected" if gambles else "hypervolume"
    assert metrics["executed"][volume] == pytest.approx(area(executed))
    assert metrics["executed"]["cardinality"] == len(front_of(executed))
    slack = np.maximum(columns(run, "margin"), TOLERANCE) if gambles else TOLERANCE
    reached = np.all(executed >= requested - slack, axis=1).mean()
    assert metrics["fidelity"]["exact"] == pytest.approx(reached)
    if gambles:
        assert metrics["archive"]["hypervolume"] > metrics["executed"]["hypervolume"]
        low, high = metrics["executed"]["hypervolume_interval"]
        assert low <= metrics["executed"]["hypervolume"] <= high
    else:
        assert metrics["fidelity"]["distance"] == pytest.approx(shortfall(requested, executed))
        assert metrics["archive"]["cardinality"] == len(Walk.front)
        # Three strips: up to 0, from there to 1, and on to 3.
        assert metrics["archive"]["hypervolume"] == 10 * 10 + 1 * 9 + 2 * 8


def test_every_step_of_the_environment_is_in_the_metrics():
    """Those of probing, too."""
    before = len(Walk.rewards)
    metrics = pcn.train(Walk, arguments={"step_limit": 10}, **tiny("pcn")).metrics
    assert metrics["steps"] == sum(metrics["steps_by_phase"].values()) == len(Walk.rewards) - before
    assert metrics["steps_by_phase"]["probing"] > 0


def test_metrics_are_written_when_everything_else_is_there(tmp_path):
    """A folder that has `metrics.json` is finished, so no file may be missing beside it."""
    names, at_first = {path.name for path in train(Walk, tmp_path / "run").path.iterdir()}, set()
    train(
        Walk, tmp_path / "watched",
        report=lambda _: at_first.update(p.name for p in (tmp_path / "watched").iterdir()),
        checkpoint_seconds=1e9,
    )  # fmt: skip
    # A checkpoint that cannot be written does not end a training.
    later = names - at_first - {"metrics.json", "checkpoint.npz"}
    assert {"weights.npz", "front.csv"} <= later
    for name in later:
        folder = tmp_path / f"without {name}"

        def block(_, obstacle=folder / name):
            obstacle.mkdir(exist_ok=True)  # a folder cannot be replaced by a file

        with pytest.raises(pcn.UserError, match=name):
            train(Walk, folder, report=block, checkpoint_seconds=1e9)
        assert not (folder / "metrics.json").exists()
        with pytest.raises(pcn.UserError, match="not finished"):
            pcn.load(folder)
        shutil.rmtree(folder / name)
        np.testing.assert_array_equal(pcn.resume(folder).coverage_set.requested, Walk.front)
