"""Checkers for those who add a game or a rule of their own; the package's own tests use them too."""

from potentia.kernel.loading import listing
from potentia.testing.checks import check_game
from potentia.testing.rules import check_rule

__all__ = ["check_game", "check_rule"]

__dir__ = listing(__all__)
