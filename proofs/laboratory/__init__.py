"""The exact fronts of the laboratory's environments."""
