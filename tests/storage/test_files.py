"""Files that cannot be written to their end, as on a full disk, leave what was there and nothing beside it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from orthodrome.plots import style
from orthodrome.storage import files


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    files.write_bytes(path, b"before")
    with pytest.raises(OSError, match="full"), files.replacing(path, text=True) as file:
        file.write("after, in pa")
        raise OSError(28, "full")
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["a.csv"]
    with files.replacing(path, text=True) as file:
        file.write("ä\r\n")
    assert path.read_bytes() == "ä\r\n".encode()


LIMITED = """
import resource, sys
from pathlib import Path
import numpy as np
from orthodrome.plots import style
from orthodrome.storage import files
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
figure, axes = style.new_figure(1, 1, (3, 2))
axes[0, 0].plot([0, 1])
folder = Path(sys.argv[1])
for write in (
    lambda: files.write_arrays(folder / "a.npz", {"a": np.zeros(1000)}),
    lambda: files.write_json(folder / "a.json", list(range(1000))),
    lambda: style.save(figure, folder / "a"),
):
    try:
        write()
    except OSError as error:
        print(error.strerror)
"""


def test_a_limit_of_sizes_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, tmp_path], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["File too large"] * 3, done.stderr
    assert os.listdir(tmp_path) == []


def test_figures_are_written(tmp_path: Path) -> None:
    figure, axes = style.new_figure(1, 1, (3, 2))
    axes[0, 0].plot(np.arange(3))
    style.save(figure, tmp_path / "a")
    assert sorted(os.listdir(tmp_path)) == ["a.png", "a.svg"]
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG" and b"</svg>" in (tmp_path / "a.svg").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("size", [500, 5_000, 30_000, 200_000])
def test_a_command_that_cannot_write_is_one_line_and_goes_on_later(size: int, tmp_path: Path) -> None:
    """Files of some sizes cannot be written: inputs, the state, draws, figures, the page, whichever comes first."""
    (tmp_path / "sets.csv").write_text("winners,losers\n" + "a,b\nb,c\na,c\nc,b\n" * 20)
    line = ["compare-teams", "fit", "--input", "sets.csv", "--num-warmup", "100", "--num-draws", "100", "--quiet"]

    def run(*words: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
        bound = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        command = [sys.executable, "-m", "orthodrome", *words]
        return subprocess.run(command, cwd=tmp_path, preexec_fn=bound, capture_output=True, text=True, timeout=900)

    refused = run(*line, "--output", "fit", limit=size)
    assert refused.returncode == 1
    assert refused.stderr.startswith("orthodrome: c") and refused.stderr.count("\n") == 1, refused.stderr
    assert "File too large" in refused.stderr
    assert list((tmp_path / "fit").rglob("*.part*")) == []
    sealed = (tmp_path / "fit" / "_orthodrome" / "inputs.json").exists()
    again = ["compare-teams", "resume", "fit", "--quiet"] if sealed else [*line, "--output", "fit"]
    assert run(*again).returncode == 0
    assert run(*line, "--output", "whole").returncode == 0
    for name in ("strengths.csv", "contests.csv"):
        assert (tmp_path / "fit" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
