"""``python -m potentia``: the command line."""

from potentia.cli import main

main()
