"""A commented specification to begin with: what ``potentia new`` writes."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from potentia.errors import InvalidSpecification
from potentia.kernel.checks import OneOf
from potentia.kernel.files import whole_file

TEMPLATES = ("ring", "coverage", "payoffs")  # files in the folder blank, which begin with this
_HEAD = """\
# A study: every game, belief and rule below, for every combination of what varies, with every seed.
#   potentia sweep {file}        runs it, or goes on with it
#   potentia show {folder}          what came out
#   potentia export {folder} data.nc   (or .csv, .parquet)
# Change anything for one call with --set, as in: potentia sweep {file} --set seeds=5 --set rule.tau=0.2

"""


def template(kind: str = "ring", file: str = "study.toml") -> str:
    """The text of a commented specification."""
    OneOf(*TEMPLATES).of(kind, "kind", InvalidSpecification)
    text = resources.files("potentia.studies").joinpath("blank", f"{kind}.toml").read_text("utf-8")
    return _HEAD.format(file=file, folder=str(Path(file).with_suffix(".study"))) + text


def write_template(path: Path, kind: str = "ring") -> Path:
    """Write one; never over a file that is there."""
    text = template(kind, str(path))
    if path.exists():
        raise InvalidSpecification(f"{path} exists: give another name, or remove it first")
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
