import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pcn.algorithms.mones.config import MONESConfig
from pcn.algorithms.stacked.agent import PolicyAgent
from pcn.algorithms.stacked.algorithm import fresh_policy
from pcn.algorithms.stacked.execute import BATCH_SIZE, execute, run_each, taking
from pcn.algorithms.stacked.standardise import standardise
from pcn.envs import find_environment
from pcn.envs.deep_sea_treasure import DeepSeaTreasure
from pcn.envs.minecart import Minecart
from pcn.nets.plain_policy import WeightVector
from pcn.rollout.runner import Runner

pytestmark = pytest.mark.slow

KEY = np.array([0, 1], np.uint32)


@pytest.fixture(scope="module")
def branches(fork):
    """Policies that take the first and the second branch of the fork."""
    vector = WeightVector(fresh_policy(fork.spec, MONESConfig(), KEY))
    bias = np.zeros((2, vector.size), np.float32)
    bias[0, -2], bias[1, -1] = 5.0, 5.0  # the last weights are the biases of the two actions
    return jax.vmap(vector.policy)(jnp.asarray(bias))


def test_every_policy_acts_in_its_own_episode(fork, branches):
    episodes = run_each(Runner(fork), branches, 2, sharpness=np.inf, key=KEY)
    np.testing.assert_array_equal(episodes.returns(), [[1.0, 3.0], [2.0, 1.0]])


@pytest.mark.parametrize("num_policies", [1, 2, BATCH_SIZE + 1])
def test_any_number_of_policies_is_executed_in_order(fork, branches, num_policies):
    index = np.arange(num_policies) % 2
    runner = Runner(fork)
    execution = execute(
        runner, taking(branches, index), num_policies, discount=1.0, key=KEY, executions=2
    )
    expected = np.array([[1.0, 3.0], [2.0, 1.0]])[index]
    np.testing.assert_array_equal(execution.returns, expected)
    np.testing.assert_array_equal(execution.deviation, np.zeros_like(expected))
    np.testing.assert_array_equal(execution.horizons, np.ones(num_policies))
    assert execution.num_steps == runner.steps == 2 * num_policies


def test_a_budget_is_kept_as_if_every_episode_were_the_longest(fork, branches):
    """Episodes take 1 step of 10 that are possible: 2, 2, 2 and ten times 1 fit into 25 steps."""
    runner = Runner(fork)
    execution = execute(
        runner, taking(branches, np.zeros(40, int)), 40, discount=1.0, key=KEY, total_steps=25
    )
    assert execution.counts.tolist() == [1] * 16 + [0] * 24
    assert runner.steps == 16


@pytest.fixture(scope="module")
def presses(hidden_counter):
    """Two policies that press the button for ever."""
    vector = WeightVector(fresh_policy(hidden_counter.spec, MONESConfig(), KEY))
    bias = np.zeros((2, vector.size), np.float32)
    bias[:, -2] = 5.0
    return jax.vmap(vector.policy)(jnp.asarray(bias))


def test_where_all_episodes_are_broken_off_one_is_not(hidden_counter, presses):
    """Two are broken off after 3 steps; then there are 10 left for the first policy."""
    runner = Runner(hidden_counter)
    execution = execute(runner, presses, 2, discount=1.0, key=KEY, total_steps=16, most_steps=3)
    assert execution.counts.tolist() == [1, 0]
    assert execution.lengths.tolist() == [10]
    assert runner.steps == 16


def test_a_budget_below_one_episode_ends_with_none(hidden_counter, presses):
    runner = Runner(hidden_counter)
    execution = execute(runner, presses, 2, discount=1.0, key=KEY, total_steps=7)
    assert execution.counts.tolist() == [0, 0]
    assert runner.steps == 7


def test_sharpness_decides_how_predictable_an_agent_is(branches):
    logits = taking(branches, 0)(jnp.zeros(1, jnp.int32))
    chance = float(jax.nn.softmax(0.1 * logits)[0])
    assert 0.55 < chance < 0.75
    keys = jax.random.split(jax.random.key(0), 4_000)

    def share_of_first(sharpness):
        agent = PolicyAgent(taking(branches, 0), jnp.asarray(sharpness))
        actions = jax.vmap(lambda key: agent.act(jnp.zeros(1, jnp.int32), key))(keys)
        return float(np.mean(np.asarray(actions) == 0))

    assert share_of_first(0.1) == pytest.approx(chance, abs=0.03)
    assert share_of_first(np.inf) == 1.0


@pytest.mark.parametrize("sharpness", [1.0, np.inf])
def test_forbidden_actions_are_never_taken(branches, sharpness):
    agent = PolicyAgent(taking(branches, 0), jnp.asarray(sharpness))
    action = agent.act(jnp.zeros(1, jnp.int32), jax.random.key(0), jnp.array([False, True]))
    assert int(action[0]) == 1


def test_observations_are_standardised_by_random_episodes():
    environment = Minecart()
    policy = fresh_policy(environment.spec, MONESConfig(), KEY)
    runner = Runner(environment)
    fitted = standardise(runner, policy, 16, KEY)
    assert runner.steps > 0
    assert np.all(np.asarray(fitted.embed_state.deviation) < 1)
    sea = DeepSeaTreasure()
    plain = fresh_policy(sea.spec, MONESConfig(), KEY)
    runner = Runner(sea)
    same = standardise(runner, plain, 16, KEY)
    assert runner.steps == 0
    assert eqx.tree_equal(same, plain)


def test_policies_of_a_stack_act_in_gymnasium_environments():
    environment = find_environment("deep-sea-treasure-concave-v0", {"environments": 3}).environment
    vector = WeightVector(fresh_policy(environment.spec, MONESConfig(), KEY))
    down = jnp.zeros((5, vector.size)).at[:, -3].set(5.0)  # biases: up, down, left, right
    policies = jax.vmap(vector.policy)(down)
    episodes = run_each(Runner(environment), policies, 5, sharpness=np.inf, key=KEY)
    assert episodes.num_steps == 5  # the first treasure lies right below the start
