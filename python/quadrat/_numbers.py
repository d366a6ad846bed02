# SPDX-License-Identifier: BSD-3-Clause
"""Checks of numbers, words and flags in arguments."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._reprs import shape_of, short

LEVELS = "none", "run_to_run", "canonical"
_MOST = 2**31 - 1
_LONGEST = 80  # characters of a value in a message, and of a name


def whole(value: Any, name: str, least: int = -_MOST, most: int = _MOST) -> int:
    """The value as an int: 4, 4.0 and NumPy's integers are accepted. ValueError for 4.5, NaN and numbers that do not
    fit, TypeError for anything else. `least` and `most` are the limits of the library's type; the library checks
    narrower limits."""
    if type(value) is int and least <= value <= most:
        return value
    error: type[Exception] = TypeError
    try:
        if np.ndim(value) == 0 and not isinstance(value, (str, bytes, bytearray)):
            float(value)
            error = ValueError
            number = int(value)
            if number == value and least <= number <= most:
                return number
    except OverflowError:
        error = ValueError
    except (TypeError, ValueError, RuntimeError):
        pass
    raise error(f"{name} is {shown(value)}; a whole number from {least} to {most} is accepted")


def real_number(value: Any, name: str) -> float:
    """The value as a float: numbers and arrays without axes are accepted; text is not."""
    if type(value) is float:
        return value
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            return float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        pass
    raise TypeError(f"{name} is {shown(value)}; a number is accepted")


def numbers(value: Any, name: str) -> list[Any]:
    """The numbers of a setting that is one number or a row of them, in a list."""
    try:
        one = np.ndim(value) == 0
    except Exception:
        one = False  # the error is raised below
    if one:
        return [value]
    array = _core.numbers(value, name)
    if array.ndim != 1:
        raise ValueError(f"{name} has the shape {array.shape}; a number, or a row of them, is accepted")
    return array.tolist()


def flag(value: Any, name: str) -> bool:
    """The value as a bool: truth values are accepted, and 0 and 1."""
    if value is True or value is False:
        return bool(value)
    try:
        if not isinstance(value, (str, bytes)) and np.ndim(value) == 0 and value in (0, 1):
            return bool(value)
    except Exception:
        pass
    raise TypeError(f"{name} is {shown(value)}; True or False is accepted")


def word(value: Any, name: str, among: Sequence[str] | None = None) -> str:
    """The value, if it is text and one of the accepted words."""
    if not isinstance(value, str):
        of = f", one of {', '.join(among)}" if among else ""
        raise TypeError(f"{name} is {shown(value)}; text is accepted{of}")
    if among is not None and value not in among:
        raise ValueError(f"{name} is {shown(value)}; one of {', '.join(among)} is accepted")
    return value


def method_name(value: Any) -> str:
    """The name of a method; empty for "auto". The library checks the name."""
    name = word(value, "method")
    if len(name) > _LONGEST or not name.isprintable():
        raise ValueError(f"method is {shown(name)}; a name is accepted")
    return "" if name == "auto" else name


def letters(value: Any, name: str, accepted: str) -> str:
    """The value, if it is text of these letters, at least one."""
    if not word(value, name) or [letter for letter in value if letter not in accepted]:
        raise ValueError(f"{name} is {shown(value)}; letters of '{accepted}' are accepted")
    return str(value)


def level_of(deterministic: Any) -> int:
    """The number of a level of determinism."""
    return LEVELS.index(word(deterministic, "deterministic", LEVELS))


def thread_count(threads: Any) -> int:
    """The number for the library: None becomes 0, which means all threads."""
    return 0 if threads is None else whole(threads, "threads", 1)


def chosen_number(value: Any, name: str) -> float:
    """The number for the library: None becomes 0, which means that the library chooses."""
    return 0.0 if value is None else positive(value, name, ", or None")


def positive(value: Any, name: str, otherwise: str = "") -> float:
    """The value as a positive, finite float. `otherwise`: what else is accepted, in the message."""
    number = real_number(value, name)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} is {shown(value)}; a positive number is accepted{otherwise}")
    return number


def sign_of(sign: Any) -> int:
    """The sign of an exponent."""
    if whole(sign, "sign") not in (1, -1):
        raise ValueError(f"sign is {shown(sign)}; 1 or -1 is accepted")
    return int(sign)


def shown(value: Any) -> str:
    """The text of a value in a message: one short line. Arrays of a few numbers are shown in full, others by type and
    shape."""
    shape = shape_of(value)
    if isinstance(shape, tuple) and math.prod(shape) <= 4:
        text = repr(value)
        if len(text) <= _LONGEST and "\n" not in text:
            return text
    return short(value)
