"""Tests a sample of `make soak`, with faults drawn from a seed and with Kafka's own reader."""

import soak


def test_sample(saltmill, tmp_path):
    lost, doubled, line = soak.run(saltmill, tmp_path / "soak", seconds=15, seed=7)
    print(line)
    assert lost == doubled == 0, line
