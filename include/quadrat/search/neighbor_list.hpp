// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/method.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/search/neighbor_pairs.hpp"

/// Neighbor lists: all (i, j, S) for which the squared length of points[j] + S . vectors - points[i] is strictly less
/// than the square of a cutoff, where S is a vector of whole numbers, zero along open axes. This is the meaning that
/// ASE gives it: where the box is smaller than the cutoff, several images of one neighbor count, each with its S, and
/// images of a particle itself do, too; (i, i, 0) never does.
namespace quadrat {

enum class neighbor_layout {
  csr,    ///< rows one after the other: row i is [offsets[i], offsets[i + 1])
  pairs,  ///< the same, and i beside each j
  matrix  ///< rows of a fixed width, padded with no_particle
};

/// What a pair's distance is compared with.
enum class cutoff_rule {
  uniform,        ///< the cutoff
  sum_of_radii,   ///< radius of i + radius of j (ASE's and matscipy's list of radii)
  larger_radius,  ///< the larger of the two radii
  own_radius,     ///< the radius of i: (i, j) may be listed and (j, i) not; for full lists
  table_of_types  ///< type_cutoffs[type of i * types + type of j]
};

/// What is wanted. The defaults give a full list in CSR, as fast as it can be had.
template <typename T>
struct neighbor_options {
  T cutoff = T(0);  ///< no pair is farther apart than this, whatever the rule
  /// The list holds pairs up to cutoff + skin, so that it stays complete until a particle has moved by half of the
  /// skin: see neighbor_list::update. Added to every cutoff of every rule.
  T skin = T(0);
  cutoff_rule rule = cutoff_rule::uniform;
  std::vector<T> type_cutoffs{};  ///< types x types, symmetric; 0: never a pair
  neighbor_pairs pairs = neighbor_pairs::full;
  neighbor_layout layout = neighbor_layout::csr;
  std::size_t width = 0;  ///< of a row of the matrix
  /// Each row by increasing (j, S): then the list is the same, bit for bit, in every run and with every method.
  bool sorted = false;
  bool squared_distances = false;
  bool vectors = false;  ///< from i to the image of j
  bool shifts = false;   ///< S
  /// Points outside of the open axes of their box are taken as they are instead of being refused; the box then says
  /// only where most of them lie.
  bool accept_outside = false;
  std::string method{};  ///< one of neighbor_methods(); empty: chosen
};

/// What is searched. Arrays belong to the device of the context; `boxes` and the numbers are on the host.
template <typename T, int D>
struct neighbor_input {
  points_view<T, D> points{};
  std::span<const lattice<T, D>> boxes{};  ///< one, or one a system
  /// System of each point, in any order; nullptr where there is one system. Pairs lie within one system.
  const std::uint32_t* system_of_point = nullptr;
  /// Where neighbors are wanted; left out: of the points themselves. A query is no particle, so that a point at its
  /// place is its neighbor. For full lists by the uniform rule, without skin and exclusions.
  std::optional<points_view<T, D>> queries{};
  const std::uint32_t* system_of_query = nullptr;
  const T* radii = nullptr;              ///< by point, for the rules with radii; none may pass what cutoff allows
  const std::uint32_t* types = nullptr;  ///< by point, for the table of types
  /// Excluded pairs (bonded neighbors): point i never meets those of excluded[excluded_offsets[i]] to
  /// excluded[excluded_offsets[i + 1] - 1], in any image. Standing in one of the two rows is enough. points + 1
  /// offsets, which must not decrease; excluded may be nullptr where there is none.
  const std::uint64_t* excluded_offsets = nullptr;
  const particle_id* excluded = nullptr;
};

/// A list in the memory of its context. Row i belongs to point (or query) i; indices are those of the caller's points.
/// Arrays that were not asked for are nullptr. Valid until the next build.
template <typename T, int D>
struct neighbor_list_view {
  std::size_t rows;
  std::size_t width;             ///< of a row of the matrix, 0 otherwise
  const std::uint64_t* offsets;  ///< csr, pairs: rows + 1
  const std::uint32_t* counts;   ///< rows
  const particle_id* neighbors;  ///< j
  const particle_id* first;      ///< pairs: i
  const T* squared_distances;
  const vec<T, D>* vectors;
  const vec<int, D>* shifts;

  /// Where row i begins in the arrays by entry.
  [[nodiscard]] QUADRAT_HD std::uint64_t row_begin(std::size_t i) const {
    return offsets != nullptr ? offsets[i] : static_cast<std::uint64_t>(i) * width;
  }
};

/// How many entries a list would have. Valid until the list counts or builds again.
struct neighbor_counts {
  std::size_t rows;
  const std::uint32_t* counts;  ///< of each row, in the memory of the context
  std::uint64_t total;          ///< of all rows
};

/// A way to search. Reproducible: the order of rows that are not sorted, where the context asks for it.
struct neighbor_method : method_info {};

/// All methods, in the order in which they are shown.
[[nodiscard]] std::span<const neighbor_method> neighbor_methods();

/// Whether the method of that name can search for what is asked, on a device that it runs on: some are made for certain
/// boxes and rules. Throws argument_error for an unknown name.
template <typename T, int D>
[[nodiscard]] bool neighbor_method_serves(std::string_view method, const neighbor_options<T>& options,
                                          const neighbor_input<T, D>& input);

/// A neighbor list that is built as often as particles move. Move-only. T: float or double; D: 2 or 3; Context:
/// cpu_context or cuda_context. A build of a size that has been met allocates nothing.
///
/// Determinism: which pairs are listed is always the same. Their order within a row is the same in every run when the
/// context asks for run_to_run or canonical, and for every method and box when `sorted` is asked for.
template <typename Context, typename T, int D>
class neighbor_list {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Throws argument_error for options that are impossible: a cutoff that is not positive and finite, a negative skin,
  /// a matrix without width, a table that is not square or not symmetric, an unknown method (naming the valid ones) or
  /// one that the backend lacks.
  neighbor_list(const Context& context, const neighbor_options<T>& options);
  /// The same, and keeps the boxes, one or one a system, for the calls below that are given points alone.
  neighbor_list(const Context& context, const neighbor_options<T>& options, std::vector<lattice<T, D>> boxes)
      : neighbor_list(context, options) {
    boxes_ = std::move(boxes);
  }
  neighbor_list(neighbor_list&&) noexcept;
  neighbor_list& operator=(neighbor_list&&) noexcept;
  ~neighbor_list();

  /// These points in the boxes that the list was made with: what `build`, `count` and `update` of points alone take. To
  /// be completed with radii, types, queries or exclusions. Valid as long as the list and the points.
  [[nodiscard]] neighbor_input<T, D> input(const points_view<T, D>& points,
                                           const std::uint32_t* system_of_point = nullptr) const {
    neighbor_input<T, D> result;
    result.points = points;
    result.boxes = boxes_;
    result.system_of_point = system_of_point;
    return result;
  }

  /// Builds the list, growing its memory to what the pairs need. Synchronises. Throws argument_error for input that the
  /// host can see to be impossible; data_error naming the first point that is not finite or outside of an open axis,
  /// or whose system, radius, type or row of excluded pairs is impossible; overflow_error when a row of the matrix is
  /// too short, with the width that would have sufficed, and when a row has 2^32 entries or more; argument_error when
  /// the free memory cannot hold the pairs, with their number. The list is unusable after an exception.
  void build(const neighbor_input<T, D>& input);
  void build(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr) {
    build(input(points, system_of_point));
  }

  /// Counts what `build` would list, row by row, in memory of the points: nothing is listed, and the layout makes no
  /// difference. Afterwards no list is built, and `build` comes before `build_asynchronously`. Synchronises. Throws
  /// what `build` throws. The counts are the same in every run and with every method.
  [[nodiscard]] neighbor_counts count(const neighbor_input<T, D>& input);
  [[nodiscard]] neighbor_counts count(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr) {
    return count(input(points, system_of_point));
  }

  /// The same as `build` in the memory that the last build left, asynchronously: can be captured in a CUDA graph.
  /// Allocates nothing; throws argument_error where it would have to (another number of points or boxes), and for input
  /// that the method of that build does not serve. `check` reports what went wrong, with the number of pairs that would
  /// have fitted.
  void build_asynchronously(const neighbor_input<T, D>& input);

  /// Room for so many pairs, beyond what builds have needed.
  void reserve(std::size_t pairs);

  /// Synchronises. Throws what the last build met, again at each call until the next.
  void check();

  /// Makes the list one for these points, and says whether that took a build. Needs a skin. Synchronises; throws what
  /// build throws.
  ///
  /// It builds when some point has moved by more than half of the skin since the last build, less what rounding may
  /// hide. Motion is taken modulo the periodic box, so that points may be wrapped at any time. It also builds when
  /// there is no list, or when the number of points, a box, the system, radius or type of a point or its row of
  /// excluded pairs is another than in the last build (by a hash of 64 bits a point; arrays may be changed in place).
  ///
  /// Otherwise the pairs stay those of the last build: all that are nearer than the cutoff now, and some that lie up to
  /// twice the skin beyond. Their shifts, vectors and squared distances become those of the points as given now, in
  /// the order that they had; `sorted` rows stay sorted.
  bool update(const neighbor_input<T, D>& input);
  bool update(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr) {
    return update(input(points, system_of_point));
  }

  /// Throws argument_error when nothing has been built, or the last build failed.
  [[nodiscard]] neighbor_list_view<T, D> view() const;
  /// Number of entries. Synchronises after build_asynchronously.
  [[nodiscard]] std::uint64_t size();
  /// The method of the last build, and why it was chosen.
  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] std::string_view reason() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const neighbor_options<T>& options() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
  std::vector<lattice<T, D>> boxes_;
};

}  // namespace quadrat
