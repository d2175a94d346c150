"""Multi-Objective Natural Evolution Strategies (Parisi et al., 2017), a baseline of the paper."""
