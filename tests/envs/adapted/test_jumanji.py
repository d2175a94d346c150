import jax
import jax.numpy as jnp
import pytest

from pcn.envs.adapted.environment import AdaptedEnvironment
from pcn.envs.adapted.jumanji import JumanjiSource
from pcn.errors import UserError

pytest.importorskip("jumanji")
pytestmark = pytest.mark.filterwarnings("ignore")  # what the package deprecates is its own matter


def rewards(state, action, following, reward):
    return jnp.stack([jnp.asarray(reward, jnp.float32), -1.0])


@pytest.mark.parametrize("name", ["Game2048-v1", "Snake-v1", "Maze-v0", "BinPack-v2", "PacMan-v1"])
def test_environments_fit_what_they_say_of_themselves(name):
    environment = AdaptedEnvironment.of(JumanjiSource(name), name=name, rewards=rewards)
    environment.prepare()
    assert environment.spec.num_objectives == 2


def test_masks_are_obeyed_and_rewards_are_jumanjis():
    source = JumanjiSource("Game2048-v1")
    environment = AdaptedEnvironment.of(source, name="2048", rewards=rewards)
    assert environment.spec.masked_actions
    state, step = environment.reset(jax.random.key(0)), jax.jit(environment.step)
    score = 0.0
    for _ in range(20):
        mask = environment.action_mask(state)
        outcome = step(state, jnp.argmax(mask), jax.random.key(0))
        state, score = outcome.state, score + float(outcome.reward[0])
    assert score == float(state.inner.score)
    assert bool(mask.any())


def test_a_name_that_jumanji_does_not_have_is_told():
    with pytest.raises(UserError, match="jumanji has no environment 'Chess'"):
        JumanjiSource("Chess")
