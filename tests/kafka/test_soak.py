"""A sample of `make soak`: faults drawn from a seed, what Kafka's own reader sees is the judge."""

import soak


def test_sample(saltmill, tmp_path):
    lost, doubled, line = soak.run(saltmill, tmp_path / "soak", seconds=15, seed=7)
    print(line)
    assert lost == doubled == 0, line
