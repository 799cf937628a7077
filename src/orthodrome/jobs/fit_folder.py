"""The folder of a fit: made by one fit, written by one process at a time, and never on top of anything else.

folder/job.json                   the settings: `resume` needs nothing but the folder
folder/...                        the other inputs and the results of the command
folder/report.html                the report page
folder/state/                     the checkpoint of the run, and its draws
folder/_orthodrome/marker.json    that the folder is ours, and of which kind
folder/_orthodrome/inputs.json    checksums of the settings and the data, from which `resume` goes on
folder/_orthodrome/results.json   checksums of what was found, written last: a folder with it is finished
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

from orthodrome.errors import BadInput, CheckpointError, Unsupported
from orthodrome.storage import checksums, files, ownership, store
from orthodrome.storage.listing import verify_list, write_list

INPUTS, RESULTS = f"{ownership.PLACE}/inputs.json", f"{ownership.PLACE}/results.json"
ADVICE = "restore it, or fit again in a new folder"
"""What to do about a damaged file."""
ROOM = "make room (or the folder writable) and"
"""What to do if something cannot be written."""
STATE = (
    r"state(-tempered)?/(_orthodrome/(marker\.json|lock|events\.jsonl|stop)|commit\.json|"
    rf"state-\d+\.npz|draws\.zarr/(_orthodrome/(marker\.json|lock|checksums\.json)|{store.OURS.pattern}))"
)
"""The names of the files of the run inside a fit, as a regular expression."""

Job = TypeVar("Job")


@dataclasses.dataclass(frozen=True)
class FitFolder(Generic[Job]):
    """What the folders of one command's fits have in common.

    job: the dataclass of the settings; command: whose fits they are; kind: of the folder, in its marker
    inputs, results: the files from which a fit is resumed, and those that hold what it found
    ours: the names of all files of a fit but those of the run, as a regular expression
    begins: what begins one, after the command
    """

    job: type[Job]
    command: str
    kind: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    ours: str
    begins: str = "fit"

    @property
    def names(self) -> re.Pattern[str]:
        """The names of the files of a fit."""
        return re.compile(rf"({self.ours}|report\.html|{STATE})(\.part)?")

    def refuse_occupied(self, folder: Path) -> None:
        """Raise unless the folder is new or empty; called before anything is read."""
        try:
            occupied = folder.is_dir() and any(folder.iterdir()) and not self.cut_off(folder)
        except OSError as error:
            raise BadInput(f"cannot write to {folder}: {error.strerror}; choose another --output") from error
        if occupied:
            go_on = f"go on with `orthodrome {self.command} resume`, or choose"
            hint = go_on if (folder / "job.json").exists() else "choose"
            raise BadInput(f"{folder} is not empty; {hint} another --output")

    def cut_off(self, folder: Path) -> bool:
        """Return whether a fit was killed before its inputs were complete: nothing was drawn yet."""
        return (folder / ownership.PLACE).is_dir() and not (folder / INPUTS).exists()

    def begin(self, folder: Path, locks: contextlib.ExitStack, owner: str = "") -> None:
        """Make the folder and lock it until the fit ends; incomplete inputs of a killed fit are removed."""
        try:
            ownership.claim(folder, self.kind, locks, owner)
            ownership.clear(folder, self.names)
        except CheckpointError as error:
            raise BadInput(f"{error} (--output)") from error

    def go_on(self, folder: Path, locks: contextlib.ExitStack) -> None:
        """Lock the folder of a fit that is resumed, and raise unless its inputs are those that were saved."""
        ownership.claim(folder, self.kind, locks)
        verify_list(folder, INPUTS, ADVICE)

    def seal_inputs(self, folder: Path) -> None:
        """Write the checksums of the inputs; after this the fit can be resumed."""
        write_list(folder, INPUTS, self.inputs)

    def sealed(self, folder: Path) -> bool:
        """Return whether the inputs of a fit are complete."""
        return (folder / INPUTS).is_file()

    @contextlib.contextmanager
    def refused(self, folder: Path) -> Iterator[None]:
        """Let the same command begin again in the folder if the model is refused before its first draw."""
        try:
            yield
        except (BadInput, Unsupported):
            if not any(folder.glob("state*/commit.json")):
                (folder / INPUTS).unlink(missing_ok=True)  # as after a kill before the inputs were complete
            raise

    def reopen(self, folder: Path) -> None:
        """Mark the fit as unfinished before its results are written, or written again."""
        (folder / RESULTS).unlink(missing_ok=True)

    def seal_results(self, folder: Path) -> None:
        """Write the checksums of the results: the fit is finished."""
        write_list(folder, RESULTS, self.results)

    def unfinished(self, folder: Path) -> bool:
        """Return whether a fit was begun in the folder and has no complete result."""
        found = all((folder / name).exists() for name in (RESULTS, *self.results))
        return (folder / INPUTS).exists() and not found

    def require(self, folder: Path) -> None:
        """Raise if the folder holds no fit of this command and version."""
        if not (folder / "job.json").is_file():
            self.load_job(folder)
        ownership.refuse_foreign(folder, self.kind)

    def verify(self, folder: Path) -> None:
        """Raise unless the inputs, and the results of a finished fit, are those that were written."""
        ownership.read_marker(folder, self.kind)
        verify_list(folder, INPUTS, ADVICE)
        if (folder / RESULTS).exists():
            verify_list(folder, RESULTS, ADVICE)

    def save_job(self, job: Any, folder: Path) -> None:
        """Write the settings."""
        files.write_json(folder / "job.json", checksums.sealed(dataclasses.asdict(job)))

    def load_job(self, folder: Path) -> Job:
        """Return the settings in a folder, or raise if there is no fit of this version in it."""
        path = folder / "job.json"
        if not path.is_file():
            make = f"make one with `orthodrome {self.command} {self.begins} --output DIR`"
            raise BadInput(f"{folder} holds no fit: there is no {path}; {make}")
        content = checksums.read_sealed(path, ADVICE)
        try:
            return self.job(**content)
        except TypeError as error:
            raise CheckpointError(f"{path} is of another version ({error}): fit again in a new folder") from error

    @contextlib.contextmanager
    def writing(self, folder: Path) -> Iterator[None]:
        """Raise a one-line error, which says how to go on, if the folder cannot be written."""
        try:
            yield
        except OSError as error:
            begun = f"what was drawn is kept: {ROOM} go on with `orthodrome {self.command} resume {folder}`"
            then = begun if self.sealed(folder) else f"nothing is drawn yet: {ROOM} give the same command again"
            raise CheckpointError(
                f"cannot write {error.filename or folder}: {error.strerror or error}; {then}"
            ) from error
