"""Theorems 1 and 2 of Ma, Chen & Fox (2015), and what the paper says of jumps and of D, as numbers."""
