# SPDX-License-Identifier: BSD-3-Clause
"""One concept has one name, one place among the arguments and one default, in all functions and classes."""

import importlib
import importlib.util
import inspect
import pkgutil

import pytest
import quadrat

MODULES = {one.name for one in pkgutil.iter_modules(quadrat.__path__) if not one.name.startswith("_")}
LAST = ["autotune", "method", "deterministic", "threads", "index_dtype", "dtype"]
DEFAULTS = {"box": None, "periodic": None, "origin": None, "order": 4, "method": "auto", "deterministic": "none", "threads": None}
DEFAULTS |= {"autotune": False, "index_dtype": None, "oversampling": None, "bin_size": None, "accept_outside": False, "clip": False}
SCENES = {"method", "deterministic", "autotune"}  # None of a Simulation: as in the scene's file


# What the options of a function are those of.
BEHIND = {
    "spread": [quadrat.SpreadPlan],
    "interpolate": [quadrat.SpreadPlan],
    "nufft1": [quadrat.Nufft],
    "nufft2": [quadrat.Nufft],
    "electrostatics": [quadrat.Ewald, quadrat.Ewald.compute],
}


def accepted(name):
    """The parameters of a function, with those that it hands on."""
    found = dict(inspect.signature(getattr(quadrat, name)).parameters)
    if found.pop("options", None):
        for source in BEHIND[name]:
            parameters = inspect.signature(source).parameters
            found |= {key: p for key, p in parameters.items() if p.kind == p.KEYWORD_ONLY and key not in found}
    return found


def module(name):
    library = "torch" if name == "metatomic" else name.partition("_")[0]
    if library in ("torch", "jax"):
        pytest.importorskip(library)
    return importlib.import_module(f"quadrat.{name}")


def places():
    """The modules that take arrays; those of libraries that are there."""
    return [quadrat, *(module(name) for name in ("torch", "jax") if importlib.util.find_spec(name) is not None)]


def signatures():
    """The parameters of what can be called, by name."""
    for place in places():
        for name in place.__all__:
            one = getattr(place, name)
            if inspect.isclass(one) and (issubclass(one, tuple) or name == "Frame"):
                continue  # results
            yield f"{place.__name__}.{name}", inspect.signature(one).parameters
            for key, method in vars(one).items() if inspect.isclass(one) else ():
                if inspect.isfunction(method) and not key.startswith("_"):
                    yield f"{place.__name__}.{name}.{key}", inspect.signature(method).parameters


def test_what_has_no_default_comes_first_and_options_are_keywords():
    for name, parameters in signatures():
        for key in set(LAST) & set(parameters):
            assert parameters[key].kind == inspect.Parameter.KEYWORD_ONLY, f"{name}: {key}"


def test_how_it_is_computed_comes_last_in_one_order():
    for name, parameters in signatures():
        names = [key for key, one in parameters.items() if not key.startswith("_") and one.kind != one.VAR_KEYWORD]
        found = [key for key in names if key in LAST]
        assert names[len(names) - len(found) :] == [key for key in LAST if key in found], name


def test_the_box_its_periodic_axes_and_its_corner_stand_together():
    for name, parameters in signatures():
        names = list(parameters)
        if "periodic" in names and "origin" in names:
            assert names.index("origin") == names.index("periodic") + 1, name
        if "periodic" in names and "box" in names and parameters["box"].default is None:
            assert names.index("periodic") == names.index("box") + 1, name


def test_the_box_may_be_given_by_its_place():
    for name, parameters in signatures():
        if "box" in parameters and not name.endswith(".contacts"):  # whose shapes would stand there
            assert parameters["box"].kind == inspect.Parameter.POSITIONAL_OR_KEYWORD, name


def test_defaults_are_the_same_everywhere():
    for name, parameters in signatures():
        for key, one in parameters.items():
            if key in DEFAULTS and one.default is not one.empty and not (key in SCENES and "Simulation" in name):
                assert one.default == DEFAULTS[key] and type(one.default) is type(DEFAULTS[key]), f"{name}: {key}"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_modules_say_what_is_public(name):
    there = module(name)
    assert there.__all__ and all(hasattr(there, one) for one in there.__all__)


def test_results_of_charges_are_one_class():
    for name in ("torch", "jax"):
        assert module(name).Electrostatics is quadrat.Electrostatics


@pytest.mark.parametrize("place", ["torch", "jax"])
def test_functions_of_other_libraries_take_the_same_with_the_same_defaults(place):
    for name in set(module(place).__all__) & set(quadrat.__all__) - {"Electrostatics"}:
        theirs = accepted(name)
        for key, own in inspect.signature(getattr(module(place), name)).parameters.items():
            if key not in ("capacity", "strict"):  # for arrays whose size is known before
                assert own.kind == theirs[key].kind and own.default == theirs[key].default, f"{name}: {key}"
