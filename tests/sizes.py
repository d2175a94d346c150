"""How large trainings in tests are; algorithms that are not listed train with their defaults."""

_QUICK = {
    "mones": {"population": 10, "final_draws": 20},
    "ra": {"intervals": 4, "episodes_per_update": 2},
}
_TINY = {
    "pcn": {
        "width": 16,
        "batch_size": 32,
        "updates_per_iteration": 4,
        "episodes_per_iteration": 4,
        "warmup_episodes": 6,
        "capacity": 12,
        "evaluations": 2,
    },
    "mones": {"population": 4, "final_draws": 4},
    "ra": {"intervals": 2, "episodes_per_update": 2},
}


def quick(algorithm):
    """Hyperparameters with which a few thousand steps take several iterations."""
    return _QUICK.get(algorithm, {})


def tiny(algorithm):
    """Hyperparameters with which an algorithm trains for a moment on a toy."""
    return {"total_steps": 150, "executions": 8, **_TINY.get(algorithm, {})}
