// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

/// Methods that are there to be compared with those of the papers, and are never or hardly chosen. Their records are in
/// the lists of their modules. Their engines are compiled in `papers` of each module, into quadrat::papers, and can be
/// used in programs that link it.
namespace quadrat::detail {

/// The base of their records.
struct paper_record {};

template <typename Method>
concept of_papers = std::derived_from<Method, paper_record>;

/// Whether quadrat::papers is linked. It sets this and the following before `main`.
inline constinit bool papers_linked = false;

/// Makes the engine of a method. `Maker` is a type of function: a context and a setup to a pointer to the engine.
template <typename Method, typename Maker>
inline constinit Maker* paper_engine = nullptr;

}  // namespace quadrat::detail
