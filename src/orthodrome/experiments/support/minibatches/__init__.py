"""Fitted models from minibatches: a network, a mixture of directions, and matrices."""
