"""The folder of a fit: made by one fit, written by one process at a time, and never on top of anything else.

folder/job.json                   the settings: `resume` needs nothing but the folder
folder/corpus.npz                 the rows; `training` says which of them the topics are learnt from
folder/vocabulary.txt             the word of each column
folder/documents.txt              the name of each row
folder/state/                     the checkpoint of the run, and its draws
folder/_orthodrome/marker.json    that the folder is ours; a demonstration says that it is one
folder/_orthodrome/inputs.json    checksums of the settings and documents, from which `resume` goes on
folder/_orthodrome/results.json   checksums of what was found, written last: a folder with it is finished
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from pathlib import Path

from orthodrome.errors import BadInput, CheckpointError
from orthodrome.jobs.topics.job import Job
from orthodrome.storage import checksums, files, ownership, store
from orthodrome.storage.listing import verify_list, write_list

INPUTS, RESULTS = f"{ownership.PLACE}/inputs.json", f"{ownership.PLACE}/results.json"
INPUT_FILES = ("job.json", "corpus.npz", "vocabulary.txt", "documents.txt")
"""The files from which a fit can be resumed."""
RESULT_FILES = ("result.npz", "summary.json")
"""The files that hold the result."""
ADVICE = "restore it, or fit again in a new folder"
"""What to do about a damaged file."""
DEMONSTRATION = "demonstration"
"""The owner in the marker of a demonstration's folder."""
OURS = re.compile(
    r"((job|summary)\.json|(corpus|result)\.npz|(vocabulary|documents|topic-keys|bottom-words|doc-topics|doc-topics-sd)"
    r"\.txt|topics\.csv|figures/(topics|map|trace)\.(png|svg)|state/(_orthodrome/(marker\.json|lock)|commit\.json|"
    rf"state-\d+\.npz|draws\.zarr/(_orthodrome/(marker\.json|lock|checksums\.json)|{store.OURS.pattern})))(\.part)?"
)
"""The names of the files of a fit."""


def refuse_occupied(folder: Path) -> None:
    """Raise unless the folder is new or empty; called before anything is read."""
    try:
        occupied = folder.is_dir() and any(folder.iterdir()) and not cut_off(folder)
    except OSError as error:
        raise BadInput(f"cannot write to {folder}: {error.strerror}; choose another --output") from error
    if occupied:
        hint = "go on with `orthodrome topics resume`, or choose" if (folder / "job.json").exists() else "choose"
        raise BadInput(f"{folder} is not empty; {hint} another --output")


def cut_off(folder: Path) -> bool:
    """Return whether a fit was killed before its inputs were complete: nothing was drawn yet."""
    return (folder / ownership.PLACE).is_dir() and not (folder / INPUTS).exists()


def begin(folder: Path, locks: contextlib.ExitStack, owner: str = "") -> None:
    """Make the folder and lock it until the fit ends; incomplete inputs of a killed fit are removed."""
    try:
        ownership.claim(folder, "fit", locks, owner)
        ownership.clear(folder, OURS)
    except CheckpointError as error:
        raise BadInput(f"{error} (--output)") from error


def go_on(folder: Path, locks: contextlib.ExitStack) -> None:
    """Lock the folder of a fit that is resumed, and raise unless its settings and documents are those that were
    saved."""
    ownership.claim(folder, "fit", locks)
    verify_list(folder, INPUTS, ADVICE)


def seal_inputs(folder: Path) -> None:
    """Write the checksums of the settings and documents; after this the fit can be resumed."""
    write_list(folder, INPUTS, INPUT_FILES)


def reopen(folder: Path) -> None:
    """Mark the fit as unfinished before its results are written, or written again."""
    (folder / RESULTS).unlink(missing_ok=True)


def seal_results(folder: Path) -> None:
    """Write the checksums of the results: the fit is finished."""
    write_list(folder, RESULTS, RESULT_FILES)


def unfinished(folder: Path) -> bool:
    """Return whether a fit was begun in the folder and has no complete result."""
    found = all((folder / name).exists() for name in (RESULTS, *RESULT_FILES))
    return (folder / INPUTS).exists() and not found


def verify(folder: Path) -> None:
    """Raise unless the inputs, and the results of a finished fit, are those that were written."""
    ownership.read_marker(folder, "fit")
    verify_list(folder, INPUTS, ADVICE)
    if (folder / RESULTS).exists():
        verify_list(folder, RESULTS, ADVICE)


def clear_demonstration(folder: Path) -> None:
    """Remove an earlier demonstration and nothing else: no other fit, and no other file in its folder."""
    if not (folder / ownership.PLACE).is_dir():
        return refuse_occupied_by_other(folder)
    with contextlib.ExitStack() as locks:
        if ownership.claim(folder, "fit", locks).owner != DEMONSTRATION:
            refuse_occupied_by_other(folder)
        ownership.clear(folder, OURS)
        for name in (INPUTS, RESULTS):
            (folder / name).unlink(missing_ok=True)


def refuse_occupied_by_other(folder: Path) -> None:
    """Raise if the folder holds anything."""
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(f"{folder} holds something else than a demonstration, and is left alone; choose another --out")


def save_job(job: Job, folder: Path) -> None:
    """Write the settings."""
    files.write_json(folder / "job.json", checksums.sealed(dataclasses.asdict(job)))


def load_job(folder: Path) -> Job:
    """Return the settings in a folder, or raise if there is no fit of this version in it."""
    path = folder / "job.json"
    if not path.is_file():
        raise BadInput(f"{folder} holds no fit: there is no {path}; make one with `orthodrome topics fit --output DIR`")
    content = checksums.read_sealed(path, ADVICE)
    try:
        return Job(**content)
    except TypeError as error:
        raise CheckpointError(f"{path} is of another version ({error}): fit again in a new folder") from error
