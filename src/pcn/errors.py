"""The one error that is the user's to mend."""


class UserError(ValueError):
    """Something asked for cannot be done; the message says what and, if possible, what instead.

    The command line prints it as one sentence and exits with code 2.
    """
