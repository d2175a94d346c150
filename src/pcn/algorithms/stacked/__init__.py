"""What MONES and RA share: policies of one shape, stacked, each acting in its own episodes."""
