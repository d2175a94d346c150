"""Runs side by side: the same metrics, from the same reference point, over seeds.

The statistics follow Agarwal et al., Deep Reinforcement Learning at the Edge of the Statistical
Precipice (arXiv 2108.13264), and are scipy's.
"""
