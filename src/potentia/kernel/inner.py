"""How Numba compiles the functions that are only ever called from a kernel.

Numba makes every function ready to be called by itself: it turns it into machine code, which for ours nobody calls,
because the entry point that holds them all is machine code of its own. So they stop at LLVM's intermediate code. They
are optimised there, each with all that it calls: joint trials are a third slower without that. The lighter passes that
Numba runs before are left out, but for functions that ask for them (:func:`potentia.kernel.dispatch.lighter_passes`).
That takes a fifth off compiling.

Machine code that prints or raises finds its names in an *environment* of its function. Those of inner functions are set
when the entry point is there (:func:`set_environments`).

While Numba infers types it records warnings, and so takes those of all threads of the process. A thread that compiles
beside a run must not do that (:func:`warnings_of_others`): what Numba warns of then points at Numba's own lines.

This module imports Numba, and so is loaded when something is compiled.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment
from numba.core.errors import WarningsFixer  # type: ignore[attr-defined]


class _Nowhere:
    """Stands for the code generator where Numba would set the environment of a function that nobody calls."""

    @staticmethod
    def set_env(name: str, env: Any) -> None:
        pass


class InnerLibrary(JITCodeLibrary):
    """A function with all that it calls, to be linked into others and not to be called."""

    codegen = _Nowhere()
    lighter_passes = False

    def _optimize_functions(self, ll_module: Any) -> None:
        if self.lighter_passes:
            super()._optimize_functions(ll_module)
        else:
            ll_module.data_layout = self._codegen._data_layout

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0


class InnerCompiler(Compiler):
    """Numba's own pipeline into such a library."""

    def define_pipelines(self) -> Any:
        made = self.state.func_id
        self.state.library = InnerLibrary(self.state.targetctx.codegen(), made.func_qualname)
        self.state.library.lighter_passes = hasattr(made.func, "lighter_passes")
        return super().define_pipelines()


def set_environments(compiled: Any) -> None:
    """Give all functions inside an entry point that was just compiled their environments."""
    for variable in compiled.library._final_module.global_variables:
        environment = lookup_environment(variable.name) if variable.name.startswith("_ZN08NumbaEnv") else None
        if environment is not None:
            compiled.codegen.set_env(variable.name, environment)


class _Beside(threading.local):
    """Whether this thread compiles while others go on."""

    others = False


_beside = _Beside()
_record_warnings = WarningsFixer.catch_warnings


@contextlib.contextmanager
def warnings_of_others() -> Iterator[None]:
    """What is compiled in this block by this thread leaves the warnings of other threads to them."""
    _beside.others = True
    try:
        yield
    finally:
        _beside.others = False


@contextlib.contextmanager
def _record_own_warnings(fixer: Any, filename: Any = None, lineno: Any = None) -> Iterator[None]:
    with contextlib.nullcontext() if _beside.others else _record_warnings(fixer, filename, lineno):
        yield


WarningsFixer.catch_warnings = _record_own_warnings
