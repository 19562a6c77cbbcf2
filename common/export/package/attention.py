"""Attention and its gradients by the kernels of this package, on arrays of any framework.

Shapes: Q, O, dO, dQ are (B, H, Nq, D), K, V, dK, dV are (B, H_kv, Nk, D), lse and delta are (B, H, Nq), sink and dsink
are (H); H_kv divides H. Any order of axes in memory will do as long as the last axis is dense.
"""

import ctypes
import json
import pathlib

from .arrays import Array, borrow, current_stream, empty
from .kernel_library import ENTRIES, LibraryError, Library, load

FOLDER = pathlib.Path(__file__).resolve().parent
BUILD = json.loads((FOLDER / "build.json").read_text(encoding="utf-8"))  # what `./course export` built
FORWARD, BACKWARD = BUILD["forward"], BUILD["backward"]  # {"lesson", "title"}; None: it has no kernels for gradients
TYPES = BUILD["types"]  # of the numbers in Q, K, V and O
WORDS = ENTRIES[FORWARD["lesson"], "forward"][1].split()
NO_WINDOW = 1 << 40
DEVICES = {"cpu": "cpu", "cuda": "gpu"}  # the backend for each kind of device
WRONG_ARGUMENT, MESSAGE_BYTES = 1, 4096  # as bridge.cpp has it


def lesson(direction: str = "forward") -> str:
    return f"lesson {(FORWARD if direction == 'forward' else BACKWARD)['lesson']:02}"


def place(device: tuple) -> str:
    """"cpu", "cuda:1"."""
    return "cpu" if device[0] == "cpu" else f"{device[0]}:{device[1]}"


def defaults(D: int, scale=None, causal=None, window=None, sinks=0, dropout=0.0, seed=0) -> dict:
    """The settings by name, each with its default.

    @throws ValueError for a mask that these kernels do not have
    """
    always = FORWARD["causal"]
    settings = {"scale": D**-0.5 if scale is None else float(scale),
                "causal": always if causal is None else bool(causal),
                "window": NO_WINDOW if window is None else int(window),
                "sinks": int(sinks), "dropout": float(dropout), "seed": int(seed)}  # fmt: skip
    neutral = {"causal": always, "window": NO_WINDOW, "sinks": 0, "dropout": 0.0}
    for name, value in neutral.items():
        if name not in WORDS and settings[name] != value:
            raise ValueError(f"{name} = {settings[name]}: the kernel of {lesson()} has only {name} = {value}.")
    if settings["window"] < 1 or settings["sinks"] < 0:
        raise ValueError(f"window = {settings['window']}, sinks = {settings['sinks']}: window must be at least 1, and "
                         "sinks at least 0.")
    return settings


# [check]
def check(arrays: dict) -> None:
    """@throws TypeError, ValueError in one sentence, if the arrays do not fit each other or these kernels."""
    Q = arrays["Q"]
    if Q.dtype not in TYPES:
        raise TypeError(f"Q holds {Q.dtype}, and these kernels take {' or '.join(TYPES)}.")
    if DEVICES[Q.device[0]] not in BUILD["backends"]:
        raise ValueError(f"Q is on {place(Q.device)}, and this package was built for {BUILD['backends'][0]} alone: export it "
                         "again with --backend auto.")
    for name in ("Q", "K"):
        if len(arrays[name].shape) != 4:
            raise ValueError(f"{name} has {len(arrays[name].shape)} axes; it must have 4: batch, head, row and number.")
    B, H, Nq, D = Q.shape
    H_kv, Nk = arrays["K"].shape[1:3]
    if (H % H_kv if H_kv else H) != 0:
        raise ValueError(f"K has {H_kv} heads, which must divide the {H} of Q.")
    if H_kv != H and not FORWARD["groups"]:
        raise ValueError(f"K has {H_kv} heads and Q {H}: the kernel of {lesson()} has no grouped heads.")
    queries, keys, rows, heads = (B, H, Nq, D), (B, H_kv, Nk, D), (B, H, Nq), (H,)
    shapes = {"Q": queries, "O": queries, "dO": queries, "K": keys, "V": keys, "lse": rows, "sink": heads}
    for name, array in arrays.items():
        check_one(array, shapes[name], "float32" if name in ("lse", "sink") else Q.dtype, Q)


def check_one(array: Array, shape: tuple, dtype: str, Q: Array) -> None:
    """One array beside Q."""
    name = array.name
    if array.device != Q.device:
        raise ValueError(f"{name} is on {place(array.device)}, and Q on {place(Q.device)}.")
    if array.dtype != dtype:
        raise TypeError(f"{name} holds {array.dtype}, and must hold {dtype}.")
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, and must have {shape}.")
    if any(stride < 0 for stride in array.strides):
        raise ValueError(f"{name} has the strides {array.strides}, and none may be negative.")
    if len(shape) != 3 and shape[-1] > 1 and array.strides[-1] != 1:
        raise ValueError(f"{name} has stride {array.strides[-1]} along its last axis, and must have 1: make a contiguous "
                         "copy.")
# [check]


_loaded = {}


def kernels_for(backend: str, direction: str):
    """The library of a direction and the function that calls its entries, loaded when they are first needed."""
    part = FORWARD if direction == "forward" else BACKWARD
    key = backend, part["lesson"]
    if key not in _loaded:
        if backend == "cpu":
            load(FOLDER / "libsimt.so")  # before all that is linked with it
        call = load(FOLDER / f"bridge_{backend}.so").course_call
        call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p,
                         ctypes.c_size_t]
        _loaded[key] = Library(FOLDER / f"{part['library']}_{backend}.so"), call
    return _loaded[key]


# [call]
def run(direction: str, Q: Array, arrays: dict, settings: dict, stream: int) -> None:
    """Calls the entry in the order of the stream. In the simulator it returns when the results are there."""
    backend = DEVICES[Q.device[0]]
    library, call = kernels_for(backend, direction)
    number = (FORWARD if direction == "forward" else BACKWARD)["lesson"]
    views = {name: ctypes.c_void_p(array.address) if name in ("sink", "dsink") else array.view()
             for name, array in arrays.items()}
    invoke, arguments, _alive = library.prepare(number, direction, views, settings, Q.dtype)
    message = ctypes.create_string_buffer(MESSAGE_BYTES)
    status = call(invoke, arguments, Q.device[1], stream, backend == "cpu", message, MESSAGE_BYTES)
    if status != 0:
        error = ValueError if status == WRONG_ARGUMENT else RuntimeError
        raise error(f"Lesson {number:02}: {message.value.decode(errors='replace')}")
# [call]


def borrow_all(arrays: dict, stream: int) -> dict:
    return {name: borrow(name, array, stream) for name, array in arrays.items() if array is not None}


# [forward]
def forward(Q, K, V, sink=None, **settings):
    """O and lse of attention; settings are those of defaults(), with its defaults.

    @throws TypeError, ValueError for arguments that do not fit, RuntimeError for kernels that fail
    """
    stream = current_stream(Q)
    lent = borrow_all({"Q": Q, "K": K, "V": V, "sink": sink}, stream)
    check(lent)
    if sink is not None and "sink" not in WORDS:
        raise ValueError(f"sink is given, and the kernel of {lesson()} has no learned sinks.")
    queries = lent["Q"]
    settings = defaults(queries.shape[3], **settings)
    O, lse = empty(Q, queries.shape, queries.dtype), empty(Q, queries.shape[:3], "float32")
    results = borrow_all({"O": O, "lse": lse}, stream)
    run("forward", queries, {**lent, **results}, settings, stream)
    return O, lse
# [forward]


# [backward]
def backward(Q, K, V, O, lse, dO, sink=None, **settings):
    """dQ, dK, dV and dsink for a gradient dO of O, from what forward() took and gave. Without a sink, dsink is None.

    @throws as forward(); LibraryError if the package has no kernels for gradients
    """
    if BACKWARD is None:
        raise LibraryError(f"This package of {lesson()} has no kernels for gradients; one of 17 has, or of 22 with 24.")
    stream = current_stream(Q)
    lent = borrow_all({"Q": Q, "K": K, "V": V, "O": O, "lse": lse, "dO": dO, "sink": sink}, stream)
    check(lent)
    queries, keys = lent["Q"], lent["K"]
    settings = defaults(queries.shape[3], **settings)
    made = {"delta": empty(Q, queries.shape[:3], "float32"), "dQ": empty(Q, queries.shape, queries.dtype),
            "dK": empty(Q, keys.shape, keys.dtype), "dV": empty(Q, keys.shape, keys.dtype),
            "dsink": None if sink is None else empty(Q, lent["sink"].shape, "float32")}  # fmt: skip
    run("backward", queries, {**lent, **borrow_all(made, stream)}, settings, stream)
    return made["dQ"], made["dK"], made["dV"], made["dsink"]
# [backward]
