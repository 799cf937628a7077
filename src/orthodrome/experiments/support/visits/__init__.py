"""Dirichlet-process mixtures of a site's users: the settings of Baker et al. (2018), and the faults of their code."""
