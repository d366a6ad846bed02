# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and words among arguments."""

from collections.abc import Sequence
from typing import Any

import numpy as np

_MOST = 2**31 - 1


def whole(value: Any, name: str, least: int = -_MOST, most: int = _MOST) -> int:
    """The value as an int: 4, 4.0 and NumPy's integers are accepted; 4.5, NaN and what does not fit are not. `least`
    and `most` are what the library can be given; narrower limits are its own."""
    if type(value) is int and least <= value <= most:
        return value
    try:
        number = int(value)
        if number == value and least <= number <= most:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name} is {shown(value)}; a whole number from {least} to {most} is accepted")


def real_number(value: Any, name: str) -> float:
    """The value as a float: numbers and arrays of one are accepted; text is not."""
    if type(value) is float:
        return value
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            return float(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        pass
    raise TypeError(f"{name} is {shown(value)}; a number is accepted")


def word(value: Any, name: str, among: Sequence[str] | None = None) -> str:
    """The value, if it is text, and one of those among which it must be."""
    if not isinstance(value, str):
        of = f", one of {', '.join(among)}" if among else ""
        raise TypeError(f"{name} is {shown(value)}; text is accepted{of}")
    if among is not None and value not in among:
        raise ValueError(f"{name} is {value!r}; one of {', '.join(among)} is accepted")
    return value


def run_to_run(deterministic: Any) -> bool:
    """Whether the same bits are wanted in every run."""
    return word(deterministic, "deterministic", ("none", "run_to_run")) == "run_to_run"


def shown(value: Any) -> str:
    """What a message says of a value: arrays have many lines."""
    text = repr(value)
    return text if len(text) <= 80 and "\n" not in text else f"a {type(value).__name__} of the shape {np.shape(value)}"
