"""What the commands of models that are fitted by `sample` have in common."""
