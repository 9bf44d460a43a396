"""``python -m tests.peers``: what pygambit reads in the files of ``gambit.py``, into ``gambit.json``."""

from __future__ import annotations

import json
from pathlib import Path

import pygambit

from tests.peers.gambit import corpus, read

TARGET = Path(__file__).with_name("gambit.json")


def main() -> None:
    lines = [
        json.dumps({"name": name, "text": text, "reads": read(pygambit, text)}, separators=(",", ":"))
        for name, text in corpus(pygambit)
    ]
    about = json.dumps(f"pygambit {pygambit.__version__}")
    TARGET.write_text(f'{{"by":{about},"files":[\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
