"""The folder of a fit of topics (see `jobs.fit_folder`), and that of the demonstration.

folder/corpus.npz        the rows; `training` says which of them the topics are learnt from
folder/vocabulary.txt    the word of each column
folder/documents.txt     the name of each row
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from orthodrome.errors import BadInput
from orthodrome.jobs.fit_folder import INPUTS, RESULTS, FitFolder
from orthodrome.jobs.topics.job import Job
from orthodrome.storage import ownership

FITS = FitFolder(
    Job,
    command="topics",
    kind="fit",
    inputs=("job.json", "corpus.npz", "vocabulary.txt", "documents.txt"),
    results=("result.npz", "summary.json"),
    ours=r"(job|summary)\.json|(corpus|result)\.npz|(vocabulary|documents|topic-keys|bottom-words|doc-topics|"
    r"doc-topics-sd)\.txt|topics\.csv|figures/(topics|map|trace)\.(png|svg)",
)
DEMONSTRATION = "demonstration"
"""The owner in the marker of a demonstration's folder."""


def clear_demonstration(folder: Path) -> None:
    """Remove an earlier demonstration and nothing else: no other fit, and no other file in its folder."""
    if not (folder / ownership.PLACE).is_dir():
        return refuse_occupied_by_other(folder)
    with contextlib.ExitStack() as locks:
        if ownership.claim(folder, FITS.kind, locks).owner != DEMONSTRATION:
            refuse_occupied_by_other(folder)
        ownership.clear(folder, FITS.names)
        for name in (INPUTS, RESULTS):
            (folder / name).unlink(missing_ok=True)


def refuse_occupied_by_other(folder: Path) -> None:
    """Raise if the folder holds anything."""
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(f"{folder} holds something else than a demonstration, and is left alone; choose another --out")
