"""Topics of Python's own documentation by latent Dirichlet allocation, with the uncertainty of what it says.

Run: python examples/10_lda.py
"""

from __future__ import annotations

import numpy as np

from orthodrome import LDA
from orthodrome.corpora import python_docstrings

corpus = python_docstrings()
counts, words = corpus.counts, np.array(corpus.vocabulary)
test = np.arange(counts.shape[0]) % 10 == 0

model = LDA(10, num_warmup=60, num_draws=20, random_state=0).fit(counts[~test], vocabulary=corpus.vocabulary)

draws = model.draws_["posterior"]["topics"]  # (chain, draw, topic, word)
spread = np.asarray(draws).std(axis=(0, 1))
for k, top in enumerate(np.argsort(-model.components_, axis=1)[:, :5]):
    shown = ", ".join(f"{words[w]} {model.components_[k, w]:.3f} ± {spread[k, w]:.3f}" for w in top)
    print(f"topic {k} (alpha {model.doc_topic_prior_[k]:.2f}): {shown}")

mean, deviation = model.proportions(counts[test][:3])
for row, (m, s) in enumerate(zip(mean, deviation, strict=True)):
    print(f"document {row}: topic {m.argmax()} has {m.max():.2f} ± {s[m.argmax()]:.2f} of it")
print(f"held-out words: perplexity {model.perplexity(counts[test]):.0f} of {len(words)} words")
