"""The errors of the Python package saltmill.  saltmill.spark loads with Apache Spark."""

import contextlib


class JobError(Exception):
    """A failure. saltmill has published nothing, unless the text begins with "published as". If the native program
    printed an error, the text is this error."""


class Rejected(JobError):
    """The load has more rejects than max_rejects allows. The text contains the first event above the limit."""


@contextlib.contextmanager
def sentences(about):
    """Turn an OSError into a JobError.  `about` is the file of the message, if the error has no file."""
    try:
        yield
    except OSError as e:
        raise JobError(f"{e.filename or about}: {e.strerror or e}") from e
