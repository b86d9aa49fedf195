"""saltmill from Python: the errors that all of it raises.  saltmill.spark loads by Apache Spark."""


class JobError(Exception):
    """Nothing was published; the text is the program's own sentence where the program said one."""


class Rejected(JobError):
    """More events were rejected than max_rejects tolerates; the first one too many is named."""
