"""Curves and methods of the experiments on spherical topics."""
