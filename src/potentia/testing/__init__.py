"""Checkers for those who add a game or a rule of their own; the package's own tests use them too."""

from potentia.testing.checks import check_game, check_rule

__all__ = ["check_game", "check_rule"]


def __dir__() -> list[str]:
    return list(__all__)
