"""The transition rows of a hidden Markov model, from minibatches of sequences, by SCIR.

Given the hidden states, each row of the transition matrix is Dirichlet(prior + counts of transitions). Those of the
sequences in a batch are drawn anew in every step by forward filtering and backward sampling, a Gibbs step that has the
key that `counts` is given; their counts, times N / n, are what SCIR needs. No gradient is written, and rows with
entries near zero are drawn without discretisation error.
"""

import jax
import jax.numpy as jnp
import numpy as np

from orthodrome import SCIR, Simplex, sample
from orthodrome.gradients import ConjugateCounts, ConjugatePosterior

STATES, LENGTH, SEQUENCES = 3, 40, 400
TRUTH = np.array([[0.9, 0.1, 0.0], [0.0, 0.8, 0.2], [0.3, 0.0, 0.7]])
EMISSIONS = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], np.float32)


def simulate(rng):
    """Draw sequences of observed symbols."""
    states = np.zeros((SEQUENCES, LENGTH), int)
    for t in range(1, LENGTH):
        thresholds = np.cumsum(TRUTH[states[:, t - 1]], axis=1)
        states[:, t] = (rng.random((SEQUENCES, 1)) > thresholds[:, :-1]).sum(axis=1)
    emitted = np.cumsum(EMISSIONS[states], axis=2)
    return (rng.random((SEQUENCES, LENGTH, 1)) > emitted[..., :-1]).sum(axis=2).astype(np.int32)


def transitions(key, matrix, symbols):
    """Draw the hidden states of one sequence, which begins in state 0; return the counts of their transitions."""
    likelihood = jnp.asarray(EMISSIONS)[:, symbols].T

    def forward(filtered, row):
        predicted = (filtered @ matrix) * row
        return predicted / jnp.sum(predicted), predicted / jnp.sum(predicted)

    first = jnp.eye(STATES, dtype=matrix.dtype)[0]
    _, filtered = jax.lax.scan(forward, first, likelihood[1:])
    filtered = jnp.concatenate([first[None], filtered])

    def backward(later, t):
        logits = jnp.log(filtered[t]) + jnp.log(matrix[:, later])
        state = jax.random.categorical(jax.random.fold_in(key, t), logits)
        return state, jnp.stack([state, later])

    last = jax.random.categorical(jax.random.fold_in(key, LENGTH), jnp.log(filtered[-1]))
    _, pairs = jax.lax.scan(backward, last, jnp.arange(LENGTH - 1), reverse=True)
    return jnp.zeros_like(matrix).at[pairs[:, 0], pairs[:, 1]].add(1)


def counts(key, matrix, batch):
    """Sum the counts of a batch of sequences."""
    keys = jax.random.split(key, batch.shape[0])
    return jnp.sum(jax.vmap(transitions, in_axes=(0, None, 0))(keys, matrix, batch), axis=0)


if __name__ == "__main__":
    sequences = simulate(np.random.default_rng(0))
    posterior = ConjugatePosterior(Simplex(), 0.1, counts, sequences)
    sampler = SCIR(ConjugateCounts(posterior, batch_size=50))  # its step is learnt in the warm-up
    start = np.full((STATES, STATES), 0.1, np.float32) + 0.7 * np.eye(STATES, dtype=np.float32)
    draws = sample(sampler, start, seed=0, num_chains=2, num_warmup=300, num_draws=1500, progress=False)
    matrix = draws["posterior"]["x"]
    print("posterior means of the transition matrix:")
    print(np.round(matrix.mean(("chain", "draw")).values, 3))
    print("truth:")
    print(TRUTH)
    print("step size", round(float(draws["sample_stats"]["step_size"].max()), 4))
