"""Exhaustive searches that made the fronts that ship with `pcn`; not part of the wheel."""
