"""Benchmarks: `python -m benchmarks` (or `make bench`) runs all, each module runs alone. See README.md."""
