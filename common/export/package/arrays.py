"""Arrays of any framework as what a kernel takes: an address, a shape, and strides in elements. They are read through
DLPack, the format in which frameworks lend each other arrays, so that nothing is copied."""

import ctypes
import dataclasses
import importlib
import math

from .kernel_library import make_view

CPU, CUDA, CUDA_MANAGED = 1, 2, 13  # DLDeviceType
TYPES = {(2, 32, 1): "float32", (2, 64, 1): "float64", (2, 16, 1): "float16", (4, 16, 1): "bfloat16",
         (0, 32, 1): "int32", (0, 64, 1): "int64"}  # code, bits and lanes of a DLDataType  # fmt: skip
LEGACY_STREAM = 1  # the default stream, as DLPack calls it


class DLTensor(ctypes.Structure):
    """dlpack.h, which every version of the format begins with."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


@dataclasses.dataclass
class Array:
    """Somebody else's array. `lent` keeps its memory for as long as this object lives."""

    name: str
    address: int
    shape: tuple
    strides: tuple  # in elements
    dtype: str
    device: tuple  # ("cpu", 0), ("cuda", 1)
    lent: object

    def view(self):
        """What an entry takes as a View."""
        return make_view(self.address, self.shape, self.strides)


def dense_strides(shape) -> tuple:
    """Strides of an array without gaps, its last axis first."""
    return tuple(math.prod(shape[axis + 1:]) for axis in range(len(shape)))


# [borrow]
def borrow(name: str, array, stream: int | None = None) -> Array:
    """The array under the name that messages give it. On a GPU, what `stream` gets from now on sees its numbers.

    @throws TypeError if it is no array, or of a type that no kernel takes
    """
    if not hasattr(array, "__dlpack__") or not hasattr(array, "__dlpack_device__"):
        raise TypeError(f"{name} is a {type(array).__name__}; a tensor of PyTorch or an array of NumPy is needed, or "
                        "another one that has __dlpack__.")
    kind, index = array.__dlpack_device__()
    if kind not in (CPU, CUDA, CUDA_MANAGED):
        raise TypeError(f"{name} is on a device of DLPack's kind {kind}; kernels run on the CPU or with CUDA.")
    options = {} if kind == CPU else {"stream": stream or LEGACY_STREAM}
    try:
        capsule = array.__dlpack__(**options)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(f"{name} cannot be read: {error}") from error
    # The capsule stays ours, unused, so that it gives the array back when it goes.
    tensor = DLTensor.from_address(_pointer_of(capsule, b"dltensor"))
    kind_of_number = (tensor.code, tensor.bits, tensor.lanes)
    if kind_of_number not in TYPES:
        raise TypeError(f"{name} holds numbers of {tensor.bits} bits and of DLPack's kind {tensor.code}; no kernel takes "
                        "such.")
    shape = tuple(tensor.shape[:tensor.ndim])
    has_strides = tensor.strides and 0 not in shape  # those of an array without numbers mean nothing
    strides = tuple(tensor.strides[:tensor.ndim]) if has_strides else dense_strides(shape)
    address = (tensor.data or 0) + tensor.byte_offset
    device = "cpu" if kind == CPU else "cuda", index
    return Array(name, address, shape, strides, TYPES[kind_of_number], device, capsule)
# [borrow]


def framework_of(array) -> str:
    """The module that an array comes from: "numpy", "torch", "cupy"."""
    return type(array).__module__.partition(".")[0]


def empty(beside, shape, dtype: str):
    """A new array without gaps, from the framework and on the device of another one.

    @throws TypeError if that framework gives no memory to write to
    """
    framework = importlib.import_module(framework_of(beside))
    if framework.__name__ not in ("numpy", "torch", "cupy"):
        raise TypeError(f"Results are made by the framework of their inputs, and {framework.__name__} is none of NumPy, "
                        "PyTorch and CuPy: pass Q, K and V as arrays of one of these.")
    options = {"device": beside.device} if framework.__name__ == "torch" else {}
    return framework.empty(tuple(shape), dtype=getattr(framework, dtype), **options)


def current_stream(array) -> int:
    """The address of the stream that an array's framework computes on; 0 is the default stream."""
    framework = framework_of(array)
    if framework == "torch" and array.is_cuda:
        import torch

        return torch.cuda.current_stream(array.device).cuda_stream
    if framework == "cupy":
        import cupy

        return cupy.cuda.get_current_stream().ptr
    return 0
