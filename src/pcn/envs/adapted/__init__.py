"""Environments of other JAX packages as compiled ones; each package is imported when it is used."""
