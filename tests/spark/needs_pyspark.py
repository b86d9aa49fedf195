"""Skips a test file if pyspark is not installed. If pyspark is installed but cannot be imported, the test fails."""

import importlib.util

import pytest

if not importlib.util.find_spec("pyspark"):
    pytest.skip("pyspark is not here: run `make deps`", allow_module_level=True)
