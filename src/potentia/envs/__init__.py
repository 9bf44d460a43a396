"""Games as environments: PettingZoo's, and many copies in one compiled call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from potentia.kernel.loading import lazy

if TYPE_CHECKING:
    from potentia.envs.making import aec_env, parallel_env, vector_env

__all__ = ["aec_env", "parallel_env", "vector_env"]

__getattr__, __dir__ = lazy(__name__, {"making": ("aec_env", "parallel_env", "vector_env")})
