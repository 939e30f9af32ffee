# SPDX-License-Identifier: Apache-2.0
"""The one decorator for compiled code, and the cache directory that goes with it.

Numba reuses a cached function even when a function that it calls, in another module, has been edited. So the
cache directory is named by a hash of every source file that holds kernels: an edit moves to a new
directory, and the stale answer cannot come back (``docs/decisions/0003-kernel-cache.md``).
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_PACKAGE = Path(__file__).parent
_KERNEL_SOURCES = ("engine", "subnet", "telemetry/exposition.py")
_KEPT_CACHES = 8

F = TypeVar("F", bound=Callable[..., Any])


def _sources_hash() -> str:
    digest = hashlib.sha256()
    files = [Path(__file__)]
    for source in _KERNEL_SOURCES:
        path = _PACKAGE / source
        files += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    for file in files:
        digest.update(file.relative_to(_PACKAGE).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _forget_old(kernels: Path) -> None:
    """Removes the caches of earlier sources but for the most recent few, which may be in use."""
    old = sorted((d for d in kernels.glob("*") if d.is_dir()), key=lambda d: d.stat().st_mtime, reverse=True)
    for directory in old[_KEPT_CACHES:]:
        shutil.rmtree(directory, ignore_errors=True)


def _cache_directory() -> Path:
    root = os.environ.get("FABRICTWIN_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "fabrictwin"
    )
    kernels = Path(root) / "kernels"
    directory = kernels / _sources_hash()
    if not directory.exists():
        _forget_old(kernels)
    return directory


os.environ["NUMBA_CACHE_DIR"] = str(_cache_directory())
import numba  # noqa: E402  the cache directory must be set before numba reads its settings
from numba.core.compiler import CompilerBase, DefaultPassBuilder  # noqa: E402
from numba.core.compiler_machinery import register_pass  # noqa: E402
from numba.core.lowering import Lower  # noqa: E402
from numba.core.typed_passes import NativeLowering  # noqa: E402

numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]


class _LowerApart(Lower):  # type: ignore[misc]
    """Tells LLVM that a function is seldom called and must not be inlined."""

    def setup_function(self, descriptor: Any) -> None:
        super().setup_function(descriptor)
        for attribute in ("cold", "noinline"):
            self.function.attributes.add(attribute)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LoweringApart(NativeLowering):  # type: ignore[misc]
    _name = "lowering_apart"

    @property
    def lowering_class(self) -> type[Lower]:
        return _LowerApart


class _CompilerApart(CompilerBase):  # type: ignore[misc]
    """Numba's usual compiler with the other lowering."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [
            (_LoweringApart if step is NativeLowering else step, text) for step, text in pipeline.passes
        ]
        pipeline.finalize()
        return [pipeline]


def _compile(function: F, *, inline: bool = False, **options: Any) -> F:
    """Compiles a function: cached on disk, without the GIL, exact arithmetic (no fastmath).

    ``forceinline`` is always said: Numba would take it over from whichever caller is compiled first.
    """
    compile_later = numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=inline, **options)
    compiled: F = compile_later(function)
    return compiled


def kernel(function: F) -> F:
    """A compiled function; the compiler decides where to inline it."""
    return _compile(function)


def inline_kernel(function: F) -> F:
    """Like :func:`kernel`, for a step that the compiler must inline and would not by itself.

    For two reasons, each measured: a step that takes tuples of arrays (passing them by value costs more than
    the step itself), and the steps that packets go through (as one function they share what they load).
    """
    return _compile(function, inline=True)


def seldom_kernel(function: F) -> F:
    """Like :func:`kernel`, for a step that is seldom taken: it stays out of its callers.

    Copied into every place that calls it, it would make the loop larger than what the processor's instruction
    cache holds, and slower to compile.
    """
    return _compile(function, pipeline_class=_CompilerApart)


def entry_point(compiled: Callable[..., Any], first: Any, *examples: Any) -> Callable[..., Any]:
    """The compiled code of a kernel for arguments of certain types, which it is then called with unseen.

    A call by the kernel's own name looks at every argument first, which costs a few microseconds where one is
    of a type of our own. Without the compiler it is the function itself.

    Args:
        compiled: The kernel.
        first: Type of its first argument.
        examples: Values of the types of the others.
    """
    if not hasattr(compiled, "compile"):
        return compiled
    code: Callable[..., Any] = compiled.compile((first, *map(numba.typeof, examples)))
    return code
