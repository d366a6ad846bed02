// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "parallel/host_mirror.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "search/kernels.hpp"
#include "search/masks/masks.hpp"
#include "search/methods.hpp"
#include "search/motion.hpp"
#include "search/sweeps/sweeps.hpp"
#include "search/walk/rows.hpp"

/// What a neighbor_list is made of. Its functions stand in list_prepare.hpp (memory, boxes, the choice of the
/// method), list_build.hpp (what is enqueued), list_count.hpp and list_check.hpp (what comes back).
namespace quadrat {

namespace detail {

/// Words that the device writes and the host reads: the two of a fault flag, the number of entries, whether points
/// have moved,
/// and whether they have been wrapped.
enum control_word : std::size_t {
  fault_word,
  needed_word,
  size_word,
  moved_word,
  turned_word,
  masks_word,
  control_words
};

template <typename T, int D>
[[nodiscard]] bool same_boxes(const std::vector<lattice<T, D>>& a, std::span<const lattice<T, D>> b) {
  if (a.size() != b.size()) return false;
  // Nearly always the same bytes; where padding differs, the values decide.
  if (std::memcmp(a.data(), b.data(), b.size_bytes()) == 0) return true;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!(a[k].origin == b[k].origin && a[k].vectors == b[k].vectors && a[k].periodic == b[k].periodic)) return false;
  }
  return true;
}

}  // namespace detail

template <typename Context, typename T, int D>
struct neighbor_list<Context, T, D>::implementation {
  using enum detail::control_word;

  implementation(const Context& where, const neighbor_options<T>& chosen);

  void build(const neighbor_input<T, D>& input);
  void build_asynchronously(const neighbor_input<T, D>& input);
  [[nodiscard]] neighbor_counts count(const neighbor_input<T, D>& input);
  void check();
  /// Makes the list that is there right for these points, or says that it must be built.
  [[nodiscard]] bool follow(const neighbor_input<T, D>& input);

  Context context;
  neighbor_options<T> options;
  std::string_view method;
  std::string reason;

  enum class stage { empty, built, failed } state = stage::empty;
  bool replayed = false;  // the last build was asynchronous, and may be repeated by a graph
  bool prepared = false;  // there is memory, and a method, for what the last build was given
  bool given_systems = false;
  std::size_t point_count = 0;
  std::size_t rows = 0;
  std::uint64_t size = 0;
  std::uint64_t capacity = 0;  // entries that the arrays hold
  std::exception_ptr failure;
  neighbor_input<T, D> last;  // for messages

  array<std::uint64_t, Context> offsets;
  array<std::uint32_t, Context> counts;
  array<particle_id, Context> neighbors;
  array<particle_id, Context> first;
  array<T, Context> squared_distances;
  array<vec<T, D>, Context> vectors;
  array<vec<int, D>, Context> shifts;

  std::vector<lattice<T, D>> boxes;
  detail::search_system<T, D> first_system{};
  bool any_periodic = false;
  bool boxes_of_one_image = false;
  bool boxes_of_nearest_image = false;
  bool small_boxes = false;  // every pair of a system is tried
  std::size_t cells = 0;
  array<detail::search_system<T, D>, Context> systems;
  array<T, Context> type_cutoffs;
  counting_buckets<Context> buckets;
  array<std::uint32_t, Context> small_offsets;  // instead of the buckets, where one block builds the cells
  array<particle_id, Context> small_elements;
  array<detail::search_point<T, D>, Context> records;
  array<vec<int, D>, Context> boxes_by_slot;  // for walks
  array<T, Context> positions_xy;
  array<T, Context> positions_z;
  array<T, Context> coordinates;  // for sweeps, in place of the records
  array<particle_id, Context> slot_ids;
  array<vec<T, D>, Context> remembered;  // for update: see neighbor_memory
  array<std::uint64_t, Context> properties;
  array<vec<int, D>, Context> boxes_since;
  array<vec<int, D>, Context> turns;
  array<std::uint64_t, Context> keys;
  array<detail::candidate_mask, Context> mask_words;
  array<detail::row_share, Context> mask_shares;
  std::uint32_t words_a_row = 0;
  std::uint64_t most_masks = 0;  // that a row needed, where there was no room for them
  array<std::uint64_t, Context> control;
  detail::host_mirror<Context> mirror;  // of the control words
  workspace<Context> scratch;

  [[nodiscard]] std::size_t bytes() const;
  void grow(std::uint64_t entries);

 private:
  static constexpr bool cuda = std::is_same_v<Context, cuda_context>;

  [[nodiscard]] bool by_warps() const { return method == detail::neighbor_search_methods::warps::name; }
  [[nodiscard]] bool by_masks() const { return method == detail::neighbor_search_methods::masks::name || by_warps(); }
  [[nodiscard]] detail::split_positions<T, D> split() {
    return {by_masks() ? positions_xy.data() : nullptr, positions_z.data()};
  }
  [[nodiscard]] bool by_sweeps() const { return method == detail::neighbor_search_methods::sweeps::name; }
  /// Numbers of systems are data, which the device must look at, also where all should be 0.
  [[nodiscard]] bool one_system() const { return boxes.size() == 1 && !given_systems; }
  [[nodiscard]] bool small() const {
    return by_warps() && one_system() && point_count <= detail::small_cells_most && cells <= detail::small_cells_most &&
           context.reproducibility() == determinism::none;
  }
  [[nodiscard]] bool matrix() const { return options.layout == neighbor_layout::matrix; }
  /// Shifts are kept also where they are not asked for: vectors are renewed by them.
  [[nodiscard]] bool keeps_shifts() const { return options.shifts || (options.skin > T(0) && keeps_separations()); }
  [[nodiscard]] bool keeps_separations() const { return options.vectors || options.squared_distances; }
  /// Walks report shifts as they find pairs, unless these are sorted first.
  [[nodiscard]] bool needs_slot_boxes() const {
    return !by_masks() && !by_sweeps() && keeps_shifts() && !options.sorted;
  }
  [[nodiscard]] vec<int, D>* slot_boxes() { return needs_slot_boxes() ? boxes_by_slot.data() : nullptr; }
  [[nodiscard]] detail::neighbor_memory<T, D> memory() {
    return {remembered.data(), properties.data(), keeps_shifts() ? boxes_since.data() : nullptr, turns.data()};
  }
  [[nodiscard]] fault_flag faults() { return {control.data() + fault_word, control.data() + needed_word}; }
  void choose_method(const neighbor_input<T, D>& input);
  void set_boxes(std::span<const lattice<T, D>> given, std::size_t count);
  void prepare(const neighbor_input<T, D>& input);
  [[nodiscard]] detail::neighbor_search<T, D> search(const neighbor_input<T, D>& input);
  [[nodiscard]] detail::neighbor_sink<T, D> sink(bool refuse);
  [[nodiscard]] detail::masks_search<T, D> masks(const detail::neighbor_search<T, D>& what);
  [[nodiscard]] detail::sweeps_search<T, D> sweeps(const detail::neighbor_search<T, D>& what);
  [[nodiscard]] detail::walk_search<T, D> walk(const detail::neighbor_search<T, D>& what);
  [[nodiscard]] bool walks_plainly(const detail::neighbor_search<T, D>& what) const;
  void count_by_walk(const detail::neighbor_search<T, D>& what);
  void fill_by_walk(const detail::neighbor_search<T, D>& what, const detail::neighbor_sink<T, D>& to);
  void enqueue_cells(const neighbor_input<T, D>& input);
  void gather(const detail::neighbor_search<T, D>& what);
  void enqueue_row_counts(const neighbor_input<T, D>& input);
  void enqueue_counts(const neighbor_input<T, D>& input);
  void enqueue_entries(const neighbor_input<T, D>& input, bool refuse);
  void enqueue_size_of_counts();
  [[nodiscard]] bool grow_masks();
  [[nodiscard]] const std::uint64_t* find_motion(const neighbor_input<T, D>& input);
  void read_control();
  [[noreturn]] void fail(const std::uint64_t* words);
  [[nodiscard]] std::string complaint(fault_kind kind, std::uint64_t number);
  [[nodiscard]] std::string place_complaint(bool query, std::size_t i);
  [[nodiscard]] std::string exclusion_complaint(fault_kind kind, std::size_t i);
};

}  // namespace quadrat
