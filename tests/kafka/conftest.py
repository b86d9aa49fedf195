import sys
import pathlib

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "secure")]

from broker import Broker  # noqa: E402  (needs the path above)
from rig import Rig, value  # noqa: E402
from secure import SecureBroker  # noqa: E402


@pytest.fixture(scope="session")
def kafka(tmp_path_factory):
    """Starts one broker for the whole session."""
    with Broker(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture(scope="session")
def second_broker(tmp_path_factory):
    with Broker(tmp_path_factory.mktemp("mortal")) as broker:
        yield broker


@pytest.fixture
def mortal(second_broker):
    """Returns a broker that the test may kill."""
    if not second_broker.server:
        second_broker.start()
    return second_broker


@pytest.fixture(scope="session")
def secure(tmp_path_factory):
    """Starts a broker with logins. Its topic t has 1000 messages."""
    with SecureBroker(tmp_path_factory.mktemp("secure")) as broker:
        broker.create("t", 2)
        broker.produce("t", [(i % 2, None, value(i)) for i in range(1000)])
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
