"""Corpora on disk: what is written is read, streams and damage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from orthodrome import LDA
from orthodrome.corpora import open_mapped, write_mapped
from orthodrome.errors import BadInput

COUNTS = scipy.sparse.csr_array(np.random.default_rng(0).poisson(0.6, (40, 12)))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(12)]
    write_mapped((COUNTS[i : i + 9] for i in range(0, 40, 9)), tmp_path / "c", documents=40, vocabulary=words)
    corpus = open_mapped(tmp_path / "c")
    assert len(corpus) == 40 and corpus.vocabulary == tuple(words)
    assert np.array_equal(corpus.rows(0, 40).toarray(), COUNTS.toarray())
    assert np.array_equal(np.vstack([b.toarray() for b in corpus.batches(7)]), COUNTS.toarray())
    assert not corpus.indices.flags.writeable
    shuffled = write_mapped(COUNTS, tmp_path / "d", shuffle=3).rows(0, 40).toarray()
    assert not np.array_equal(shuffled, COUNTS.toarray())
    assert np.array_equal(np.sort(shuffled.sum(axis=1)), np.sort(COUNTS.toarray().sum(axis=1)))


def test_a_stream_that_ends_early_leaves_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ended after 20 of 40 documents"):
        write_mapped([COUNTS[:20]], tmp_path, documents=40)

    def broken():  # type: ignore[no-untyped-def]
        yield COUNTS[:20]
        raise OSError("the line went dead")

    with pytest.raises(OSError, match="dead"):
        write_mapped(broken(), tmp_path)
    with pytest.raises(BadInput, match=r"about\.json is missing"):
        open_mapped(tmp_path)
    assert len(write_mapped(COUNTS, tmp_path)) == 40


def test_wrong_counts_are_named(tmp_path: Path) -> None:
    bad = COUNTS.astype(float).tolil()
    bad[5, 3] = -2.0
    with pytest.raises(BadInput, match=r"block 1: document 45 has a count of -2\.0"):
        write_mapped([COUNTS, bad.tocsr()], tmp_path)
    with pytest.raises(BadInput, match="block 1 has 11 columns, those before it have 12"):
        write_mapped([COUNTS, COUNTS[:, :11]], tmp_path)
    for nothing in ([], [scipy.sparse.csr_array((3, 4))]):
        with pytest.raises(BadInput, match="all counts are 0"):
            write_mapped(nothing, tmp_path)


def test_damage_is_found(tmp_path: Path) -> None:
    write_mapped(COUNTS, tmp_path, vocabulary=list("abcdefghijkl"))
    whole = (tmp_path / "indices.npy").read_bytes()
    (tmp_path / "indices.npy").write_bytes(whole[:-40])
    with pytest.raises(BadInput, match=r"cannot read .*indices.npy"):
        open_mapped(tmp_path)
    (tmp_path / "indices.npy").write_bytes(whole[:-4] + np.int32(99).tobytes())
    with pytest.raises(BadInput, match=r"document 39 has the word 99, but there are 12"):
        open_mapped(tmp_path)
    (tmp_path / "indices.npy").write_bytes(whole)
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(BadInput, match="has 2 words"):
        open_mapped(tmp_path)
    facts = json.loads((tmp_path / "about.json").read_text())
    (tmp_path / "about.json").write_text(json.dumps(facts | {"documents": 39}))
    with pytest.raises(BadInput, match="do not agree"):
        open_mapped(tmp_path)


def test_lda_reads_it(tmp_path: Path) -> None:
    corpus, quick = write_mapped(COUNTS, tmp_path), {"num_warmup": 2, "num_draws": 2, "random_state": 0, "n_jobs": 1}
    for method in ("gibbs", "scir"):
        model = LDA(3, method=method, batch_size=10, **quick).fit(corpus)
        assert model.components_.shape == (3, 12) and np.isfinite(model.components_).all()
    np.testing.assert_array_equal(model.transform(corpus), model.transform(COUNTS))
    stream = LDA(3, total_documents=40, **quick)
    for batch in corpus.batches(20):
        stream.partial_fit(batch)
    assert stream.n_iter_ == 2
    with pytest.raises(BadInput, match=r"corpus.rows\(begin, end\)"):
        model.perplexity(corpus)
    with pytest.raises(BadInput, match="fitted with 11 features"):
        LDA(2, **quick).fit(COUNTS[:, :11]).transform(corpus)
