"""The lessons' twins in Triton on the tensors of a case: each gives a function of no arguments that fills the results."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "triton_twins"))

BACKWARD = "dQ dK dV".split()
REFUSED = {
    "grouped": "The twin of lessons 12 and 13 takes no grouped heads.",
    "masks": "Of lesson 22's masks, its twin has the causal one.",
    "triton": "Triton cannot be imported: {}.",
}


class Refused(Exception):
    """A twin does not do this case; the message is a sentence that says why."""


def has_twin(case) -> bool:
    """Lessons 07, 08, 18, 19 and 24 have none."""
    return case.lesson in (9, 10, 11, 12, 13, 15, 16, 17, 22)


def modules():
    """The twins of the forward and of the backward passes.

    @throws Refused where there is no Triton
    """
    try:
        import attention_backward
        import attention_forward
    except ImportError as error:
        raise Refused(REFUSED["triton"].format(error)) from error
    return attention_forward, attention_backward


def twin_of(case, inputs: dict, saved: dict, results: dict):
    """The twin's call on a case.

    @throws Refused if there is none for its masks and heads
    """
    forward, backward = modules()
    scale, scored = case.D**-0.5, [inputs[name] for name in "QKV"]
    if case.direction == "backward":
        gradients = [results[name] for name in BACKWARD]
        masks = {} if case.window is None else {"window": case.window, "sinks": case.sinks}
        return lambda: backward.attention_backward(*scored, saved["O"], saved["lse"], inputs["dO"], *gradients, scale,
                                                   case.causal, **masks)
    O, lse = results["O"], results["lse"]
    if case.lesson == 22:
        if case.window is not None:
            raise Refused(REFUSED["masks"])
        return lambda: forward.tensor_core_attention(*scored, O, lse, scale, case.causal)
    if case.window is not None:
        if case.H != case.H_kv:
            raise Refused(REFUSED["grouped"])
        return lambda: forward.attention_sinks(*scored, None, O, lse, scale, case.window, case.sinks)
    if case.H != case.H_kv:
        return lambda: forward.grouped_query(*scored, O, lse, scale, case.causal)
    one = forward.causal if case.causal else forward.flash2_forward
    return lambda: one(*scored, O, lse, scale)
