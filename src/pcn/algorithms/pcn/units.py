"""Units of objectives: an order that compares objectives with one another needs a common one."""

from pcn.algorithms.pcn.core_config import CoreConfig
from pcn.envs.spec import EnvironmentSpec
from pcn.errors import UserError


def check_units(config: CoreConfig, spec: EnvironmentSpec, notices: list[str]) -> None:
    """Refuse an order that adds up objectives of different units, unless they are scaled.

    Where an environment names no units, one more of the `notices` says what is taken for granted.
    """
    if not config.order.needs_one_unit or config.dominance_scaling != "none":
        return
    if not spec.has_one_unit:
        listed = ", ".join(
            f"{one.name} ({one.direction} {one.unit or 'without a unit'})"
            for one in spec.objectives
        )
        raise UserError(
            f"{config.dominance} adds up objectives, and those of {spec.name} are different "
            f"things: {listed}; with dominance_scaling=seen they count as shares of the range seen"
        )
    if not spec.objectives[0].unit:
        notices.append(
            f"{spec.name} names no units: {config.dominance} takes its objectives to have the same"
        )
