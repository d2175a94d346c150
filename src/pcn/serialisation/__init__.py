"""State to files and back: atomic files, and arrays of pytrees by name."""
