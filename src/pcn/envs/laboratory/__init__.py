"""The laboratory: small environments of MO-Gymnasium, compiled, whose true fronts are known."""
