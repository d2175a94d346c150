from dataclasses import replace

import pytest

from pcn import Objective, PCNConfig
from pcn.algorithms.pcn.units import check_units
from pcn.errors import UserError
from tests.made_runs import toy_spec

FAIR = PCNConfig(dominance="lorenz")
DIFFERENT = toy_spec()  # kilograms to maximise and something to minimise


def test_objectives_of_different_units_are_refused_unless_they_are_scaled():
    with pytest.raises(UserError, match=r"lorenz adds up objectives.*gain \(maximise kg\)"):
        check_units(FAIR, DIFFERENT, [])
    check_units(PCNConfig(dominance="lorenz", dominance_scaling="seen"), DIFFERENT, [])
    check_units(PCNConfig(dominance="stochastic"), DIFFERENT, [])


def test_one_unit_is_accepted_and_missing_units_are_told():
    notices = []
    same = replace(DIFFERENT, objectives=(Objective("a", "kg"), Objective("b", "kg")))
    check_units(FAIR, same, notices)
    assert notices == []
    nameless = replace(DIFFERENT, objectives=(Objective("a"), Objective("b")))
    check_units(FAIR, nameless, notices)
    assert notices == ["toy names no units: lorenz takes its objectives to have the same"]
    a_cost = replace(DIFFERENT, objectives=(Objective("a", "kg"), Objective("b", "kg", "minimise")))
    with pytest.raises(UserError, match="different things"):
        check_units(FAIR, a_cost, [])


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"dominance": "fair"},
            "dominance must be pareto or lorenz or lambda-lorenz",
        ),
        ({"dominance": "lorenz", "dominance_lambda": 0.5}, "dominance_lambda belongs to"),
        ({"dominance_slack": 0.5}, "dominance_slack belongs to stochastic"),
        ({"dominance": "lambda-lorenz", "dominance_lambda": 1.5}, "dominance_lambda must be"),
        ({"dominance": "stochastic", "dominance_scaling": "seen"}, "compares none"),
    ],
)
def test_options_that_do_not_fit_together_are_told(options, told):
    with pytest.raises(UserError, match=told):
        PCNConfig.of(options)


def test_the_order_has_the_options_that_belong_to_it():
    config = PCNConfig(dominance="lambda-lorenz", dominance_lambda=0.25)
    assert config.order.to_json() == {"order": "lambda-lorenz", "weight": 0.25}
    assert PCNConfig().order.to_json() == {"order": "pareto"}
