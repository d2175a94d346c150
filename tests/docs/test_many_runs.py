"""The Python block of docs/many-runs.md carries a plan out, by an executor of the reader's own."""

import pytest

from doc_pages import blocks
from pcn.experiments.execution import local
from pcn.experiments.execution.abstract import AbstractExecutor
from pcn.experiments.execution.task import perform
from quick_plans import QUICK


class HereAndNow(AbstractExecutor):
    """Carries tasks out in this process, as the page says that another executor may."""

    num_jobs = 1

    def __init__(self, jobs):
        del jobs

    def check(self, folder, upload=None):
        pass

    def execute(self, tasks, tell, should_stop):
        for task in tasks:
            tell(perform(task, tell, should_stop))


@pytest.mark.slow
def test_the_printed_plan_is_carried_out_with_one_seed_of_ra(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(local, "LocalExecutor", HereAndNow)
    (block,) = blocks("docs/many-runs.md", "python")
    fewer = f"grid={ {name: [value] for name, value in QUICK.items()} }, total_steps=2_000"
    block = block.replace('["pcn", "ra"], seeds=range(5)', f'["ra"], seeds=range(1), {fewer}')
    names = {}
    exec(block, names)
    assert len(names["plan"].runs) == 1
    (status,) = tmp_path.glob("study/runs/**/seed-0.status.json")
    assert '"done"' in status.read_text()
