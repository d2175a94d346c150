"""Shared code of MONES and RA: stacked policies of one shape, each in its own episodes."""
