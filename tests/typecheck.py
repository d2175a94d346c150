"""The run-time type checker of the tests: beartype, with an int allowed where a float is due."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
