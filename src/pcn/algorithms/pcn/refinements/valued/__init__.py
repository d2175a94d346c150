"""What the refinement `weighted_values` is made of: learning values, acting by them, teaching."""
