// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "quadrat/core/config.hpp"
#include "quadrat/core/method_list.hpp"
#include "search/system.hpp"

namespace quadrat::detail {

/// A method that is one thread a row over cells of the cutoff: all it has of its own is the order of its walk
/// (modular-bin-strips, optimisations).
template <bool Runs, int Labels>
struct walking_method {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr bool one_cell = false;
  static constexpr bool trimmed_rows = false;
  static constexpr walking_order order{Runs, Labels};
};

namespace neighbor_search_methods {

struct default_order : walking_method<false, 1> {
  static constexpr std::string_view name = "default";
  static constexpr std::string_view summary = "cell by cell, one thread a row; two passes";
};
struct strips : walking_method<true, 1> {
  static constexpr std::string_view name = "strips";
  static constexpr std::string_view summary = "rows of cells as one range";
};
struct modular : walking_method<false, 3> {
  static constexpr std::string_view name = "modular";
  static constexpr std::string_view summary = "cells by their position modulo 3";
};
struct hybrid : walking_method<true, 3> {
  static constexpr std::string_view name = "hybrid";
  static constexpr std::string_view summary = "strips in the first dimension, modular in the others";
};
struct brute_force : walking_method<true, 1> {
  static constexpr std::string_view name = "brute_force";
  static constexpr std::string_view summary = "every pair of a system";
  static constexpr bool one_cell = true;
};

/// For orthorhombic boxes in which no neighbor has two images, and one cutoff: see masks_serve.
struct trimmed_rows_method : walking_method<true, 1> {
  static constexpr bool trimmed_rows = true;
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
};
struct masks : trimmed_rows_method {
  static constexpr std::string_view name = "masks";
  static constexpr std::string_view summary =
      "trimmed rows, one search that leaves a bit a candidate, whole rows written";
};
struct warps : trimmed_rows_method {
  static constexpr std::string_view name = "warps";
  static constexpr std::string_view summary = "trimmed rows, a warp a point; two passes";
};

struct sweeps : trimmed_rows_method {
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = false;
  static constexpr std::string_view name = "sweeps";
  static constexpr std::string_view summary =
      "trimmed rows, side by side for vector units, by a few points; two passes";
};

}  // namespace neighbor_search_methods

/// All methods of neighbor lists. A new one is a file and a line here.
using neighbor_method_list =
    method_list<neighbor_search_methods::default_order, neighbor_search_methods::strips,
                neighbor_search_methods::modular, neighbor_search_methods::hybrid, neighbor_search_methods::brute_force,
                neighbor_search_methods::masks, neighbor_search_methods::warps, neighbor_search_methods::sweeps>;

}  // namespace quadrat::detail
