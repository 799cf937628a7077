"""The numba kernels of the spherical admixture model."""
