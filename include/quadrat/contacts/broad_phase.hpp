// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Broad phase: all pairs of axis-aligned boxes that overlap, each once. Two boxes overlap if their closed intervals
/// meet along every axis (touching boxes do). The pairs are the input of a narrow phase.
namespace quadrat {

/// The caller's boxes, in the memory of the context. No component of a lower corner may exceed that of the upper.
template <typename T>
struct bounds_view {
  points_view<T, 3> lower{};
  points_view<T, 3> upper{};
  const std::uint32_t* groups = nullptr;  ///< by box, below 32; nullptr: all in group 0

  [[nodiscard]] QUADRAT_HD std::size_t size() const { return lower.count; }
};

/// Pairs in the memory of a context: first[k] < second[k], indices from 0.
struct candidate_pairs_view {
  std::uint64_t count;
  const particle_id* first;
  const particle_id* second;
};

/// The same for kernels in the stream of an asynchronous build.
struct candidate_pairs_view_async {
  const std::uint64_t* count;  ///< in the memory of the context; 0 if the build has failed, which `check` reports
  std::uint64_t capacity;      ///< of the arrays: the count is not above
  const particle_id* first;
  const particle_id* second;
};

template <typename T>
struct broad_phase_options {
  std::string method{};  ///< one of contact_methods() with `pairs`; empty or "auto": chosen
  /// The region of the bodies. Along open axes bodies may also lie outside; the domain then only says where most of
  /// them are. Along periodic axes, boxes overlap as the images with the nearest centers, and must not be longer than
  /// half the axis. Default: open, around all bodies, found at each build.
  std::optional<box<T, 3>> domain{};
  T bin_size = T(0);  ///< edge of a bin (of the finest, if there are several sizes). 0: auto
  pair_masks masks = all_groups_meet();
  bool sorted = false;  ///< pairs by (first, second); at most 2^31 - 1 of them
};

/// Finds pairs; rebuilt whenever bodies move. Move-only. Context: cpu_context or cuda_context; T: float or double. A
/// build of the same size as an earlier one allocates nothing. The set of pairs is always the same; their order is the
/// same in every run if `sorted` is set or the context requires run_to_run or canonical (which implies `sorted`).
/// Sources: parallel-binning-collision (stages), uniform-grid-atomics (section 1: loose and tight grids).
template <typename Context, typename T>
class broad_phase {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Throws argument_error for impossible options.
  broad_phase(const Context& context, const broad_phase_options<T>& options);

  /// Counts exactly, then fills. Waits. May allocate. Throws argument_error for invalid input visible to the host;
  /// data_error naming the first box that is not finite, has its corners swapped, has an invalid group, or is too long
  /// for a periodic axis. Unusable after an exception until the next build.
  void build(const bounds_view<T>& bounds);

  /// As `build`, with the method, the bins and the memory of the last build. Does not wait. Can be captured in a CUDA
  /// graph. Allocates nothing: throws argument_error if it would have to, because the last build failed or had another
  /// number of boxes. `check` throws what is wrong with the boxes: what `build` throws, and overflow_error if there is
  /// too little room for the pairs, or boxes in bins, with the number that room is needed for.
  void build_async(const bounds_view<T>& bounds);
  /// Waits after build_async. Allocates nothing. Throws its error, at every call until the next build.
  void check() const;
  /// Makes room for this many pairs. If there was less, the pairs of the last build are lost. Does not wait. May
  /// allocate.
  void reserve(std::size_t pairs);

  /// Waits after build_async. Allocates nothing. Throws what `check` throws, and argument_error if nothing has been
  /// built, or the last build failed. Valid until the next build.
  [[nodiscard]] candidate_pairs_view view() const;
  /// The same for kernels in the stream. Does not wait. Allocates nothing.
  [[nodiscard]] candidate_pairs_view_async view_async() const;
  /// The method of the last build, the edge of its (finest) bins or 0 without bins, and the reason for both choices.
  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] T bin_size() const;
  [[nodiscard]] std::string_view reason() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

namespace detail {

template <typename F>
struct call_with_pair {
  candidate_pairs_view pairs;
  F f;

  QUADRAT_HD void operator()(std::size_t k) const { f(pairs.first[k], pairs.second[k]); }
};

}  // namespace detail

/// Calls f(first, second) for each pair: for the caller's own narrow phase. f is a host-device functor. Waits.
/// Allocates nothing. For CUDA, only in sources compiled by nvcc.
template <typename Context, typename F>
void for_each_candidate_pair(const Context& context, const candidate_pairs_view& pairs, const F& f) {
  for_each_candidate_pair_async(context, pairs, f);
  context.synchronize();
}
/// The same. Does not wait. Allocates nothing. Can be captured.
template <typename Context, typename F>
void for_each_candidate_pair_async(const Context& context, const candidate_pairs_view& pairs, const F& f) {
  for_each(context, "contacts.narrow_phase", pairs.count, detail::call_with_pair<F>{pairs, f});
}

}  // namespace quadrat
