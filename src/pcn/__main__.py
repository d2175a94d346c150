"""`python -m pcn` is `pcn`."""

from pcn.cli import main

main()
