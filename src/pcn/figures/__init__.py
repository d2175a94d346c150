"""Figures, one per file, drawn from loaded runs."""
