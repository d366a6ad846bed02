// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

/// Methods that exist for comparison with those of the papers, and are never or rarely chosen. Their descriptors are in
/// the lists of their modules. Their engines are in the folder `papers` of each module; they are compiled into
/// quadrat::papers, and available in programs that link it.
namespace quadrat::detail {

/// The base of the descriptors of these methods.
struct paper_method {};

template <typename Method>
concept of_papers = std::derived_from<Method, paper_method>;

/// Whether quadrat::papers is linked. The library sets this and `paper_engine` before `main`.
inline constinit bool papers_linked = false;

/// Makes the engine of a method. `Maker` is a function type: it takes a context and a setup, and returns a pointer to
/// the engine.
template <typename Method, typename Maker>
inline constinit Maker* paper_engine = nullptr;

}  // namespace quadrat::detail
