#!/bin/sh
# wheel.sh VERSION [MACHINE]: makes a wheel of this folder in build/wheel. The wheel contains build/saltmill-worker if it
# exists. With MACHINE, it contains build/saltmill-worker-MACHINE, which must exist. It contains $LIBRARY, unless this is
# empty. The program is static, but the library needs a libc, so the name of the wheel has the oldest version that it runs with.
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
worker=${WORKER-build/saltmill-worker${2:+-$2}}
platform=
if [ -x "$worker" ]; then
	# a worker for another machine may not run here, so its version is not checked
	[ -n "${2:-}" ] || [ "$($worker --version)" = "saltmill $1" ] || {
		echo "wheel: $worker: found another version, expected $1; run make clean, then make worker" >&2
		exit 1
	}
	mkdir -p $work/saltmill/bin
	cp "$worker" "$work/saltmill/bin/saltmill-$machine"
	platform=manylinux2014
elif [ -n "${2:-}" ]; then
	echo "wheel: found no $worker; run make worker MACHINE=$2" >&2
	exit 1
else
	echo "wheel: found no $worker, so the wheel has no program; set PATH or \$SALTMILL on all machines" >&2
fi
if [ -n "${LIBRARY:-}" ]; then
	mkdir -p $work/saltmill/lib
	cp "$LIBRARY" $work/saltmill/lib/
	platform=manylinux_$(nm -D -u "$LIBRARY" | sed -n 's/.*@GLIBC_\([0-9]*\.[0-9]*\).*/\1/p' | sort -V | tail -n 1 | tr . _)
fi
[ -z "$platform" ] || printf '[bdist_wheel]\nplat_name = %s_%s\n' "$platform" "$machine" >$work/setup.cfg
"$python" -m pip wheel -q --disable-pip-version-check --no-deps -w build/wheel $work
rm -rf $work
ls build/wheel/*.whl
