"""What the refinement `junctions` is made of: places, and the best ways through them."""
