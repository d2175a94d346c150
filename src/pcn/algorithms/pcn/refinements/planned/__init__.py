"""What the refinement `planning` is made of: lessons of plans, and the network that learns them."""
