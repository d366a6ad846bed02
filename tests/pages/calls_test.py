# SPDX-License-Identifier: BSD-3-Clause
"""The table of calls: the headers say of each what it promises, and tests/calls tries it."""

import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(SOURCE / "docs/_site"))
import calls_reference  # noqa: E402

SCOPES = calls_reference.read(SOURCE / "include/quadrat")
CALLS = {call.key: call for scope in SCOPES for call in scope.calls}
# Buckets are tried in cell lists, keyed_buckets and hash_table; models have tests of their own.
UNTRIED = {"counting_buckets", "fixed_buckets", "linked_buckets", "sorted_buckets"}
# What these give is as their callers' functors, or nothing that a run has.
WITHOUT_RESULTS = {"broad_phase.hpp", "brownian_bond_force", "brownian_force", "brownian_pair_force", "fault_state"}
WITHOUT_RESULTS |= {"for_each.hpp", "granular.hpp", "line_points", "srd.hpp", "workspace"}
FLAGS = {"waits", "allocates", "captured"}


def tried():
    """What tests promise, by call."""
    constants = {
        name: set(re.findall(r"\.(\w+) = true", flags)) & FLAGS
        for name, flags in re.findall(
            r"constexpr promise (\w+)\{(.*?)\};", (SOURCE / "tests/calls/calls.hpp").read_text()
        )
    }
    texts = [file.read_text() for file in sorted((SOURCE / "tests/calls").glob("*_test.cpp"))]
    return {
        name: constants[said] for text in texts for name, said in re.findall(r'expect_call\(\s*"(.*?)", (\w+),', text)
    }


def test_every_call_says_whether_it_waits_and_allocates():
    silent = [
        f"{call.module}/{call.header}:{call.line}: {call.name}"
        for call in CALLS.values()
        if not (call.waits or call.does_not_wait) or not call.memory
    ]
    assert len(CALLS) == sum(len(scope.calls) for scope in SCOPES) > 250
    assert not silent


def test_calls_without_a_suffix_wait_and_their_twins_do_not():
    twins = {key: CALLS[key.removesuffix("_async")] for key in CALLS if key.removesuffix("_async") in CALLS}
    assert len(twins) > 120
    for key, plain in twins.items():
        if key != plain.key and plain.name != "view":
            assert plain.waits, plain.key
            assert CALLS[key].does_not_wait and "allocates" not in CALLS[key].claims, key


def test_every_call_is_tried_with_what_it_promises():
    wanted = {
        key: call.claims & FLAGS
        for key, call in CALLS.items()
        if call.module != "models" and call.scope not in UNTRIED
    }
    found = tried()
    assert not sorted(wanted.keys() ^ found.keys())
    assert {key: found[key] for key in wanted if found[key] != wanted[key]} == {}


def test_every_class_and_header_with_results_says_what_is_the_same_in_every_run():
    silent = {
        scope.name
        for scope in SCOPES
        if not scope.determinism and not any(calls_reference.own_determinism(call) for call in scope.calls)
    }
    assert silent == WITHOUT_RESULTS


def test_the_page_has_a_row_for_every_call():
    page = calls_reference.page(SCOPES)
    assert page.count("\n| `") == len(CALLS)
    row = "| `build_async` | does not wait | allocates nothing | can be captured in a CUDA graph |"
    assert row in page.split("### `neighbor_list`")[1]
