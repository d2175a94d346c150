"""The exhaustive search that proves the front of Minecart."""
