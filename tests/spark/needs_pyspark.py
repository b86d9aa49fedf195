"""Who imports this is skipped where pyspark is not installed; where it is and cannot be imported, that is a failure."""

import importlib.util

import pytest

if not importlib.util.find_spec("pyspark"):
    pytest.skip("pyspark is not here: run `make deps`", allow_module_level=True)
