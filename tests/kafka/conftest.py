import sys
import pathlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from broker import Broker  # noqa: E402  (needs the path above)
from rig import Rig  # noqa: E402


@pytest.fixture(scope="session")
def kafka(tmp_path_factory):
    """One broker for the whole session."""
    with Broker(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture
def topic(request):
    """The broker lives through all files: two may have tests of one name."""
    name = f"{request.path.stem}.{request.node.name}"
    return name.replace("[", ".").replace("]", "")[:100]


@pytest.fixture
def rig(saltmill, kafka, tmp_path, topic):
    return Rig(saltmill, kafka, tmp_path / "rig", topic)
