import sys
import pathlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from broker import Broker  # noqa: E402  (needs the path above)
from rig import Rig  # noqa: E402


@pytest.fixture(scope="session")
def kafka(tmp_path_factory):
    """Starts one broker for the whole session."""
    with Broker(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture
def topic(request):
    """Gives each test its own topic name. The broker serves all files, and two files may have tests with the same
    name."""
    name = f"{request.path.stem}.{request.node.name}"
    return name.replace("[", ".").replace("]", "")[:100]


@pytest.fixture
def rig(saltmill, kafka, tmp_path, topic):
    return Rig(saltmill, kafka, tmp_path / "rig", topic)
