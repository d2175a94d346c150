"""Figures of finished runs, made with matplotlib's objects: no screen and no global backend."""
