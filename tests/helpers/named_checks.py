"""The named checks that a game, a solver or a searcher fails."""

from unittest import SkipTest

from gamedp.testing import ConformanceError, checks_of

__all__ = ["complaints_of", "failed_checks"]


def failed_checks(thing, **options):
    """Return the message of each check that fails, by its name; what cannot be made is left out."""
    failed = {}
    for name, check in checks_of(thing, **options):
        try:
            check()
        except SkipTest:
            continue
        except ConformanceError as error:
            failed[name] = str(error)
    return failed


def complaints_of(*messages):
    """Return the lines of messages without their headlines."""
    return [line for message in messages for line in message.splitlines()[1:]]
