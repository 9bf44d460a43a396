"""Each question of how-do-i.md as a page of its own, so that the search leads to the answer."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

_QUESTION = re.compile(r"^### (How do I [^\n]*)\n(.*?)(?=^##|\Z)", re.M | re.S)
_FIRST = re.compile(r"```python\n(.*?)```", re.S)
_PLACE = re.compile(r"\]\((?!https?:|#)")


def write(page: Path, folder: Path) -> None:
    """The pages of all questions; those of an earlier build are removed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text = page.read_text(encoding="utf-8")
    head = _FIRST.search(text)[1].strip()  # type: ignore[index]
    for title, answer in _QUESTION.findall(text):
        whole = answer.replace("```python\n", f"```python\n{head}\n\n", 1)
        name = re.sub(r"\W+", "-", title.lower().removeprefix("how do i ")).strip("-")
        (folder / f"{name}.md").write_text(f"# {title}\n{_PLACE.sub('](../', whole)}", encoding="utf-8")


def listed(app: Any, name: str, source: list[str]) -> None:
    """The pages belong to the one that they are from."""
    if name == "how-do-i":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\nhow/*\n```\n"
        source[0] = f"---\nnosearch: true\n---\n{source[0]}"
