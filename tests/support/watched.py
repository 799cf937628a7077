"""Folders of runs that were never run: events as a run writes them."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

from orthodrome.storage import checksums, files

CHUNK = {"event": "chunk", "phase": "draws", "planned": 100, "divergences": 3, "rate": 2.0, "acceptance": 0.8}


def folder_with(tmp_path: Path, *events: dict[str, Any], process: int | None = None, host: str = "") -> Path:
    place = tmp_path / "run" / "_orthodrome"
    place.mkdir(parents=True, exist_ok=True)
    files.write_json(place / "marker.json", checksums.sealed({"kind": "checkpoint"}))
    who = {"process": os.getpid() if process is None else process, "host": host or socket.gethostname()}
    begin = {"event": "begin", "time": 1000.0, "phase": "draws", "done": 0, "planned": 100, **who}
    lines = [begin, *(event | {"time": 1000.0 + k} for k, event in enumerate(events, start=1))]
    (place / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "run"
