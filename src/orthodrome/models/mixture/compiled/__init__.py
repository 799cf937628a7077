"""The loops over rows, in numba: log densities, sums of statistics, and the choice of a component for every row."""
