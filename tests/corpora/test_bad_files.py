"""Readers believe nothing: what is malformed, endless or impossible is one line, before memory is taken."""

from __future__ import annotations

import gzip
import io
import os
import re
import resource
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from orthodrome.corpora import archive as archives
from orthodrome.corpora import opening, read_corpus, tfidf
from orthodrome.errors import BadInput

GOOD: dict[str, Any] = {
    "data": np.array([1, 2, 3]),
    "indices": np.array([0, 2, 1]),
    "indptr": np.array([0, 2, 3]),
    "shape": np.array([2, 3]),
    "format": np.array(b"csr"),
}


def npz(path: Path, **changes: Any) -> Path:
    np.savez(path, **{name: array for name, array in (GOOD | changes).items() if array is not None})
    return path


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(BadInput) as caught:
        read_corpus(path, **options)
    text = str(caught.value)
    assert str(path) in text and "\n" not in text
    return text


MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "index too large": ({"indices": np.array([0, 3, 1])}, "row 0: the column index 3 is out of range for 3"),
    "index below zero": ({"indices": np.array([0, 2, -1])}, "row 1: the column index -1 is out of range"),
    "falling pointers": ({"indptr": np.array([0, 4, 3]), "shape": np.array([2, 3])}, "fall at row 1"),
    "pointers past the end": ({"indptr": np.array([0, 2, 9])}, "go from 0 to 9, but there are 3 entries"),
    "too few pointers": ({"indptr": np.array([0, 3])}, "2 row pointers for 2 rows"),
    "too few values": ({"data": np.array([1, 2])}, "do not belong together"),
    "negative count": ({"data": np.array([1, -2, 3])}, "row 0, column 2 .* a count below zero"),
    "not finite": ({"data": np.array([1.0, np.nan, 3])}, "row 0, column 2 .* not finite"),
    "too large": ({"data": np.array([1, 2**63 + 1, 3], np.uint64)}, "above 2"),
    "complex": ({"data": np.array([1, 2, 3j])}, "complex128"),
    "words": ({"data": np.array(["a", "b", "c"])}, "neither counts nor weights"),
    "float indices": ({"indices": np.array([0.0, 2.0, 1.0])}, "not whole numbers"),
    "a billion words": ({"shape": np.array([2, 10**9])}, "claims 1,000,000,000 words, but has 3 entries"),
    "a trillion documents": ({"shape": np.array([10**12, 3])}, "claims 1,000,000,000,000 documents"),
    "negative shape": ({"shape": np.array([2, -3])}, "claims -3 words"),
    "three axes": ({"shape": np.array([2, 3, 4])}, "not two whole numbers"),
    "no format": ({"format": None}, "not a sparse matrix as SciPy saves it"),
    "no data": ({"data": None}, "it has no data"),
    "another form": ({"format": np.array(b"dia")}, "save it as CSR"),
    "two-dimensional data": ({"data": np.ones((3, 1))}, "do not belong together"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_matrix_is_refused(tmp_path: Path, case: str) -> None:
    changes, text = MALFORMED[case]
    found = refused(npz(tmp_path / "x.npz", **changes))
    assert re.search(text, found), found


def test_whole_matrices_of_all_forms_are_read(tmp_path: Path) -> None:
    table = np.array([[1, 0, 2], [0, 3, 0]])
    for name, form in {
        "csr": scipy.sparse.csr_array,
        "csc": scipy.sparse.csc_array,
        "coo": scipy.sparse.coo_array,
    }.items():
        scipy.sparse.save_npz(tmp_path / f"{name}.npz", form(table))
        np.testing.assert_array_equal(read_corpus(tmp_path / f"{name}.npz").counts.toarray(), table)


def bomb(path: Path, claimed: int) -> Path:
    """A zip file with an array of zeros that says it is `claimed` bytes long, and packs to a thousandth of it."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|i1", "fortran_order": False, "shape": (claimed,)})
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file,
        file.open("data.npy", "w", force_zip64=True) as stream,
    ):
        stream.write(header.getvalue())
        for _ in range(claimed >> 20):
            stream.write(bytes(1 << 20))
    return path


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bomb(tmp_path / "x.npz", 1 << 28)
    monkeypatch.setattr(archives, "physical_memory", lambda: 1 << 28)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "unpacks to 0.3 GB, more than half of the memory" in refused(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB


def test_a_header_that_lies_about_its_length_is_refused(tmp_path: Path) -> None:
    path = npz(tmp_path / "x.npz")
    with zipfile.ZipFile(path) as file:
        content = {name: file.read(name) for name in file.namelist()}
    content["data.npy"] = content["data.npy"].replace(b"(3,)", b"(9,)")
    with zipfile.ZipFile(path, "w") as file:
        for name, data in content.items():
            file.writestr(name, data)
    assert "data.npy claims 72 bytes, but has 24" in refused(path)


def test_pickles_are_not_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **(GOOD | {"data": np.array([1, {}, 3], object)}))
    assert "Python objects" in refused(tmp_path / "x.npz")


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_matrix_is_read_right_or_refused(tmp_path: Path, seed: int) -> None:
    """Twenty flipped bits each; the zip file's own checksums see those in the numbers."""
    random = np.random.default_rng(seed)
    path = npz(tmp_path / "x.npz")
    whole = bytearray(path.read_bytes())
    for place in random.integers(len(whole), size=20):
        whole[place] ^= 1 << int(random.integers(8))
    path.write_bytes(whole)
    try:
        found = read_corpus(path)
    except BadInput:
        return
    np.testing.assert_array_equal(found.counts.toarray(), [[1, 0, 2], [0, 3, 0]])


DOCWORD: dict[str, tuple[str, str]] = {
    "a billion words": ("2\n1000000000\n1\n1 1 1\n", "lines 1 to 3, claims 1,000,000,000 words"),
    "a trillion documents": ("1000000000000\n2\n1\n1 1 1\n", "claims 1,000,000,000,000 documents"),
    "a trillion entries": ("2\n2\n1000000000000\n1 1 1\n", "has 1 entries, but its third line says 1000000000000"),
    "a negative head": ("-2\n2\n1\n1 1 1\n", "line 1: '-2' is not a number"),
    "a head of digits": (f"{'9' * 5000}\n2\n1\n1 1 1\n", "line 1"),
    "too many entries": ("2\n2\n1\n1 1 1\n2 1 1\n", "line 5: there are more entries than the 1"),
    "a negative count": ("2\n2\n1\n1 1 -1\n", "line 4: .* is out of range"),
    "an overflow": (f"2\n2\n1\n1 1 {10**30}\n", "line 4"),
    "two signs": ("2\n2\n1\n1 1 --1\n", "line 4: '1 1 --1' is not `document word count`"),
    "a comment": ("2\n2\n2\n1 1 1\n# a remark\n", "line 5: '# a remark'"),
    "a fraction": ("2\n2\n1\n1 1 1.5\n", "line 4"),
    "an empty line inside": ("2\n2\n2\n1 1 1\n\n2 2 1\n", "line 6|line 5"),
    "other digits": ("2\n2\n1\n1 1 ²\n", "line 4"),
    "four columns": ("2\n2\n1\n1 1 1 1\n", "line 4"),
    "nothing": ("", "line 1"),
}


@pytest.mark.parametrize("case", DOCWORD)
def test_bad_docword_files(tmp_path: Path, case: str) -> None:
    content, text = DOCWORD[case]
    path = tmp_path / "docword.x.txt"
    path.write_text(content)
    found = refused(path)
    assert re.search(text, found), found


@pytest.mark.parametrize("line", ["1 99999999999:1", "1 0:99999999999999999999", "1 2000000000:1", "1 -1:1", "1 0:0"])
def test_bad_ldac_files(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.ldac"
    path.write_text(f"1 0:1\n{line}\n")
    assert "line 2" in refused(path) or "claims" in refused(path)


def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    for name in ("pipe.txt", "pipe.npz", "pipe.ldac", "docword.pipe.txt", "pipe.jsonl", "pipe.csv"):
        os.mkfifo(tmp_path / name)
        assert "it is a pipe" in refused(tmp_path / name)
    scipy.sparse.save_npz(tmp_path / "good.npz", scipy.sparse.csr_array(np.eye(3, dtype=int)))
    with pytest.raises(BadInput, match="it is a pipe"):
        read_corpus(tmp_path / "good.npz", vocabulary=tmp_path / "pipe.txt")


def test_a_packed_text_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.txt.gz"
    monkeypatch.setattr(opening, "FREE_BYTES", 1 << 20)
    path.write_bytes(gzip.compress(b"word " * 2_000_000))
    assert "unpacks to more than 100 times" in refused(path)


DAMAGED = {
    "cut": gzip.compress(b"some words", mtime=0)[:-6],
    "nonsense": b"\x1f\x8b\x08" + b"\x07" * 30,
    "plain": b"no gzip",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_packed_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.txt.gz"
    path.write_bytes(content)
    assert "cannot read" in refused(path)


@pytest.mark.parametrize("encoding", ["nonsense", "base64", "rot13", "idna", "a\0b", ""])
def test_encodings_that_are_none(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"caf\xe9 and more..words\n")
    with pytest.raises(BadInput):
        read_corpus(path, encoding=encoding)


def test_the_line_of_a_bad_byte_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"one two\nthree four\ncaf\xe9 five\n")
    assert "x.txt, line 3 is not utf-8 text: it has a byte 0xe9" in refused(path)


def test_a_byte_order_mark_is_no_character(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "ships harbour"}\n')
    assert read_corpus(path).vocabulary == ("harbour", "ships")


@pytest.mark.parametrize("line", ["[" * 100_000, '{"text": 3}', "[]", "{", '{"a": 1}', "9" * 5000])
def test_bad_json_lines(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "one"}\n' + line + "\n")
    assert "line 2" in refused(path)


def test_names_that_are_half_a_character_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "ships harbour", "name": "\\ud800", "label": "\\udfff"}\n')
    corpus = read_corpus(path)
    assert corpus.names == ("\\ud800",) and corpus.labels == ("\\udfff",)


def test_empty_lines_after_the_words_are_no_words(tmp_path: Path) -> None:
    scipy.sparse.save_npz(tmp_path / "good.npz", scipy.sparse.csr_array(np.eye(2, dtype=int)))
    (tmp_path / "vocab.txt").write_text("one\ntwo\n\n\n")
    assert read_corpus(tmp_path / "good.npz").vocabulary == ("one", "two")


def test_weights_of_a_malformed_matrix(tmp_path: Path) -> None:
    """In memory as in a file: SciPy's compiled code would read outside its arrays."""
    wrong = scipy.sparse.csr_array(np.eye(3))
    wrong.indices[1] = 7_000_000
    with pytest.raises(BadInput, match="the column index 7000000 is out of range"):
        tfidf(wrong)
