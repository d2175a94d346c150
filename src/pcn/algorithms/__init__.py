"""Algorithms: each ends in a coverage set."""
