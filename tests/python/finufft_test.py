# SPDX-License-Identifier: BSD-3-Clause
"""The drop-in for finufft's calls beside finufft itself."""

import inspect
import warnings

import numpy as np
import pytest
import quadrat.finufft

finufft = pytest.importorskip("finufft")


def inputs(dimension, dtype, transforms, seed=1):
    random = np.random.default_rng(seed)
    lead = () if transforms is None else (transforms,)

    def waves(*shape):
        return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(np.result_type(dtype, np.complex64))

    points = [random.uniform(-9, 9, 30).astype(dtype) for _ in range(dimension)]
    targets = [random.uniform(-5, 5, 20).astype(dtype) for _ in range(dimension)]
    modes = (6, 5, 4)[:dimension]
    return points, targets, modes, waves(*lead, 30), waves(*lead, *modes)


def close(found, wanted):
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    tolerance = 1e-3 if wanted.dtype == np.complex64 else 1e-7
    np.testing.assert_allclose(found, wanted, atol=tolerance * np.abs(wanted).max())


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("transforms", [None, 1, 3])
def test_transforms_are_those_of_finufft(dimension, dtype, transforms):
    points, targets, modes, c, f = inputs(dimension, dtype, transforms)
    eps = 1e-9 if dtype == np.float64 else 1e-4
    for options in ({"nthreads": 1}, {"isign": -1, "nthreads": 1}, {"isign": 1, "modeord": 1, "nthreads": 1}):
        for kind, arguments in ((1, (*points, c, modes)), (2, (*points, f))):
            name = f"nufft{dimension}d{kind}"
            close(
                getattr(quadrat.finufft, name)(*arguments, eps=eps, **options),
                getattr(finufft, name)(*arguments, eps=eps, **options),
            )
    name = f"nufft{dimension}d3"
    arguments = (*points, c, *targets)
    close(getattr(quadrat.finufft, name)(*arguments, eps=eps, nthreads=1), getattr(finufft, name)(*arguments, eps=eps))


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("transforms", [None, 3])
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_plans_are_those_of_finufft(dimension, dtype, transforms, kind):
    complex_type = np.result_type(dtype, np.complex64).name
    eps = 1e-9 if dtype == np.float64 else 1e-4
    for options in ({}, {"isign": -1, "modeord": 1}, {"isign": 1}):
        plans = []
        for module in (quadrat.finufft, finufft):
            extents = dimension if kind == 3 else (6, 5, 4)[:dimension]
            given = dict(eps=eps, dtype=complex_type, nthreads=1, **options)
            plans.append(module.Plan(kind, extents, transforms or 1, **given))
        assert [plan.type for plan in plans] == [kind] * 2 and [plan.dim for plan in plans] == [dimension] * 2
        assert plans[0].dtype == plans[1].dtype and plans[0].n_trans == plans[1].n_trans
        for seed in (1, 2):
            points, targets, modes, c, f = inputs(dimension, dtype, transforms, seed)
            for plan in plans:
                plan.setpts(*points, **(dict(zip("stu", targets)) if kind == 3 else {}))
            data = f if kind == 2 else c
            wanted = plans[1].execute(data)
            close(plans[0].execute(data), wanted)
            back = plans[1].execute_adjoint(wanted)
            close(plans[0].execute_adjoint(wanted), back)
            out = np.zeros_like(back)
            assert plans[0].execute_adjoint(wanted, out) is out
            close(out, back)


def test_every_option_of_finufft_is_answered_or_refused_by_name():
    from finufft._finufft import FinufftOpts

    names = [name for name, _ in FinufftOpts._fields_]
    assert len(names) > 15
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if name == "spreadinterponly" or name.startswith("fftw_"):
                with pytest.raises((RuntimeError, TypeError), match=name):
                    quadrat.finufft.Plan(1, 8, **{name: 1})
            else:
                quadrat.finufft.Plan(1, 8, **{name: 2 if name == "upsampfac" else 1})


def test_arguments_and_defaults_are_those_of_finufft():
    for name in quadrat.finufft.__all__:
        own, other = (inspect.signature(getattr(module, name)) for module in (quadrat.finufft, finufft))
        assert [(p.name, p.default) for p in own.parameters.values()] == [(p.name, p.default) for p in other.parameters.values()]


def test_results_go_where_the_caller_wants_them():
    points, targets, modes, c, f = inputs(2, np.float64, 2)
    out = np.zeros((2, *modes), complex)
    assert quadrat.finufft.nufft2d1(*points, c, out=out, eps=1e-9) is out
    close(out, finufft.nufft2d1(*points, c, modes, eps=1e-9))
    values = np.zeros((2, 30), complex)
    assert quadrat.finufft.nufft2d2(*points, f, values) is values and values.any()
    third = np.zeros((2, 20), complex)
    assert quadrat.finufft.nufft2d3(*points, c, *targets, third) is third and third.any()
    assert quadrat.finufft.nufft2d1(*points, c, 4).shape == (2, 4, 4)


def test_a_tolerance_out_of_reach_is_the_least_there_is_with_a_warning():
    points, _, modes, c, _ = inputs(1, np.float64, None)
    with pytest.warns(Warning, match="cannot be reached"):
        found = quadrat.finufft.nufft1d1(*points, c, modes, eps=1e-17)
    k = np.arange(modes[0]) - modes[0] // 2
    np.testing.assert_allclose(found, np.exp(1j * np.outer(k, points[0])) @ c, atol=1e-11)


def test_options_without_effect_are_accepted_and_unknown_ones_warned_about():
    points, _, modes, c, _ = inputs(1, np.float64, None)
    wanted = quadrat.finufft.nufft1d1(*points, c, modes)
    found = quadrat.finufft.nufft1d1(*points, c, modes, debug=0, nthreads=1, upsampfac=2.0, spread_sort=2)
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    with pytest.warns(Warning, match="speed"):
        quadrat.finufft.nufft1d1(*points, c, modes, speed=3)


def planned(*arguments, points=None, **options):
    plan = quadrat.finufft.Plan(*arguments, **options)
    if points is not None:
        plan.setpts(**points)
    return plan


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda x, c: planned(4, 8), RuntimeError, "nufft_type is 4"),
        (lambda x, c: planned(1, (4, 4, 4, 4)), RuntimeError, "n_modes_or_dim"),
        (lambda x, c: planned(3, (4, 4)), RuntimeError, "its dimension"),
        (lambda x, c: planned(1, 8, dtype="float64"), RuntimeError, "float64.*complex64 and complex128"),
        (lambda x, c: planned(1, 8).execute(c), RuntimeError, "call setpts"),
        (lambda x, c: planned(1, (8, 8), points={"x": x}), RuntimeError, "y is needed: the plan is of type 1 in 2D"),
        (lambda x, c: planned(1, 8, points={"x": x, "s": x}), RuntimeError, "s is given, but not used"),
        (lambda x, c: planned(3, 1, points={"x": x}), RuntimeError, "s is needed"),
        (lambda x, c: planned(1, 8, dtype="complex64", points={"x": x}), TypeError, "x has the type float64; float32"),
        (lambda x, c: planned(1, 8, 2, points={"x": x}).execute(c), RuntimeError, r"\(10,\); \(2, 10\) is needed"),
        (lambda x, c: planned(2, 8, points={"x": x}).execute(c), RuntimeError, r"\(10,\); \(8,\) is needed"),
        (lambda x, c: quadrat.finufft.nufft1d1(x, c), RuntimeError, "n_modes"),
        (lambda x, c: quadrat.finufft.nufft1d1(x, c.real, 4), TypeError, "float64.*complex128"),
        (lambda x, c: quadrat.finufft.nufft1d1(x.astype(int), c, 4), RuntimeError, "int64"),
        (lambda x, c: quadrat.finufft.nufft1d1(x, c[:3], 4), RuntimeError, r"\(3,\)"),
        (lambda x, c: quadrat.finufft.nufft1d1(x, c, (4, 4)), RuntimeError, r"\(4, 4\)"),
        (lambda x, c: quadrat.finufft.nufft2d1(x, x[:3], c, 4), RuntimeError, "y has the shape"),
        (lambda x, c: quadrat.finufft.nufft2d1(x, x.astype("f4"), c, 4), TypeError, "y has the type float32"),
        (lambda x, c: quadrat.finufft.nufft1d1(x, c, 4, out=np.zeros(5, complex)), RuntimeError, r"\(5,\)"),
        (lambda x, c: quadrat.finufft.nufft1d2(x, c, out=np.zeros(7, complex)), RuntimeError, r"\(7,\)"),
        (lambda x, c: quadrat.finufft.nufft1d1(x, c, 4, modeord=2), RuntimeError, "modeord"),
        (lambda x, c: quadrat.finufft.nufft1d1(x, c, 4, eps=-1.0), ValueError, "tolerance"),
        (lambda x, c: quadrat.finufft.nufft1d1(x, c, 4, spreadinterponly=1), RuntimeError, "spreadinterponly"),
    ],
)
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call(np.linspace(0, 1, 10), np.ones(10, complex))
