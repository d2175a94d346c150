"""The command line: parse, call, print."""

from pcn.cli.main import main

__all__ = ["main"]
