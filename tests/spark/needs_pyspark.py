"""Skips a test file without pyspark. If the import of an installed pyspark fails, the test fails."""

import importlib.util

import pytest

if not importlib.util.find_spec("pyspark"):
    pytest.skip("pyspark is not here: run `make deps`", allow_module_level=True)
