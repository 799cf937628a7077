"""Run every benchmark, each in a process of its own: `python -m benchmarks [--quick] [NAME ...]`."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

NAMES = ("first_contact", "cold", "overhead", "one_kernel", "warm_up", "checkpointing", "exact", "stochastic", "sam")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="does everything run? The numbers mean little")
    options = parser.parse_args()
    failed = []
    for name in options.names or [name for name in NAMES if (Path(__file__).parent / f"{name}.py").exists()]:
        print(f"\n== {name}", flush=True)
        began = time.perf_counter()
        code = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"] + ["--quick"] * options.quick).returncode
        failed += [name] * (code != 0)
        print(f"   ({time.perf_counter() - began:.0f} s)", flush=True)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
