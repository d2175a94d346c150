"""What the refinement `expected_rewards` is made of: memory, labels, the network's fitting."""
