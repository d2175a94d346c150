"""State to files and back: atomic files, and named arrays of pytrees."""
