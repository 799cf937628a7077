"""Numba kernels: many small samplers side by side, each with its own counter-seeded stream of random numbers."""
