# SPDX-License-Identifier: Apache-2.0
"""How compiled code sees :class:`~fabrictwin.engine.state.State`: as one address.

Numba would pass a tuple of thirty arrays as two hundred values to every function, which costs more, at run
time and to compile, than most functions do. So a State is, to kernels, the address of a table of addresses:
``s.port`` is
the address of the first PORT record and ``s.port[p]`` a record. Nothing else changes: without the compiler
the same source reads the arrays themselves. Indices are not checked and must not be negative.

The optimiser is told what an address alone does not show: that a field of a record is never another field
(``tbaa``), so that a store to one leaves the others in registers, and that the tables of
:data:`~fabrictwin.engine.state.CONSTANT` do not change while a kernel runs (``invariant.load``).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    overload,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import record_getattr, record_setattr
from numba.np.numpy_support import from_dtype

from fabrictwin.engine.state import ARRAYS, CONSTANT, State


class StateType(types.Type):
    """A State."""

    def __init__(self) -> None:
        super().__init__(name="FabricTwinState")


class TableType(types.Type):
    """An array of a State: its address."""

    def __init__(self, array: str) -> None:
        self.array = array
        self.element = from_dtype(ARRAYS[array])
        super().__init__(name=f"FabricTwinTable({array})")


STATE = StateType()


@register_model(StateType)
class _StateModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, ir.IntType(64))


@register_model(TableType)
class _TableModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, ir.IntType(64))


@typeof_impl.register(State)
def _typeof_state(value: State, context: Any) -> StateType:
    return STATE


@unbox(StateType)
def _unbox_state(typ: StateType, obj: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(obj, "address")
    value = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(value, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@infer_getattr
class _StateAttributes(AttributeTemplate):  # type: ignore[misc]
    key = StateType

    def generic_resolve(self, typ: StateType, name: str) -> types.Type | None:
        return TableType(name) if name in ARRAYS else None


def _describe_access(builder: Any, access: Any, place: str, *, constant: bool) -> None:
    """Tells the optimiser that a load or store touches nothing but a place of this name."""
    module = builder.module
    zero = ir.Constant(ir.IntType(64), 0)
    kind = module.add_metadata([place, module.add_metadata(["FabricTwin"]), zero])
    access.set_metadata("tbaa", module.add_metadata([kind, kind, zero]))
    if constant:
        access.set_metadata("invariant.load", module.add_metadata([]))


_RECORD_NAMES = {from_dtype(dtype): name for name, dtype in ARRAYS.items() if dtype.names is not None}
"""Types of the records, each by one of the arrays that hold it."""


def _load_field(context: Any, builder: Any, typ: Any, value: Any, field: str) -> Any:
    result = record_getattr(context, builder, typ, value, field)
    if not isinstance(typ.typeof(field), types.NestedArray):
        name = _RECORD_NAMES[typ]
        _describe_access(builder, result, f"{name}.{field}", constant=name in CONSTANT)
    return result


def _store_field(context: Any, builder: Any, signature: Any, args: Any, field: str) -> None:
    typ, value_type = signature.args
    name = _RECORD_NAMES[typ]
    if name in CONSTANT:
        raise TypeError(f"{name}.{field} is constant for kernels")
    element = typ.typeof(field)
    if isinstance(element, types.NestedArray):
        record_setattr(context, builder, signature, args, field)
        return
    pointer = cgutils.get_record_member(builder, args[0], typ.offset(field), context.get_data_type(element))
    store = builder.store(context.cast(builder, args[1], value_type, element), pointer)
    _describe_access(builder, store, f"{name}.{field}", constant=False)


for _record in _RECORD_NAMES:
    lower_getattr_generic(_record)(_load_field)
    lower_setattr_generic(_record)(_store_field)


_POSITION = {name: position for position, name in enumerate(ARRAYS)}


@lower_getattr_generic(StateType)
def _load_table(context: Any, builder: Any, typ: Any, value: Any, name: str) -> Any:
    word = ir.IntType(64)
    slot = builder.inttoptr(builder.add(value, ir.Constant(word, 8 * _POSITION[name])), word.as_pointer())
    load = builder.load(slot)
    load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load


def _element_pointer(context: Any, builder: Any, table: TableType, base: Any, index: Any) -> Any:
    word = ir.IntType(64)
    size = context.get_abi_sizeof(context.get_data_type(table.element))
    offset = builder.mul(index, ir.Constant(word, size))
    pointee = context.get_data_type(table.element)
    return builder.inttoptr(builder.add(base, offset), pointee.as_pointer())


@intrinsic
def _get(typing_context: Any, table: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element_pointer(context, builder, table, args[0], args[1])
        if isinstance(table.element, types.Record):
            return pointer
        value = context.unpack_value(builder, table.element, pointer)
        _describe_access(builder, value, table.array, constant=table.array in CONSTANT)
        return value

    return table.element(table, types.int64), generate


@intrinsic
def _set(typing_context: Any, table: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element_pointer(context, builder, table, args[0], args[1])
        if isinstance(table.element, types.Record):
            cgutils.raw_memcpy(builder, pointer, args[2], ir.Constant(ir.IntType(64), table.element.size), 1)
        else:
            store = builder.store(args[2], pointer)
            _describe_access(builder, store, table.array, constant=False)
        return context.get_dummy_value()

    return types.void(table, types.int64, table.element), generate


@intrinsic
def _prefetch(typing_context: Any, table: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte_pointer = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", (byte_pointer,), function_type)
        pointer = builder.bitcast(_element_pointer(context, builder, table, args[0], args[1]), byte_pointer)
        builder.call(function, [pointer, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(table, types.int64), generate


def prefetch(table: Any, index: int) -> None:
    """Hints that an element is wanted soon; means nothing without the compiler."""


@overload(prefetch)
def _overload_prefetch(table, index):  # type: ignore[no-untyped-def]
    return lambda table, index: _prefetch(table, np.int64(index))


@intrinsic
def _count_trailing_zeros(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # A word of zero does not come, so its answer may be anything.
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def lowest_bit(word: np.uint64) -> int:
    """Position of the lowest set bit of a word that is not zero."""
    return (int(word) & -int(word)).bit_length() - 1


@overload(lowest_bit)
def _overload_lowest_bit(word):  # type: ignore[no-untyped-def]
    return lambda word: _count_trailing_zeros(np.uint64(word))


@overload(operator.getitem)
def _table_getitem(table, index):  # type: ignore[no-untyped-def]  # numba compares the bare signatures
    if isinstance(table, TableType) and isinstance(index, types.Integer):
        return lambda table, index: _get(table, np.int64(index))
    return None


@overload(operator.setitem)
def _table_setitem(table, index, value):  # type: ignore[no-untyped-def]
    if isinstance(table, TableType) and isinstance(index, types.Integer):
        return lambda table, index, value: _set(table, np.int64(index), value)
    return None
