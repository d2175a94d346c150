"""Many runs: plans, their execution, and comparisons of what came out."""
