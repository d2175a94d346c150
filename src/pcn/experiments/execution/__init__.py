"""Executing the runs of a plan: a small interface, and a class for each kind of machine."""
