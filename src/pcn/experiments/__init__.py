"""Many runs: plans, their execution, and comparisons of the results."""
