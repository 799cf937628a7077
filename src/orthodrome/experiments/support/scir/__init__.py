"""What the experiments on SCIR share: the Dirichlet posterior, its grid of runs, distance, figure and costs."""
