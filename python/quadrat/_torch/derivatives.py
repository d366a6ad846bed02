# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of operators: in reverse and forward, over each other, and under the transforms of torch.func."""

import itertools

import torch
from torch.autograd import forward_ad


class _Settings:
    """The arguments that are not tensors, in one object that torch.func leaves alone."""

    def __init__(self, values):
        self.values = values


def differentiable(operator, setup, backward, forward, *, vectors=False, vmap=None):
    """A function that calls the operator and has derivatives by these rules, also under torch.func.

    setup(ctx, inputs, output) keeps tensors by `keep`; backward(ctx, *changes) and forward(ctx, *tangents) get None for
    arguments that do not change, but not for all. Each rule calls functions that are differentiable in turn, which
    makes derivatives of higher order.
    `vectors`: the second argument is (V, ...), so that vmap over it alone is one call. vmap over others calls it for
    each entry, unless there is a rule for vmap.
    """
    def slopes(ctx, *changes):
        if all(change is None for change in changes):
            return (None,) * len(ctx.needs_input_grad)
        return backward(ctx, *changes)

    operator.register_autograd(slopes, setup_context=setup)
    operator.register_vmap(vmap or _vmap_rule(operator, vectors))

    def set_up(ctx, inputs, output):
        setup(ctx, (*inputs[:-1], *inputs[-1].values), output)

    def slopes_of_tensors(ctx, *changes):
        return (*slopes(ctx, *changes)[: len(ctx.needs_input_grad) - 1], None)

    rules = {
        "generate_vmap_rule": True,
        "forward": staticmethod(lambda *inputs: operator(*inputs[:-1], *inputs[-1].values)),
        "setup_context": staticmethod(set_up),
        "backward": staticmethod(slopes_of_tensors),
        "jvp": staticmethod(forward),
    }
    function = type(f"Derivatives_{operator._name}", (torch.autograd.Function,), rules)

    def apply(*arguments):
        tensors = tuple(itertools.takewhile(lambda value: value is None or isinstance(value, torch.Tensor), arguments))
        return function.apply(*tensors, _Settings(arguments[len(tensors) :]))

    eagerly = torch.compiler.disable(apply)

    def call(*arguments):
        if not torch.compiler.is_compiling():
            return apply(*arguments)
        # When PyTorch compiles, only the operator has derivatives in reverse; it would ignore the other rules.
        return eagerly(*arguments) if _transformed() else operator(*arguments)

    return call


@torch.compiler.assume_constant_result
def _transformed():
    return forward_ad._current_level >= 0 or torch._C._functorch.peek_interpreter_stack() is not None


def _vmap_rule(operator, vectors):
    def rule(info, dims, *arguments):
        batched = [k for k, value in enumerate(arguments) if isinstance(value, torch.Tensor) and dims[k] is not None]
        if vectors and batched == [1]:
            values = arguments[1].movedim(dims[1], 0)
            result = operator(arguments[0], values.flatten(0, 1), *arguments[2:])
            return result.unflatten(0, values.shape[:2]), 0
        results = []
        for entry in range(info.batch_size):
            own = [value.select(dims[k], entry) if k in batched else value for k, value in enumerate(arguments)]
            results.append(operator(*own))
        if isinstance(results[0], torch.Tensor):
            return torch.stack(results), 0
        return tuple(torch.stack(parts) for parts in zip(*results)), (0,) * len(results[0])

    return rule


def keep(ctx, *tensors):
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*tensors)
    ctx.save_for_forward(*tensors)


def total(*parts):
    """The sum of the arguments that are not None."""
    there = [part for part in parts if part is not None]
    return sum(there[1:], there[0]) if there else None


def refused(words):
    """A rule that raises an error with this text."""

    def refuse(*_):
        raise NotImplementedError(words)

    return refuse
