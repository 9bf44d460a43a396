"""A commented specification to begin with: what ``potentia new`` writes."""

from __future__ import annotations

from pathlib import Path

from potentia.errors import InvalidSpecification, look_up
from potentia.kernel.files import whole_file

_GENERAL = """\
# A study: every game, belief and rule below, for every combination of what varies, with every seed.
#   potentia sweep {file}        runs it, or goes on with it
#   potentia show {folder}          what came out
#   potentia export {folder} data.nc   (or .csv, .parquet)
# Change anything for one call with --set, as in: potentia sweep {file} --set seeds=5 --set rule.tau=0.2

"""

_RING = """\
name = "temperature on a ring"
steps = 20_000                  # of each run
seeds = 20                      # 0 to 19; or {{ first = 100, count = 20 }}, or a list
record = ["potential", "welfare"]   # also: profile, acceptance, taken, rejected, visits
every = 100                     # steps between records

[game]
name = "ring"                   # see: potentia games; or file = "payoffs.json"; or map = "paper", robots = 5
players = 50                    # its parameters; a list or a range makes an axis of the grid

[[rule]]                        # see: potentia rules; one such table for each rule to compare
name = "lll"
tau = [0.1, 0.2, 0.5]           # a list: each of them; "geometric:1:0.05" is a schedule

[[rule]]
name = "p-sblll"
tau = [0.1, 0.2, 0.5]           # or {{ from = 0.1, to = 0.5, count = 5 }}, with log = true, or with step = 0.1
revision = 0.1
guard = true

# zip = [["rule.tau", "rule.revision"]]   # lists of one length, side by side instead of crossed
"""

_COVERAGE = """\
name = "five robots on the paper's map"
steps = 2_000
seeds = 20
record = ["worth_sum", "worth_union", "targets_found"]   # also: moves, energy, taken, rejected, cells_seen, profile
every = 10

[game]
map = "paper"                   # or "random:3", or a file of worths: map.csv, .npy, .npz, an image
robots = 5
delta = 1.5                     # covering range, in cells
K = 3e-5                        # cost of moving by one cell
flags = true

[[rule]]
name = "blll"
tau = 5e-4

[[rule]]
name = "p-sblll"
tau = 5e-4
revision = "signal"             # Eq. 53; or a probability such as 0.3
# guard = true                  # of robots near each other only one moves at a time

# [[belief]]                    # robots that do not know the map; "none" for those that do
# name = "split-merge"
"""

_PAYOFFS = """\
name = "my game"
steps = 10_000
seeds = 50
record = ["welfare", "profile"]
every = 100

[game]
file = "payoffs.json"           # {{"payoffs": [[[4, 0], [3, 3]], [[4, 3], [0, 3]]]}}, shape (N, A_1, ..., A_N)

[[rule]]
name = "lll"
tau = {{ from = 0.05, to = 1.0, count = 6, log = true }}

[[rule]]
name = "blll"
tau = {{ from = 0.05, to = 1.0, count = 6, log = true }}
"""

TEMPLATES = {"ring": _RING, "coverage": _COVERAGE, "payoffs": _PAYOFFS}


def template(kind: str = "ring", file: str = "study.toml") -> str:
    """The text of a commented specification."""
    text = _GENERAL + look_up(TEMPLATES, kind, "kind", InvalidSpecification)
    return text.format(file=file, folder=str(Path(file).with_suffix(".study")))


def write_template(path: Path, kind: str = "ring") -> Path:
    """Write one; never over a file that is there."""
    text = template(kind, str(path))
    if path.exists():
        raise InvalidSpecification(f"{path} exists: give another name, or remove it first")
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path
