"""saltmill from Python: the errors that all of it raises.  saltmill.spark loads by Apache Spark."""

import contextlib


class JobError(Exception):
    """Nothing was published, unless the text begins with "published as"; it is the program's own sentence where the
    program said one."""


class Rejected(JobError):
    """More events were rejected than max_rejects tolerates; the first one too many is named."""


@contextlib.contextmanager
def sentences(about):
    """What the system refuses is a JobError too.  about: what it was of, where the error names no file."""
    try:
        yield
    except OSError as e:
        raise JobError(f"{e.filename or about}: {e.strerror or e}") from e
