"""The format of checkpoints, and the refusal of those that another version wrote, which says which version that was.

1   the first versions; topics of `SAM` had a format of their own (settings.json, draws/000041.npy)
2   one format for every run; statistics of the warm-up have blocks of their own
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from orthodrome.errors import CheckpointError

FORMAT = 2


def refuse_other_formats(folder: Path, commit: dict[str, Any]) -> None:
    """Raise unless the commit of a folder has the present format."""
    if commit.get("format") == FORMAT:
        return
    raise CheckpointError(
        f"the checkpoint in {folder} was written by orthodrome {writer_of(folder, commit)}, in a format that this "
        "version does not read: finish the run with that version, or start in a new folder"
    )


def writer_of(folder: Path, commit: dict[str, Any]) -> str:
    """Return the version of the package that wrote a checkpoint, as far as it says so."""
    identity = commit.get("fingerprint") or _topics_identity(folder)
    return str(identity.get("versions", {}).get("orthodrome", "of an unknown version"))


def _topics_identity(folder: Path) -> dict[str, Any]:
    """What the topics of format 1 had in place of a fingerprint."""
    try:
        return dict(json.loads((folder / "settings.json").read_text())["identity"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
