"""Compiled programs on disk: a second process with the same model starts in seconds.

JAX can keep what XLA compiles in a folder and read it again where the program, its options, the versions and the kind
of machine are the same. `use_compilation_cache`, which every run calls, turns that on in a folder of the user's cache

    ~/.cache/orthodrome (Linux; XDG_CACHE_HOME counts), ~/Library/Caches/orthodrome (macOS),
    %LOCALAPPDATA%/orthodrome (Windows)

unless a folder has been chosen by JAX's own settings. The environment variable ORTHODROME_CACHE names another folder,
or is `off`. The oldest programs are removed when a process begins with more than LARGEST bytes of them. What a program
computes does not depend on where it came from; a folder that cannot be written is left alone.

When XLA reads a program it holds the compiler's tuning preferences against the machine's instruction sets, and on many
processors prints several kilobytes of false alarm for each (openxla/xla issue 44565). So messages of XLA below a fatal
error are turned off with the cache, unless the user has set a level of logging.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import jax
from jax.experimental.compilation_cache import compilation_cache

VARIABLE = "ORTHODROME_CACHE"
LARGEST = 1 << 30
"""The size limit of the folder, 1 GB: some hundred models."""
PROGRAM = "*-cache"
"""How JAX names the files of programs."""


@functools.cache
def use_compilation_cache() -> Path | None:
    """Let JAX keep compiled programs on disk, once per process; returns the folder, or None if it is off."""
    if os.environ.get(VARIABLE) == "off" or jax.config.values["jax_compilation_cache_dir"] is not None:
        return None
    folder = Path(os.environ.get(VARIABLE) or user_folder())
    if not _writable(folder):
        return None
    remove_oldest(folder, LARGEST)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)  # a run has dozens of small programs
    compilation_cache.reset_cache()  # JAX decides at its first operation that there is none
    _hush()
    return folder


def user_folder() -> Path:
    """Return the folder of this package in the user's cache."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "orthodrome"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "orthodrome"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "orthodrome"


def remove_oldest(folder: Path, largest: int) -> None:
    """Remove the programs that were written first until the rest has at most `largest` bytes."""
    found = [(path, path.stat()) for path in folder.glob(PROGRAM)]
    total = sum(about.st_size for _, about in found)
    for path, about in sorted(found, key=lambda pair: pair[1].st_mtime):
        if total <= largest:
            return
        path.unlink(missing_ok=True)  # another process may have been faster
        total -= about.st_size


def _hush() -> None:
    """Turn off XLA's own messages; those of Python's loggers stay as they are."""
    untouched = os.environ.get("TF_CPP_MIN_LOG_LEVEL", "1") == "1"  # what JAX itself sets
    if untouched and jax.config.values["jax_logging_level"] in (None, "NOTSET"):
        jax.config.update("jax_logging_level", "CRITICAL")
        jax.config.update("jax_logging_level", "NOTSET")  # of Python's loggers only


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
