"""Read and write HFiles of HBase, build and decode row keys of a saltmill job, and load with Apache Spark.

    HFile, HFileWriter    cells of an HFile
    scan                  cells of an HFile as Arrow record batches
    job                   row keys of a job file
    saltmill.spark        loads with Apache Spark, which raise JobError and Rejected
"""

import contextlib

from .library import (Cell, Counts, DataError, Error, FileError, HFile, HFileWriter, Info, Job, OrderError, Type, job,
                      library_version, scan)

__all__ = ["Cell", "Counts", "DataError", "Error", "FileError", "HFile", "HFileWriter", "Info", "Job", "JobError",
           "OrderError", "Rejected", "Type", "job", "library_version", "scan"]


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
