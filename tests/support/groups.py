"""Which tests run in one process, where pytest-xdist runs several (`--dist loadgroup`)."""

from __future__ import annotations

import re

GROUPS = {
    "topics": (
        *("models/sam/", "models/lda/", "models/topics/", "experiments/test_sam.py", "experiments/test_lda.py"),
        *("cli/test_topics.py", "jobs/test_topics_files.py", "corpora/test_mapped.py", "kernels/test_assignments.py"),
    ),
    "mixture": ("models/mixture/", "cli/test_cluster.py"),
    "runs": (
        *("run/", "storage/test_checkpoint.py", "storage/test_damage.py", "storage/test_draws.py"),
        *("storage/test_integrity.py", "storage/test_ownership.py", "storage/test_settings_first.py"),
    ),
}
"""Tests of the same numba kernels, or of the same compiled run, go to one process: two would compile them twice. So do
the tests of one file, which share fixtures and programs."""
EACH_ALONE = (
    "samplers/test_stay_in_truth.py",
    "samplers/test_discrete_law.py",
    "samplers/test_controls.py",
    "experiments/",
    "test_examples.py",
    "test_readme.py",
    "test_public_names.py",
)
"""Files whose tests share next to nothing: they fill whichever process is free."""
EACH_CASE = ("samplers/test_contract.py", "manifolds/test_contract.py")
"""Files whose tests of one sampler, or of one manifold, share its compiled functions."""


def group_of(nodeid: str) -> str:
    """Which tests go to one process: all whose group is the same."""
    path, _, test = nodeid.removeprefix("tests/").partition("::")
    named = [name for name, parts in GROUPS.items() if path.startswith(parts)]
    if named:
        return named[0]
    if path.startswith(EACH_CASE):
        return f"{path} {re.sub('^float(32|64)-', '', test.partition('[')[2])}"
    return nodeid if path.startswith(EACH_ALONE) else path
