"""A run that is killed goes on where its last commit was, to the same draws."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from orthodrome import FullGradient, GeodesicHMC, Sphere, Target, sample


def logdensity(x):
    return 4 * x[0] + 3 * x[1] * x[2]


def run(folder=None, num_draws=100_000):
    sampler = GeodesicHMC(FullGradient(Target(Sphere(), logdensity)), step_size=0.3, num_steps=5)
    settings = {"seed": 0, "num_warmup": 100, "num_draws": num_draws, "progress": False}
    return sample(sampler, jnp.array([1.0, 0.0, 0.0]), checkpoint=folder, checkpoint_every=0.1, **settings)


def kill_one_run(folder):
    """Start this script as a worker, wait for its first commit, and kill it."""
    worker = subprocess.Popen([sys.executable, __file__, folder])
    while worker.poll() is None and not (Path(folder) / "commit.json").exists():
        time.sleep(0.01)
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()


def main():
    with tempfile.TemporaryDirectory() as folder:
        kill_one_run(folder)
        print("killed; going on from", (Path(folder) / "commit.json").read_text()[:60], "...")
        resumed = run(folder)["posterior"]["x"].values
    assert np.array_equal(resumed, run()["posterior"]["x"].values)
    print(f"{resumed.shape[1]:,} draws in each of {resumed.shape[0]} chains, identical to a run that was never killed")


if __name__ == "__main__":
    run(sys.argv[1]) if len(sys.argv) > 1 else main()
