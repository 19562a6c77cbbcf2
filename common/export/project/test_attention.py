#!/usr/bin/env python3
"""Holds the package beside attention by its definition, in float64, and with PyTorch beside that one's own.

Without NumPy or PyTorch the tests that need it are skipped, and say so. On a GPU tensors of PyTorch are tested; the rest
runs in the simulator, on small sizes.
"""

import ctypes
import itertools
import shutil
import unittest

import @NAME@ as course

try:
    import numpy as np
except ImportError:
    np = None
try:
    import torch

    from @NAME@ import pytorch
except ImportError:
    torch = None

ON_CPU = "cpu" in course.BUILD["backends"]
TYPE = course.BUILD["types"][-1]  # float32, or float16, which NumPy has as well
BOUND = 1e-5 if TYPE == "float32" else 4e-3
FORWARD, BACKWARD = course.BUILD["forward"], course.BUILD["backward"]
B, H, NQ, NK, D = 2, 4, 37, 70, 8


def supported(**settings) -> bool:
    try:
        course.defaults(D, **settings)
    except ValueError:
        return False
    return True


MASKS = [mask for mask in ({}, {"causal": False}, {"causal": True}, {"causal": True, "window": 9},
                           {"causal": False, "window": 12}, {"causal": True, "window": 9, "sinks": 2}) if supported(**mask)]
SINK = "sink" in course.attention.WORDS
HEADS = (1, 2, H) if FORWARD["groups"] else (H,)  # of K and V


def visible(nq, nk, settings):
    """Which keys each query sees, as lesson 17 defines it."""
    settings = course.defaults(D, **settings)
    position, key = np.arange(nq)[:, None] + nk - nq, np.arange(nk)[None]
    in_window = (position - key < settings["window"]) | (key < settings["sinks"])
    return ((key <= position) | (not settings["causal"])) & in_window


class Lent:
    """An array of NumPy as another framework might lend it: from an address before it, without strides, and, as it says,
    from a device of its own."""

    def __init__(self, array, offset=0, device=(1, 0)):
        self.array, self.device = array, device
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.tensor = course.arrays.DLTensor(array.ctypes.data - offset, *device, array.ndim, 2, 8 * array.itemsize, 1,
                                             self.shape, None, offset)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


@unittest.skipUnless(np, "NumPy is not installed")
@unittest.skipUnless(ON_CPU, "NumPy's arrays are on the CPU, and this package is for a GPU alone")
class Arrays(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(1)

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(TYPE)

    def problem(self, heads=H, sink=SINK):
        arrays = {"Q": self.normal(B, H, NQ, D), "K": self.normal(B, heads, NK, D), "V": self.normal(B, heads, NK, D)}
        return {**arrays, "sink": self.random.standard_normal(H).astype("float32")} if sink else arrays

    def exact(self, Q, K, V, settings, sink=None, dO=None):
        """O and lse in float64; for dO, the gradients as well."""
        Q, K, V = (x.astype("float64") for x in (Q, K, V))
        group = Q.shape[1] // K.shape[1]
        K, V = np.repeat(K, group, 1), np.repeat(V, group, 1)
        scale = course.defaults(D, **settings)["scale"]
        S = np.where(visible(Q.shape[2], K.shape[2], settings), Q @ K.swapaxes(2, 3) * scale, -np.inf)
        extra = np.full(S.shape[:3], -np.inf) if sink is None else np.broadcast_to(sink[None, :, None], S.shape[:3])
        lse = np.logaddexp(np.logaddexp.reduce(S, -1), extra)
        P = np.exp(S - lse[..., None])
        O = P @ V
        if dO is None:
            return O, lse
        dO = dO.astype("float64")
        delta = (dO * O).sum(-1)
        dS = P * (dO @ V.swapaxes(2, 3) - delta[..., None])

        def grouped(x):
            return x.reshape(B, -1, group, *x.shape[2:]).sum(2)

        dsink = -(np.exp(extra - lse) * delta).sum((0, 2))
        return dS @ K * scale, grouped(dS.swapaxes(2, 3) @ Q * scale), grouped(P.swapaxes(2, 3) @ dO), dsink

    def assert_near(self, got, exact, what):
        error = np.abs(got.astype("float64") - exact).max(initial=0) / max(1.0, np.abs(exact).max(initial=0))
        self.assertLessEqual(error, BOUND, what)

    def test_forward(self):
        for settings, heads in itertools.product(MASKS, HEADS):
            with self.subTest(settings, heads=heads):
                arrays = self.problem(heads)
                for got, exact, what in zip(course.forward(**arrays, **settings), self.exact(**arrays, settings=settings),
                                            ("O", "lse")):
                    self.assert_near(got, exact, what)

    @unittest.skipUnless(BACKWARD, "this package has no gradients")
    def test_backward(self):
        for settings, heads in itertools.product(MASKS, HEADS):
            with self.subTest(settings, heads=heads):
                arrays, dO = self.problem(heads), self.normal(B, H, NQ, D)
                O, lse = course.forward(**arrays, **settings)
                got = course.backward(**arrays, O=O, lse=lse, dO=dO, **settings)
                for gradient, exact, what in zip(got, self.exact(**arrays, dO=dO, settings=settings),
                                                 ("dQ", "dK", "dV", "dsink")):
                    if gradient is not None:
                        self.assert_near(gradient, exact, what)

    def test_any_order_of_axes(self):
        arrays = self.problem()
        expected = course.forward(**arrays)[0]
        swapped = {name: x if name == "sink" else np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2)
                   for name, x in arrays.items()}
        self.assertFalse(swapped["Q"].flags.c_contiguous)
        np.testing.assert_array_equal(course.forward(**swapped)[0], expected)

    def test_parts_of_larger_arrays(self):
        arrays = self.problem()
        expected = course.forward(**arrays)[0]
        larger = np.zeros((B, H, NQ + 3, D + 16), TYPE)
        larger[:, :, 2:-1, 8:-8] = arrays["Q"]
        np.testing.assert_array_equal(course.forward(**{**arrays, "Q": larger[:, :, 2:-1, 8:-8]})[0], expected)

    def test_arrays_that_begin_later_and_have_no_strides(self):
        arrays = self.problem()
        expected = course.forward(**arrays)[0]
        lent = {name: Lent(x, offset=64) for name, x in arrays.items() if name != "Q"}
        np.testing.assert_array_equal(course.forward(arrays["Q"], **lent)[0], expected)

    def test_sizes_of_zero(self):
        O, lse = course.forward(self.normal(B, H, 0, D), self.normal(B, H, 5, D), self.normal(B, H, 5, D))
        self.assertEqual((O.shape, lse.shape), ((B, H, 0, D), (B, H, 0)))

    def refused(self, words, error=ValueError, **changes):
        with self.assertRaisesRegex(error, words):
            course.forward(**{**self.problem(sink=False), **changes})

    def test_what_does_not_fit_is_named(self):
        good = self.problem(sink=False)
        self.refused("Q is a list; a tensor of PyTorch or an array of NumPy is needed", TypeError, Q=[1.0, 2.0])
        self.refused("Q holds float64, and these kernels take", TypeError, Q=good["Q"].astype("float64"))
        self.refused(f"V holds float64, and must hold {TYPE}", TypeError, V=good["V"].astype("float64"))
        self.refused("Q has 3 axes; it must have 4", Q=good["Q"][0])
        self.refused(r"V has the shape \(2, 4, 69, 8\), and must have \(2, 4, 70, 8\)", V=good["V"][:, :, 1:])
        self.refused("K has 3 heads, which must divide the 4 of Q", K=good["K"][:, 1:])
        self.refused(r"Q has stride 37 along its last axis, and must have 1", Q=good["Q"].reshape(B, H, D, NQ).swapaxes(2, 3))
        self.refused(r"K has the strides \(.*-8, 1\), and none may be negative", K=good["K"][:, :, ::-1])
        self.refused(r"K is on cuda:1, and Q on cpu\.", K=Lent(good["K"], device=(2, 1)))
        self.refused("V is on a device of DLPack's kind 8", TypeError, V=Lent(good["V"], device=(8, 0)))
        self.refused("Results are made by the framework of their inputs", TypeError, Q=Lent(good["Q"]))
        if "window" in course.attention.WORDS:
            self.refused("window must be at least 1", window=0)
        else:
            self.refused(r"window = 5: the kernel of lesson \d\d has only window =", window=5)
        if not SINK:
            self.refused("has no learned sinks", sink=np.zeros(H, "float32"))

    def test_what_the_entry_refuses_is_an_error(self):
        wide = np.zeros((1, 1, 2, 264), TYPE)
        with self.assertRaisesRegex(ValueError, r"Lesson \d\d: Q must have"):
            course.forward(wide, wide, wide)

    @unittest.skipIf(BACKWARD, "this package has gradients")
    def test_gradients_that_are_missing_are_named(self):
        arrays = self.problem(sink=False)
        with self.assertRaisesRegex(course.LibraryError, "no kernels for gradients"):
            course.backward(**arrays, O=arrays["Q"], lse=arrays["Q"], dO=arrays["Q"])


def devices():
    if torch is None:
        return []
    on_gpu = "gpu" in course.BUILD["backends"] and torch.cuda.is_available()
    return ["cpu"] * ON_CPU + ["cuda"] * on_gpu


@unittest.skipUnless(torch, "PyTorch is not installed")
class Tensors(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        torch.backends.cuda.matmul.allow_tf32 = False

    def problem(self, device, heads=H, sink=SINK, shape=(B, H, NQ, NK, D)):
        B, H, nq, nk, D = shape

        def normal(*shape, dtype=getattr(torch, TYPE)):
            return torch.randn(shape, dtype=torch.float32).to(dtype).to(device).requires_grad_(BACKWARD is not None)

        tensors = {"Q": normal(B, H, nq, D), "K": normal(B, heads, nk, D), "V": normal(B, heads, nk, D)}
        return {**tensors, "sink": normal(H, dtype=torch.float32)} if sink else tensors

    def beside_pytorch(self, device, heads, settings):
        """O and gradients of the operator, and of PyTorch's own attention in float64, for one random dO."""
        tensors = self.problem(device, heads, sink=False)
        doubles = {name: x.detach().double().requires_grad_() for name, x in tensors.items()}
        mask = torch.from_numpy(visible(NQ, NK, settings)).to(device)
        mask = mask.expand(NQ, NK)
        O = pytorch.attention(**tensors, **settings)
        exact = torch.nn.functional.scaled_dot_product_attention(
            doubles["Q"], *(doubles[name].repeat_interleave(H // heads, 1) for name in "KV"), attn_mask=mask)
        dO = torch.randn_like(O)
        if BACKWARD:
            O.backward(dO)
            exact.backward(dO.double())
        return [("O", O, exact), *(("d" + name, x.grad, doubles[name].grad) for name, x in tensors.items() if BACKWARD)]

    def test_beside_pytorch(self):
        for device, settings, heads in itertools.product(devices(), MASKS, HEADS):
            for name, got, exact in self.beside_pytorch(device, heads, settings):
                with self.subTest(device=device, settings=settings, heads=heads, result=name):
                    error = (got.double() - exact).abs().max().item() / max(1.0, exact.abs().max().item())
                    self.assertLessEqual(error, BOUND)

    def test_opcheck(self):
        for device, sink in itertools.product(devices(), {False, SINK}):
            tensors = self.problem(device, sink=sink, shape=(1, 2, 9, 11, D), heads=2)
            Q, K, V, *sinks = tensors.values()
            for Q_swapped in (Q, Q.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_(Q.requires_grad)):
                arguments = (Q_swapped, K, V, *(sinks or [None]))
                torch.library.opcheck(pytorch.forward, arguments, course.defaults(D))

    @unittest.skipUnless(BACKWARD, "this package has no gradients")
    def test_gradcheck(self):
        """Differences of float32 numbers: steps are large, so that little is left of rounding. In 16 bits no step would be
        large enough."""
        if TYPE != "float32":
            self.skipTest("differences need float32")

        dropped = [{"dropout": 0.3, "seed": 7}] * supported(dropout=0.3)  # a seed drops the same weights every time
        for device, settings in itertools.product(devices(), MASKS + dropped):
            tensors = self.problem(device, heads=min(2, HEADS[0]), shape=(1, 2, 3, 4, 2))
            inputs = tuple(x.detach().double().requires_grad_() for x in tensors.values())

            def attend(*doubles, settings=settings):
                return pytorch.attention(*(x.float() for x in doubles), **settings).double()

            with self.subTest(device=device, settings=settings):
                self.assertTrue(torch.autograd.gradcheck(attend, inputs, eps=3e-3, atol=1e-3, rtol=1e-3))

    def test_compile(self):
        # The first compiler traces all that the second compiles, which takes its time, and a compiler of C++.
        runs = [(settings, "aot_eager") for settings in MASKS] + [(MASKS[-1], "inductor")] * bool(shutil.which("g++"))
        for device, (settings, compiler) in itertools.product(devices(), runs):
            torch._dynamo.reset()
            tensors = self.problem(device)

            def attend(Q, K, V, sink=None, settings=settings):
                return pytorch.attention(Q * 2, K, V, sink, **settings) + 1

            with self.subTest(device=device, settings=settings, compiler=compiler):
                compiled = torch.compile(attend, fullgraph=True, backend=compiler)(**tensors)
                plain = attend(**tensors)
                torch.testing.assert_close(compiled, plain)
                if BACKWARD:
                    dO = torch.randn_like(plain)
                    found = [torch.autograd.grad(O, list(tensors.values()), dO) for O in (compiled, plain)]
                    torch.testing.assert_close(*found)

    @unittest.skipUnless(BACKWARD, "this package has no gradients")
    def test_the_gradient_of_a_sum_has_strides_of_zero(self):
        for device in devices():
            tensors = self.problem(device)
            pytorch.attention(**tensors).sum().backward()
            found = tensors["V"].grad.clone()
            tensors["V"].grad = None
            pytorch.attention(**tensors).backward(torch.ones(B, H, NQ, D, dtype=found.dtype, device=device))
            torch.testing.assert_close(tensors["V"].grad, found, rtol=0, atol=0)

    def test_any_order_of_axes(self):
        for device in devices():
            tensors = self.problem(device)
            swapped = {name: x if name == "sink" else x.transpose(1, 2).contiguous().transpose(1, 2)
                       for name, x in tensors.items()}
            torch.testing.assert_close(pytorch.attention(**swapped), pytorch.attention(**tensors), rtol=0, atol=0)

    @unittest.skipUnless(BACKWARD, "this package has no gradients")
    def test_nobody_can_ask_for_gradients_of_lse(self):
        for device in devices():
            tensors = {"sink": None, **self.problem(device)}
            O, lse = pytorch.forward(**tensors, **course.defaults(D))
            self.assertEqual((O.requires_grad, lse.requires_grad), (True, False))

    @unittest.skipUnless(BACKWARD, "this package has no gradients")
    def test_there_are_no_second_gradients(self):
        for device in devices():
            tensors = self.problem(device)
            first, = torch.autograd.grad(pytorch.attention(**tensors).sum(), tensors["Q"], create_graph=True)
            with self.assertRaisesRegex(RuntimeError, "no autograd formula|does not require grad"):
                first.sum().backward()

    @unittest.skipUnless("cuda" in devices(), "there is no GPU")
    def test_a_stream_is_kept(self):
        """The operator's work comes after what its stream got before, and before what it gets later."""
        tensors = {name: x.detach() for name, x in self.problem("cuda").items()}
        expected = pytorch.attention(**tensors)
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            late = {name: torch.zeros_like(x) for name, x in tensors.items()}
            torch.cuda._sleep(100_000_000)
            for name, x in late.items():
                x.copy_(tensors[name])
            found = pytorch.attention(**late).clone()
        stream.synchronize()
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


if __name__ == "__main__":
    unittest.main()
