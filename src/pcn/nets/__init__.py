"""Networks: state embeddings, action heads and the conditioned policy."""
