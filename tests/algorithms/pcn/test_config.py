import dataclasses
import json

import pytest

from pcn.algorithms.pcn.config import NAMES, PRESETS, PCNConfig
from pcn.algorithms.pcn.refinements import REFINEMENTS, BoundedCommands, Variations
from pcn.errors import UserError

BAD = {
    "total_steps": [0, -1],
    "width": [0],
    "batch_size": [0],
    "updates_per_iteration": [0],
    "warmup_episodes": [0],
    "episodes_per_iteration": [0],
    "capacity": [0, -5],
    "executions": [0],
    "hidden_layers": [-1],
    "longer_warm_up.trade_offs": [-1],
    "action_noise": [-0.1, 1.5],
    "crowded_below": [-0.1],
    "duplicate_penalty": [-1e-5],
    "return_tolerance": [-1e-3],
    "tolerance_share": [-1e-4],
    "evaluations": [-1],
    "consolidation.updates": [0, -1],
    "breaking_off.horizons": [0.5],
    "variations.crossed": [-0.1, 1.5],
    "expected_returns.copies": [0],
    "learning_rate": [0.0, -1e-3, float("nan")],
    "command_spread": [0.0],
    "discount": [0.0, -0.5, 1.01, float("nan")],
    "archive_fraction": [-0.25, 1.5],
    "command_scale": [(0.1, 0.0), (-1.0, 1.0), ()],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD.items() for v in values])
def test_a_bad_value_is_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=name.rpartition(".")[2]) as caught:
        PCNConfig.of({name: value})
    assert str(value) in str(caught.value)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_builds_and_changes_what_it_says(preset):
    config = PCNConfig.of(PRESETS[preset])
    default = PCNConfig()
    for field in dataclasses.fields(PCNConfig):
        expected = PRESETS[preset].get(field.name, getattr(default, field.name))
        assert getattr(config, field.name) == expected


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_repeats_no_default(preset):
    default = PCNConfig()
    for name, value in PRESETS[preset].items():
        assert getattr(default, name) != value


def test_the_paper_s_preset_has_nothing_the_paper_does_not():
    config = PCNConfig.of(PRESETS["paper"])
    assert config.gate == "sigmoid"
    assert (config.width, config.hidden_layers, config.discount) == (64, 1, 1.0)
    assert config.archive_fraction == config.action_noise == config.horizon_offset == 0
    assert config.refinements == ()
    assert config.sample_by == "transition"
    assert (config.crowded_below, config.capacity) == (0.2, 200)


def test_the_authors_preset_has_their_settings():
    config = PCNConfig.of(PRESETS["authors"])  # REFERENCE, section 3
    assert config.learning_rate == 1e-2
    assert config.batch_size == 256
    assert config.updates_per_iteration == config.episodes_per_iteration == 10
    assert config.warmup_episodes == 50
    assert config.shared_command
    assert config.horizon_offset == -2
    assert config.refinements == (BoundedCommands(),)


def test_the_default_has_every_refinement():
    assert tuple(map(type, PCNConfig().refinements)) == tuple(REFINEMENTS.values())


@pytest.mark.parametrize(
    "config",
    [
        PCNConfig(command_scale=(0.1, 0.1, 0.01)),
        PCNConfig(refinements=()),
        PCNConfig(refinements=(BoundedCommands(upper_bound=(1.0, 2.0)), Variations(shift=7))),
    ],
    ids=["scale", "none", "two"],
)
def test_a_config_goes_through_json(config):
    written = json.loads(json.dumps(config.to_json()))
    assert PCNConfig.of(written) == config
    on = {name: kind for name, kind in REFINEMENTS.items() if name in written["refinements"]}
    assert [type(one) for one in config.refinements] == list(on.values())


@pytest.mark.parametrize("name", REFINEMENTS)
def test_a_refinement_is_turned_off_and_on_by_name(name):
    off = PCNConfig.of({name: False})
    assert REFINEMENTS[name] not in map(type, off.refinements)
    assert len(off.refinements) == len(REFINEMENTS) - 1
    only = PCNConfig.of({"refinements": ()}, {name: True})
    assert only.refinements == (REFINEMENTS[name](),)
    assert PCNConfig.of({name: False}, {name: True}) == PCNConfig()


def test_a_field_of_a_refinement_is_set_by_name_and_turns_it_on():
    config = PCNConfig.of({"refinements": ()}, {"variations.shift": 5})
    assert config.refinements == (Variations(shift=5),)
    assert PCNConfig.of({"variations": Variations(shift=5)}).refinements == (
        PCNConfig.of({"variations.shift": 5}).refinements
    )
    assert PCNConfig.of({"variations": {"shift": 5}}) == PCNConfig.of({"variations.shift": 5})
    with pytest.raises(
        UserError, match="variations must be True, False, a Variations or a mapping"
    ):
        PCNConfig.of({"variations": 5})
    with pytest.raises(
        UserError, match=r"variations is turned off, but variations\.shift is given"
    ):
        PCNConfig.of({"variations": False, "variations.shift": 5})
    with pytest.raises(UserError, match="shift must be of type int, got 'far'"):
        PCNConfig.of({"variations.shift": "far"})
    with pytest.raises(UserError, match="no hyperparameter 'leap'"):
        PCNConfig.of({"variations.leap": 5})


def test_refinements_act_in_the_order_of_the_table():
    assert PCNConfig(refinements=(Variations(), BoundedCommands())) == (
        PCNConfig(refinements=(BoundedCommands(), Variations()))
    )
    with pytest.raises(UserError, match="twice"):
        PCNConfig(refinements=(Variations(), Variations(shift=5)))


def test_every_hyperparameter_is_an_option_with_a_help_text():
    options = {option.name: option for option in PCNConfig.options()}
    for name, kind in REFINEMENTS.items():
        for field in dataclasses.fields(kind):
            assert options[f"{name}.{field.name}"].default == field.default
    assert all(option.help for option in options.values())
    assert "refinements" not in options
    assert PCNConfig.names() == set(options)
    defaults = {name: option.default for name, option in options.items()}
    assert PCNConfig.of(defaults) == PCNConfig()


def test_the_words_of_older_run_folders_are_understood():
    old = {
        "total_steps": 20_000, "discount": 1.0, "width": 64, "hidden_layers": 2, "gate": "film",
        "standardise": True, "embedding": None, "joint_one_hot": False, "command_scale": None,
        "command_spread": 10.0, "upper_bound": None, "bound_commands": True,
        "learning_rate": 0.003, "batch_size": 256, "updates_per_iteration": 16,
        "archive_fraction": 0.25, "sample_by": "transition", "warmup_episodes": 50,
        "sticky_actions": True, "warmup_front": 3, "episodes_per_iteration": 64,
        "shared_command": False, "horizon_offset": 0, "action_noise": 0.5, "patience": 4.0,
        "erase_loops": True, "variations": True, "capacity": 200, "crowded_below": 0.2,
        "duplicate_penalty": 1e-05, "return_tolerance": 0.001, "evaluations": 20,
        "store_evaluations": True, "consolidation_updates": 20000, "executions": 20,
    }  # fmt: skip
    known_then = {
        "standardise", "sticky_actions", "loop_erasure", "variations", "bounded_commands",
        "stored_evaluations", "longer_warm_up", "breaking_off", "consolidation",
        "expected_returns",
    }  # fmt: skip
    changed = (
        "total_steps", "updates_per_iteration", "archive_fraction", "episodes_per_iteration",
        "return_tolerance",
    )  # fmt: skip
    then = {
        **PCNConfig.before,
        **{name: old[name] for name in changed},
        **dict.fromkeys(REFINEMENTS.keys() - known_then, False),
        "variations.stochastic": False,
    }
    assert PCNConfig.from_format_1(old) == PCNConfig.of(then)
    other = old | {
        "patience": None, "erase_loops": False, "consolidation_updates": 0, "warmup_front": 5,
        "upper_bound": [3.0, 4.0],
    }  # fmt: skip
    assert PCNConfig.from_format_1(other) == PCNConfig.of(
        {
            "breaking_off": False,
            "loop_erasure": False,
            "consolidation": False,
            "longer_warm_up.trade_offs": 5,
            "bounded_commands.upper_bound": (3.0, 4.0),
            **then,
        }
    )


@pytest.mark.parametrize(("name", "value"), [("gate", "tanh"), ("sample_by", "step")])
def test_an_unknown_choice_is_refused(name, value):
    make = getattr(PCNConfig, "__wrapped__", PCNConfig)
    with pytest.raises(Exception, match=value):
        make(**{name: value})


@pytest.mark.parametrize(
    ("fraction", "counts"), [(0.0, (256,)), (0.25, (192, 64)), (1.0, (0, 256))]
)
def test_a_batch_is_split_between_dataset_and_archive(fraction, counts):
    config = PCNConfig(archive_fraction=fraction)
    assert config.batch_counts(deterministic=True) == counts
    assert config.batch_counts(deterministic=False) == counts


def test_without_a_given_share_more_comes_from_the_archive_where_outcomes_are_stochastic():
    assert PCNConfig().batch_counts(deterministic=True) == (192, 64)
    assert PCNConfig().batch_counts(deterministic=False) == (128, 128)


def test_older_runs_vary_stored_episodes_only():
    old = PCNConfig().to_json()
    assert old["refinements"]["variations"].pop("alike") > 0
    del old["refinements"]["junctions"]
    refinements = {type(one).__name__: one for one in PCNConfig.recorded(old).refinements}
    assert refinements["Variations"].alike == 0
    assert "Junctions" not in refinements


def test_older_runs_repeat_random_actions_wherever_episodes_end():
    old = PCNConfig().to_json()
    assert old["refinements"]["sticky_actions"].pop("ending_exponent") == 0.5
    refinements = {type(one).__name__: one for one in PCNConfig.recorded(old).refinements}
    sticky = refinements["StickyActions"]
    assert sticky.ending_exponent == sticky.exponent == 2


def test_older_runs_scout_and_rehearse_as_they_did():
    old = PCNConfig().to_json()
    new = {
        "longer_warm_up": ("leaves_to_scouts", False),
        "planning": ("rehearsed_numbers", 0),
        "scouting": ("most_numbers", 0),
    }
    for name, (field, _) in new.items():
        assert old["refinements"][name].pop(field)
    del old["refinements"]["planning"]["raced_visits"]
    del old["refinements"]["planning"]["rehearsed_visits"]
    refinements = {NAMES[type(one)]: one for one in PCNConfig.recorded(old).refinements}
    for name, (field, value) in new.items():
        assert getattr(refinements[name], field) == value
    planning = refinements["planning"]
    assert planning.raced_visits == planning.rehearsed_visits == planning.median_visits == 20


def test_older_runs_with_junctions_have_no_branches():
    old = PCNConfig().to_json()
    assert old["refinements"]["junctions"].pop("branch_share") > 0
    refinements = {type(one).__name__: one for one in PCNConfig.recorded(old).refinements}
    assert refinements["Junctions"].branch_share == 0


def test_older_runs_keep_one_way_and_do_not_rejoin():
    old = PCNConfig().to_json()
    assert old["refinements"]["junctions"].pop("most_equal") > 1
    assert old["refinements"]["junctions"].pop("rejoining") > 0
    refinements = {type(one).__name__: one for one in PCNConfig.recorded(old).refinements}
    assert refinements["Junctions"].most_equal == 1
    assert refinements["Junctions"].rejoining == 0


def test_a_recorded_config_may_have_hyperparameters_that_there_are_no_more():
    old = PCNConfig().to_json()
    old["refinements"] = {
        "consolidation": {"updates": 7, "stochastic_budget": 0.3},
        "expected_returns": {"candidates": 9, "checks": 3, "checking_share": 0.3},
    }
    config = PCNConfig.recorded(old)
    assert [type(one).__name__ for one in config.refinements] == [
        "Consolidation", "ExpectedReturns",
    ]  # fmt: skip
    assert (config.refinements[0].updates, config.refinements[1].candidates) == (7, 9)
    with pytest.raises(UserError, match="check_shar"):
        PCNConfig.recorded({**old, "refinements": {"expected_returns": {"check_shar": 1}}})
    with pytest.raises(UserError, match="checks"):
        PCNConfig.of({"expected_returns.checks": 3})
