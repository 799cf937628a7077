"""Models with scikit-learn's interface, one file each; `orthodrome` itself has their public names."""
