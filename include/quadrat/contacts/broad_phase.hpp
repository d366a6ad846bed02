// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Broad phase: all pairs of axis-aligned boxes that overlap, each once. Two boxes overlap where their closed intervals
/// meet along every axis (boxes that touch do): what a narrow phase is to look at.
namespace quadrat {

/// The caller's boxes, in the memory of the context. Lower corners must not be above upper ones.
template <typename T>
struct bounds_view {
  points_view<T, 3> lower{};
  points_view<T, 3> upper{};
  const std::uint32_t* groups = nullptr;  ///< by box, below 32; nullptr: all of group 0

  [[nodiscard]] QUADRAT_HD std::size_t size() const { return lower.count; }
};

/// Pairs in the memory of a context: first[k] < second[k].
struct candidate_pairs_view {
  std::uint64_t count;
  const particle_id* first;
  const particle_id* second;
};

template <typename T>
struct broad_phase_options {
  std::string method{};  ///< one of contact_methods() with `pairs`; empty: chosen
  /// Where bodies are. Bodies outside of its open axes count as well; it then says only where most of them are. Along a
  /// periodic axis boxes meet as the images whose centers are nearest, and must not be longer than half of it. Left
  /// out: open, around all bodies, found at each build.
  std::optional<box<T, 3>> domain{};
  T bin_size = T(0);  ///< edge of a bin; of the finest, where bins have several sizes. 0: chosen
  pair_masks masks = all_groups_meet();
  bool sorted = false;  ///< pairs by (first, second); at most 2^31 - 1 of them
};

/// Finds pairs as often as bodies move. Move-only. Context: cpu_context or cuda_context; T: float or double. A build of
/// a size that has been met allocates nothing. Which pairs are found is always the same; their order is the same in
/// every run when the context asks for run_to_run or canonical (which implies `sorted`), or `sorted` is asked for.
/// Sources: parallel-binning-collision (stages), uniform-grid-atomics (section 1: loose and tight grids).
template <typename Context, typename T>
class broad_phase {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Throws argument_error for impossible options.
  broad_phase(const Context& context, const broad_phase_options<T>& options);
  broad_phase(broad_phase&&) noexcept;
  broad_phase& operator=(broad_phase&&) noexcept;
  ~broad_phase();

  /// Counts exactly, then fills. Synchronises. Throws argument_error for input that the host can see to be impossible,
  /// data_error naming the first box that is not finite, upside down, of an impossible group, or too long for a
  /// periodic axis. Unusable after an exception until the next build.
  void build(const bounds_view<T>& bounds);

  [[nodiscard]] candidate_pairs_view view() const;
  /// The method of the last build, the edge of its (finest) bins, 0 without bins, and why both were chosen.
  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] T bin_size() const;
  [[nodiscard]] std::string_view reason() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

namespace detail {

template <typename F>
struct call_with_pair {
  candidate_pairs_view pairs;
  F f;

  QUADRAT_HD void operator()(std::size_t k) const { f(pairs.first[k], pairs.second[k]); }
};

}  // namespace detail

/// Calls f(first, second) for each pair: where a caller's own narrow phase goes. f is a host-device functor.
/// Asynchronous. On CUDA for sources that nvcc compiles.
template <typename Context, typename F>
void for_each_candidate_pair(const Context& context, const candidate_pairs_view& pairs, const F& f) {
  for_each(context, "contacts.narrow_phase", pairs.count, detail::call_with_pair<F>{pairs, f});
}

}  // namespace quadrat
