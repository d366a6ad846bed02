// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <type_traits>

#include "keyed/cas_loop.hpp"
#include "keyed/cpu_atomic.hpp"
#include "keyed/cuda_atomic.hpp"
#include "keyed/fixed_point.hpp"
#include "keyed/linked_lists.hpp"
#include "keyed/ordered.hpp"
#include "keyed/private_tables.hpp"
#include "keyed/runs.hpp"
#include "keyed/shared_bins.hpp"
#include "keyed/sort_reduce.hpp"
#include "keyed/warp_peers.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/method_list.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

namespace key_method_types {

struct atomic {
  static constexpr std::string_view name = "atomic";
  static constexpr std::string_view summary = "an atomic operation an element";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool any_order = true;
  static constexpr bool compensates = false;
  template <typename Context>
  using engine = std::conditional_t<std::is_same_v<Context, cpu_context>, cpu_atomic_engine, cuda_atomic_engine>;
};

struct cas_loop {
  static constexpr std::string_view name = "cas_loop";
  static constexpr std::string_view summary = "a loop of compare and swap an element, as chips once needed";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool any_order = true;
  static constexpr bool compensates = false;
  template <typename Context>
  using engine = cas_loop_engine;
};

struct warp_peers {
  static constexpr std::string_view name = "warp_peers";
  static constexpr std::string_view summary = "equal keys of a warp joined first, one atomic operation a key and warp";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool any_order = true;
  static constexpr bool compensates = false;
  template <typename Context>
  using engine = warp_peers_engine;
};

struct shared_bins {
  static constexpr std::string_view name = "shared_bins";
  static constexpr std::string_view summary = "blocks bin their elements in shared memory, hashed where keys are many";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool any_order = true;
  static constexpr bool compensates = false;
  template <typename Context>
  using engine = shared_bins_engine;
};

struct runs {
  static constexpr std::string_view name = "runs";
  static constexpr std::string_view summary = "equal keys that stand together joined first, in threads and warps";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool any_order = true;
  static constexpr bool compensates = false;
  template <typename Context>
  using engine = runs_engine;
};

struct private_tables {
  static constexpr std::string_view name = "private_tables";
  static constexpr std::string_view summary = "a table or a range of keys for each thread";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = false;
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool any_order = true;
  static constexpr bool compensates = false;
  template <typename Context>
  using engine = private_tables_engine;
};

struct linked_lists {
  static constexpr std::string_view name = "linked_lists";
  static constexpr std::string_view summary = "a linked list of the elements of each key, a thread a list";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool any_order = true;
  static constexpr bool compensates = false;
  template <typename Context>
  using engine = linked_lists_engine<Context>;
};

struct sort_reduce {
  static constexpr std::string_view name = "sort_reduce";
  static constexpr std::string_view summary = "elements sorted by key, once for all uses, then as ordered";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool any_order = true;
  static constexpr bool compensates = true;
  template <typename Context>
  using engine = sort_reduce_engine<Context>;
};

struct ordered {
  static constexpr std::string_view name = "ordered";
  static constexpr std::string_view summary = "for keys that are in order already: no sort, no atomic operations";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool any_order = false;
  static constexpr bool compensates = true;
  template <typename Context>
  using engine = ordered_engine<Context>;
};

struct fixed_point {
  static constexpr std::string_view name = "fixed_point";
  static constexpr std::string_view summary =
      "sums as integers in fixed point: the same bits for elements in any order";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::canonical;
  static constexpr bool any_order = true;
  static constexpr bool compensates = false;
  template <typename Context>
  using engine = fixed_point_engine<Context>;
};

}  // namespace key_method_types

/// All methods of keyed reduction. A new one is an engine in a file of its own, and its type and line here. `on_cuda`
/// must be false where the build has no CUDA backend if the engine has kernels of its own, because these are then not
/// there.
using key_method_list =
    method_list<key_method_types::atomic, key_method_types::cas_loop, key_method_types::warp_peers,
                key_method_types::shared_bins, key_method_types::runs, key_method_types::private_tables,
                key_method_types::linked_lists, key_method_types::sort_reduce, key_method_types::ordered,
                key_method_types::fixed_point>;

}  // namespace quadrat::detail
