# SPDX-License-Identifier: BSD-3-Clause
"""Whole numbers among arguments."""

_MOST = 2**31 - 1


def whole(value, name, least=-_MOST, most=_MOST):
    """The value as an int: 4, 4.0 and NumPy's integers are accepted; 4.5, NaN and what does not fit are not. `least` and
    `most` are what the library can be given; narrower limits are its own."""
    if type(value) is int and least <= value <= most:
        return value
    try:
        number = int(value)
        if number == value and least <= number <= most:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name} is {value!r}; a whole number from {least} to {most} is accepted")
