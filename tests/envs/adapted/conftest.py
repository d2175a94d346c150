import jax
import pytest


@pytest.fixture(autouse=True)
def _as_other_packages_expect_jax():
    """Our own code never promotes ranks; that of others may."""
    with jax.numpy_rank_promotion("allow"):
        yield
