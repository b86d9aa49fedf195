"""properties.py FROM:TO runs the property tests of keys and conditions over many seeds, and prints the number of
cases.

The first property is decode(encode(x)) = x. The ranges of a condition contain every key that matches it. The ranges of
a condition on the key's first parts contain no other key.
"""

import os
import re
import subprocess
import sys
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
TESTS = [HERE / "test_key.py", HERE / "test_key_ranges.py"]


def main():
    env = {**os.environ, "SALTMILL_SEEDS": sys.argv[1], "SALTMILL_ASKED": "64"}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rP", "-n", "0", "-k", "random or encoded", *TESTS], env=env, text=True,
                          stdout=subprocess.PIPE, check=False)
    cases = sum(int(n) for n in re.findall(r"^(\d+) cases$", done.stdout, re.M))
    print(*[line for line in done.stdout.splitlines() if re.match(r"FAILED|E  |\d+ (passed|failed)", line)], sep="\n")
    print(f"{cases} cases")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
