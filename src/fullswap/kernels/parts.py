"""Kernels as parts of other kernels: compiled into them, without machine code of their own.

numba optimises every function that compiled code calls, translates it to machine code, and does
both again in each caller, in its caller, and so on. A part is only typed and lowered; the kernel
that Python calls optimises and translates the whole once.
"""

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder


class PartLibrary(JITCodeLibrary):
    """Code to link with, as it was lowered: nothing of it runs by itself."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class ShortLibrary(PartLibrary):
    """The same for loops of a few steps: unrolling and vectorising them only costs time."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Mark the functions as what should be small; inlined, they would lose the mark."""
        for function in ir_module.functions:
            if not function.is_declaration and "alwaysinline" not in function.attributes:
                function.attributes.add("optsize")
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class PartCompiler(CompilerBase):
    """numba's pipeline, up to machine code."""

    library = PartLibrary

    def define_pipelines(self) -> list:
        """The usual passes, into a library of the kind above."""
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.targetctx.get_executable = _entry  # of this compilation alone
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class ShortCompiler(PartCompiler):
    """The same, into the other kind of library."""

    library = ShortLibrary


def _entry(library: Any, description: Any, environment: Any) -> Any:
    """What numba knows a compiled function by; it has no address."""
    name = description.qualname.split(".")[-1]
    return _dynfunc.make_function(
        description.lookup_module(), name, "part of kernels", 0, environment, (library,)
    )


OPTIONS: Any = {
    "pipeline_class": PartCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True,
}  # fmt: skip
"""Of numba's decorators, for parts; also of implementations of ``overload``."""
SHORT: Any = {**OPTIONS, "pipeline_class": ShortCompiler}
"""The same for functions whose loops have a few steps; they are not inlined."""
