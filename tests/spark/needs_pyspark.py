"""Ends a test file without pyspark with an error that names the command which installs it."""

import importlib.util

if not importlib.util.find_spec("pyspark"):
    raise ImportError("pyspark is not here: run `make deps`")
