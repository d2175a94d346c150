"""What the refinement `routes` is made of: a model of actions, its graph, the search."""
