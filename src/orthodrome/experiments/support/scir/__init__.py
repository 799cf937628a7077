"""What the experiments on SCIR share: the Dirichlet posterior, its grid of runs, the distance, the figure."""
