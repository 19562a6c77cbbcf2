"""Loads the library of a lesson's kernel and calls its entries on memory that is somebody else's. Needs no PyTorch.

A library exports `course_entries`, a table of functions with their names and types (common/grading/calls/entry.hpp). Each is
called through `invoke`, which takes the address of every argument; tensors travel as common/tensor/view.hpp has them.
"""

import ctypes
import functools
import os

TABLE_VERSION = 1

# The arguments of each entry in order, by the names of tensors and settings. {type} is that of the
# numbers, where a lesson has an entry for each.
ENTRIES = {
    (7, "forward"): ("naive_attention", "Q K V S P O scale"),
    (8, "forward"): ("flash1_forward", "Q K V O l m scale"),
    (9, "forward"): ("flash2_forward", "Q K V O lse scale"),
    (10, "forward"): ("causal_attention", "Q K V O lse scale"),
    (11, "forward"): ("grouped_query_attention", "Q K V O lse scale causal"),
    (12, "forward"): ("sliding_window_attention", "Q K V O lse scale window"),
    (13, "forward"): ("attention_with_sinks", "Q K V sink O lse scale window sinks"),
    (15, "backward"): ("flash2_backward", "Q K V O lse dO delta dQ dK dV scale causal"),
    (16, "backward"): ("grouped_query_backward", "Q K V O lse dO delta dQ dK dV scale causal"),
    (17, "forward"): ("attention_forward", "Q K V sink O lse scale causal window sinks"),
    (17, "backward"): ("attention_backward",
                       "Q K V sink O lse dO delta dQ dK dV dsink scale causal window sinks"),
    (18, "forward"): ("attention_forward", "Q K V sink O lse scale causal window sinks dropout seed"),
    (18, "backward"): ("attention_backward",
                       "Q K V sink O lse dO delta dQ dK dV dsink scale causal window sinks dropout seed"),
    (19, "forward"): ("flash2_forward_fast", "Q K V O lse scale causal"),
    (22, "forward"): ("attention_forward_{type}", "Q K V sink O lse scale causal window sinks"),
    (24, "backward"): ("attention_backward_{type}",
                       "Q K V sink O lse dO delta dQ dK dV dsink scale causal window sinks dropout seed"),
}  # fmt: skip
SETTINGS = {"scale": ctypes.c_float, "causal": ctypes.c_bool, "window": ctypes.c_int64, "sinks": ctypes.c_int64,
            "dropout": ctypes.c_float, "seed": ctypes.c_uint64}
POINTERS = {"sink", "dsink"}  # to the numbers themselves, or null
RESULTS = {"forward": {"S", "P", "O", "l", "m", "lse"}, "backward": {"delta", "dQ", "dK", "dV", "dsink"}}
ROWS = {"lse", "l", "m", "delta"}  # (B, H, N); other tensors have rank 4


class LibraryError(Exception):
    """A library that cannot be built, loaded or called; the message says why."""


def view_type(rank: int) -> type:
    """The struct of course::View<T, rank>, the same for every T."""
    return type(f"View{rank}", (ctypes.Structure,),
                {"_fields_": [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * rank),
                              ("strides", ctypes.c_int64 * rank)]})


VIEWS = {rank: view_type(rank) for rank in (2, 3, 4, 5)}


def make_view(address: int, shape, strides):
    """A View of memory at `address`; strides are in elements."""
    return VIEWS[len(shape)](address, tuple(shape), tuple(strides))


def parameter_type(name: str, direction: str, dtype: str = "float32") -> str:
    """The C++ type of an argument, as a demangler writes it."""
    if name in SETTINGS:
        return {"causal": "bool", "window": "long", "sinks": "long", "seed": "unsigned long"}.get(name, "float")
    number = "float" if dtype == "float32" or name in ROWS | POINTERS else f"course::{dtype}"
    element = number if name in RESULTS[direction] else f"{number} const"
    if name in POINTERS:
        return f"{element}*"
    return f"course::View<{element}, {3 if name in ROWS else 4}>"


def signature_of(lesson: int, direction: str, dtype: str = "float32") -> str:
    """The type of an entry: what the library must say of it for the call to be safe."""
    names = ENTRIES[lesson, direction][1].split()
    return f"void ({', '.join(parameter_type(name, direction, dtype) for name in names)})"


@functools.cache
def demangle(name: bytes) -> str:
    """A type's name in C++ for what typeid(...).name() gives, by the C++ runtime that the library brought along."""
    runtime = ctypes.CDLL("libstdc++.so.6")
    runtime.__cxa_demangle.restype = ctypes.c_void_p
    runtime.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    text = runtime.__cxa_demangle(name, None, None, None)
    if not text:
        return name.decode()
    result = ctypes.string_at(text).decode()
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    libc.free(text)
    return result


class EntryRecord(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("signature", ctypes.c_char_p),
                ("invoke", ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p)))]


class EntryTable(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("count", ctypes.c_uint32), ("entries", ctypes.POINTER(EntryRecord))]


class LedgerState(ctypes.Structure):
    """What common/grading/calls/worker/ledger.hpp counts: allocations and launches of the library."""

    _fields_ = [("next_serial", ctypes.c_uint64), ("live", ctypes.c_uint64), ("live_bytes", ctypes.c_uint64),
                ("launches", ctypes.c_uint64), ("blocks", ctypes.c_uint64), ("threads", ctypes.c_uint64)]


def load(path) -> ctypes.CDLL:
    """Loads a library whose CUDA is that of the libraries it was linked with. PyTorch makes another CUDA runtime
    visible to everybody, which without RTLD_DEEPBIND would take the simulator's place."""
    return ctypes.CDLL(str(path), mode=os.RTLD_LOCAL | os.RTLD_DEEPBIND)


def addresses_of(values: list):
    """The array that an entry is called with; `values` must live as long."""
    return (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))


class Library:
    """A loaded library. What its entries throw ends the process that calls them directly."""

    def __init__(self, path):
        try:
            self.handle = load(path)
            table_function = self.handle.course_entries
        except OSError as error:
            raise LibraryError(f"{path} cannot be loaded: {error}.") from error
        except AttributeError as error:
            raise LibraryError(f"{path} has no table of entries; `./course build` makes such a library.") from error
        table_function.restype = ctypes.POINTER(EntryTable)
        table = table_function().contents
        if table.version != TABLE_VERSION:
            raise LibraryError(f"{path} has a table of entries of version {table.version}, not {TABLE_VERSION}: build "
                               "it again.")
        records = [table.entries[i] for i in range(table.count)]
        self.entries = {record.name.decode(): record for record in records}
        self.ledger_function = getattr(self.handle, "course_ledger", None)  # the simulator's libraries have none
        if self.ledger_function is not None:
            self.ledger_function.restype = LedgerState
            self.ledger_function.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]

    def ledger(self) -> LedgerState | None:
        """Allocations and launches so far; None without a ledger."""
        return None if self.ledger_function is None else self.ledger_function(0, None, 0)

    def entry(self, name: str, wanted: str):
        """What calls an entry, of the array of its arguments' addresses.

        @throws LibraryError if the library has no such entry, or one with other parameters than those that are wanted
        """
        record = self.entries.get(name)
        if record is None:
            raise LibraryError(f"The library has no entry {name}: it is that of another lesson.")
        found = demangle(record.signature)
        if found != wanted:
            raise LibraryError(f"{name} has the type {found}, not {wanted}: ENTRIES in kernel_library.py is out of "
                               "date.")
        return record.invoke

    def prepare(self, lesson: int, direction: str, views: dict, settings: dict, dtype: str = "float32"):
        """The lesson's entry and its arguments: `invoke`, the array of addresses that it takes, and what must live until
        it has been called.

        `views`: a View for each tensor by name, of make_view(); a pointer that is not there is null. `settings`:
        numbers by name.

        @throws LibraryError if the library has no such entry, or one with other parameters
        """
        name, words = ENTRIES[lesson, direction]
        invoke = self.entry(name.format(type=dtype), signature_of(lesson, direction, dtype))
        values = [SETTINGS[word](settings[word]) if word in SETTINGS
                  else views.get(word) or ctypes.c_void_p(None) if word in POINTERS else views[word]
                  for word in words.split()]
        return invoke, addresses_of(values), values

    def bind(self, lesson: int, direction: str, views: dict, settings: dict, dtype: str = "float32"):
        """A function that calls the lesson's entry, without work of its own but the call. Otherwise as prepare()."""
        invoke, arguments, values = self.prepare(lesson, direction, views, settings, dtype)

        def call(invoke=invoke, arguments=arguments, keep=values):
            invoke(arguments)

        return call
