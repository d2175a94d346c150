"""The Radial Algorithm (Parisi et al., 2014), a baseline of the paper."""
