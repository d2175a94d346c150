"""Figures from finished runs; they are drawn into files and need no screen."""

import matplotlib

matplotlib.use("Agg")
