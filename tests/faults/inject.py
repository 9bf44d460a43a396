"""One potentia command with one fault: ``python -m tests.faults.inject --fail-at 7 --how enospc -- new study.toml``.

With ``--count`` nothing fails, and the events are listed on standard error.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.faults import hooks


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.inject", description=__doc__)
    parser.add_argument("--fail-at", type=int, default=0, metavar="N", help="the event that fails, from 1")
    parser.add_argument("--how", choices=hooks.HOWS, default="kill", help="; ".join(map(": ".join, hooks.HOWS.items())))
    parser.add_argument("--watch", type=Path, default=Path(), help="count what happens below this folder, else here")
    parser.add_argument("--count", action="store_true", help="only list the events")
    parser.add_argument("arguments", nargs="+", metavar="...", help="of potentia, after --")
    given = parser.parse_args()
    hooks.install()
    if any(word.endswith(".parquet") for word in given.arguments):
        hooks.wrap_pyarrow()
    from potentia.cli import main as potentia

    sys.argv = ["potentia", *given.arguments]
    watch = hooks.start(given.watch, 0 if given.count else given.fail_at, given.how)
    try:
        potentia()
    finally:
        if given.count:
            told = [f"{number:4} {kind:9} {path}" for number, (kind, path, _) in enumerate(watch.events, 1)]
            sys.stderr.write("\n".join([*told, *(f"unseen: {one}" for one in watch.unseen), ""]))


if __name__ == "__main__":
    main()
