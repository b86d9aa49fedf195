#!/bin/sh
# wheel.sh VERSION [MACHINE]: a wheel of this folder in build/wheel; with build/saltmill-worker in it when that is
# there, or with build/saltmill-worker-MACHINE, which must be there.
set -eu
cd "$(dirname "$0")/../.."
python=${SALTMILL_CACHE:-$HOME/.cache/saltmill}/venv/bin/python
[ -x "$python" ] || python=python3
work=build/wheel/work
rm -rf build/wheel
mkdir -p $work
cp -r pipeline/spark/saltmill pipeline/spark/saltmill_spark.py LICENSE $work/
sed "s/^version = .*/version = \"$1\"/" pipeline/spark/pyproject.toml >$work/pyproject.toml
rm -rf $work/saltmill/__pycache__
machine=${2:-$(uname -m)}
worker=build/saltmill-worker${2:+-$2}
if [ -x "$worker" ]; then
	# one for another machine may not run here, but was just made
	[ -n "${2:-}" ] || [ "$($worker --version)" = "saltmill $1" ] || {
		echo "wheel: $worker is of another version than $1: make clean, make worker" >&2
		exit 1
	}
	mkdir -p $work/saltmill/bin
	cp "$worker" "$work/saltmill/bin/saltmill-$machine"
	printf '[bdist_wheel]\nplat_name = manylinux2014_%s\n' "$machine" >$work/setup.cfg # static: no glibc there
elif [ -n "${2:-}" ]; then
	echo "wheel: no $worker: make worker MACHINE=$2" >&2
	exit 1
else
	echo "wheel: no $worker: without the program, which PATH or \$SALTMILL must then name" >&2
fi
"$python" -m pip wheel -q --disable-pip-version-check --no-deps -w build/wheel $work
rm -rf $work
ls build/wheel/*.whl
