// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
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
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/search/cutoff_rule.hpp"
#include "quadrat/search/neighbor_pairs.hpp"
#include "quadrat/tune/explanation.hpp"

/// Neighbor lists: all (i, j, S) for which the squared length of points[j] + S . vectors - points[i] is strictly less
/// than the square of a cutoff, where S is an integer vector, zero along open axes. This is ASE's definition: if the
/// box is smaller than the cutoff, several images of one neighbor are listed, each with its S, and so are images of the
/// particle itself. (i, i, 0) is never listed.
namespace quadrat {

namespace detail {
template <typename T, int D>
struct listed_pairs;
template <typename Context>
struct pair_memory;
struct list_access;
}  // namespace detail

enum class neighbor_layout {
  csr,    ///< rows one after the other: row i is [offsets[i], offsets[i + 1])
  pairs,  ///< like csr, with i beside each j
  matrix  ///< rows of a fixed width, padded with no_particle
};

/// The contents of a list. The defaults give a full list in CSR by the fastest method.
template <typename T>
struct neighbor_options {
  T cutoff = T(0);  ///< upper bound on the distance of a pair, for every rule
  /// The list holds pairs up to cutoff + skin, so it stays complete until a particle has moved by half of the skin: see
  /// neighbor_list::update. The skin is added to every cutoff of every rule.
  T skin = T(0);
  cutoff_rule rule = cutoff_rule::uniform;
  std::vector<T> type_cutoffs{};  ///< types x types, symmetric; 0: never a pair
  /// At most three, increasing, below `cutoff`. The list then serves several cutoffs: the pairs of each are at the
  /// beginning of the rows. Rows are sorted by ring (the number of inner cutoffs at or below the distance), then (j,
  /// S); neighbor_list_view::within has the ends of rings. The skin is also added to them.
  std::vector<T> inner_cutoffs{};
  neighbor_pairs pairs = neighbor_pairs::full;
  neighbor_layout layout = neighbor_layout::csr;
  std::size_t width = 0;  ///< entries in a row of the matrix
  /// Sorts each row by (j, S): the list is then bitwise identical in every run and with every method.
  bool sorted = false;
  bool squared_distances = false;
  bool vectors = false;  ///< from i to the image of j
  bool shifts = false;   ///< S
  /// Keeps a copy of the points for the functions of visit_list.hpp. A list with a skin always does.
  bool keeps_points = false;
  /// Accepts points outside the box along open axes, anywhere.
  bool accept_outside = false;
  std::string method{};  ///< one of neighbor_methods(); empty or "auto": chosen
  /// Without a named method: times the methods that may be fastest during the first builds, which wait until each is
  /// done. The fastest is kept until the number of points or cells changes by half, or build_async is called
  /// (docs/concepts/choosing.md). Not at run_to_run and canonical.
  bool autotune = false;
};

/// The input of a search. Arrays are in the memory of the context's device; `boxes` is on the host.
template <typename T, int D>
struct neighbor_input {
  points_view<T, D> points{};
  std::span<const lattice<T, D>> boxes{};  ///< one, or one per system
  /// System of each point, in any order; nullptr for one system. Both points of a pair belong to the same system.
  const std::uint32_t* system_of_point = nullptr;
  /// Places whose neighbors are listed; by default the points themselves. A query is not one of the points: a point at
  /// the same place is its neighbor. For full lists of every rule, without skin or exclusions.
  std::optional<points_view<T, D>> queries{};
  const std::uint32_t* system_of_query = nullptr;
  const T* radii = nullptr;              ///< by point, for the rules with radii; at most cutoff, or cutoff / 2 for sums
  const std::uint32_t* types = nullptr;  ///< by point, for the table of types
  /// The same by query. With own_radius only the radii of queries are used, and points need none.
  const T* radii_of_queries = nullptr;
  const std::uint32_t* types_of_queries = nullptr;
  /// Excluded pairs (bonded neighbors): point i is never listed with any image of excluded[excluded_offsets[i]] to
  /// excluded[excluded_offsets[i + 1] - 1]. One of the two rows is enough to exclude a pair. points + 1 offsets, which
  /// must not decrease; excluded may be nullptr if no pair is excluded.
  const std::uint64_t* excluded_offsets = nullptr;
  const particle_id* excluded = nullptr;
};

/// A list in the memory of its context. Row i belongs to point (or query) i; indices, from 0, are those of the caller's
/// points. Arrays that were not requested are nullptr. Valid until the next build.
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
  /// rows x inner cutoffs, the last index fastest: the first within[i * inner cutoffs + k] entries of row i are those
  /// nearer than inner cutoff k (with the skin, when the list was built).
  const std::uint32_t* within;
  std::uint64_t capacity;  ///< elements of each array by entry; csr and pairs use the first neighbor_list::size()

  /// Index of the first entry of row i.
  [[nodiscard]] QUADRAT_HD std::uint64_t row_begin(std::size_t i) const {
    return offsets != nullptr ? offsets[i] : i * width;
  }
};

/// The number of entries a list would have. Valid until the list counts or builds again.
struct neighbor_counts {
  std::size_t rows;
  const std::uint32_t* counts;  ///< of each row, in the memory of the context
  std::uint64_t total;          ///< of all rows
};

/// A method of searching. `reproducible` concerns the order within unsorted rows, if the context requires it.
struct neighbor_method : method_info {};

/// All methods, in display order.
[[nodiscard]] std::span<const neighbor_method> neighbor_methods();

/// Whether the named method serves these options and this input on a device that it runs on: some methods require
/// certain boxes and rules. Throws argument_error for an unknown name.
template <typename T, int D>
[[nodiscard]] bool neighbor_method_serves(std::string_view method, const neighbor_options<T>& options,
                                          const neighbor_input<T, D>& input);

/// A neighbor list, rebuilt whenever particles have moved. Move-only. T: float or double; D: 2 or 3; Context:
/// cpu_context or cuda_context. A build of as many points and pairs as the previous one allocates nothing, unless
/// options.autotune tries methods.
///
/// Determinism: the set of pairs is always the same. Their order within a row is the same in every run if the context
/// requires run_to_run or canonical, and also for every method and box if `sorted` is set.
template <typename Context, typename T, int D>
class neighbor_list {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// Throws argument_error for impossible options: a cutoff that is not positive and finite, a negative skin, a matrix
  /// without width, a table that is not square or not symmetric, an unknown method (naming the valid ones) or one that
  /// the backend lacks, and autotune at run_to_run or canonical.
  neighbor_list(const Context& context, const neighbor_options<T>& options);
  /// The same, and keeps the boxes, one or one per system, for the calls below that take points alone.
  neighbor_list(const Context& context, std::vector<lattice<T, D>> boxes, const neighbor_options<T>& options)
      : neighbor_list(context, options) {
    boxes_ = std::move(boxes);
  }

  /// The input that `build`, `count` and `update` make of points alone: these points in the boxes that the list keeps.
  /// Radii, types, queries or exclusions can be added. Valid as long as the list and the points.
  [[nodiscard]] neighbor_input<T, D> input(const points_view<T, D>& points,
                                           const std::uint32_t* system_of_point = nullptr) const {
    neighbor_input<T, D> result;
    result.points = points;
    result.boxes = boxes_;
    result.system_of_point = system_of_point;
    return result;
  }

  /// Builds the list. Waits. May allocate. Determinism: see the class. Throws argument_error for impossible input that
  /// the host can see; data_error naming the first point that is not finite or outside the box along an open axis, or
  /// whose system, radius, type or row of excluded pairs is impossible; overflow_error if a row of the matrix is too
  /// short, with the width that would have sufficed, or if a row has 2^32 entries or more; argument_error if the free
  /// memory cannot hold the pairs, with their number.
  /// The list is unusable after an exception.
  void build(const neighbor_input<T, D>& input);
  void build(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr) {
    build(input(points, system_of_point));
  }

  /// Counts the entries that `build` would list, row by row, whatever the layout; memory is proportional to the points.
  /// Afterwards no list is built, and `build_async` needs a `build` first. Waits. May allocate. Throws what `build`
  /// throws. The counts are the same in every run and with every method.
  [[nodiscard]] neighbor_counts count(const neighbor_input<T, D>& input);
  [[nodiscard]] neighbor_counts count(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr) {
    return count(input(points, system_of_point));
  }

  /// Like `build`, in the memory of the last build. Does not wait. Allocates nothing. Can be captured in a CUDA graph.
  /// Throws argument_error, and leaves the list unchanged, if it would have to allocate (another number of points, or
  /// other boxes), and for input that the method of that build does not serve. `check` reports other errors, with the
  /// capacity that would have sufficed, including radii for which the levels of that build have no room. With
  /// `cpu_context` this call itself throws.
  void build_async(const neighbor_input<T, D>& input);
  void build_async(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr) {
    build_async(input(points, system_of_point));
  }

  /// Makes room for this many pairs, if there is less; then there is no list until the next build. Waits after
  /// build_async. May allocate.
  void reserve(std::size_t pairs);

  /// Waits after build_async. Allocates nothing. Throws the error of the last build, or of the last replay of a graph
  /// with one, at every call until the next build. If replays before the last have failed since the last check, throws
  /// that once, for too little room with the largest number that was needed.
  void check();

  /// Updates the list to these points; returns whether it was rebuilt. Needs a skin. Waits. May allocate.
  /// Throws what build throws.
  ///
  /// It rebuilds if some point has moved by more than half of the skin, less a bound on rounding, since the last build.
  /// Motion is taken modulo the periodic box, so that points may be wrapped at any time. It also rebuilds if there is
  /// no list, or if the number of points, a box, or a point's system, radius, type or row of excluded pairs has changed
  /// since the last build (compared by a 64-bit hash per point; arrays may be changed in place).
  ///
  /// Otherwise the pairs of the last build stay, in the same order. They include all pairs that are now nearer than the
  /// cutoff, and some up to twice the skin beyond. Their shifts, vectors and squared distances are recomputed from
  /// these points; `sorted` rows stay sorted.
  bool update(const neighbor_input<T, D>& input);
  bool update(const points_view<T, D>& points, const std::uint32_t* system_of_point = nullptr) {
    return update(input(points, system_of_point));
  }

  /// Throws argument_error if nothing has been built, or the last build failed.
  [[nodiscard]] neighbor_list_view<T, D> view() const;
  /// Number of entries. Waits after build_async. Allocates nothing. Throws what `check` throws.
  [[nodiscard]] std::uint64_t size();
  /// The method of the last build, and why it was chosen.
  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] std::string_view reason() const;
  /// All methods with their expected times, and what the last choice went by (docs/concepts/choosing.md); without
  /// candidates if nothing was chosen automatically. Does not wait. Allocates nothing.
  [[nodiscard]] quadrat::explanation explanation() const;
  /// Bytes of the context's memory held. With the automatic choice this includes the working memory of every method
  /// used so far, so that builds allocate nothing when the choice changes back and forth.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const neighbor_options<T>& options() const;
  [[nodiscard]] const Context& context() const;

 private:
  friend detail::list_access;
  /// The entries and the points of the last build or update, for visit_list.hpp. Throws argument_error if nothing has
  /// been built or the last build failed; for queries; for a list that keeps no points; and without shifts if a
  /// periodic axis is shorter than twice the cutoff with the skin, so that the nearest image may not be the listed one.
  [[nodiscard]] detail::listed_pairs<T, D> pairs() const;
  [[nodiscard]] detail::pair_memory<Context>& pair_memory() const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
  std::vector<lattice<T, D>> boxes_;
};

}  // namespace quadrat
