"""Articles, runs and curves of the experiments on topics of words."""
