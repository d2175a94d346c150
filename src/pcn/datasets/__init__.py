"""Logged episodes: what they are, and how they are read from files of other tools."""
