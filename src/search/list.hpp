// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/host_mirror.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "search/methods.hpp"
#include "search/motion.hpp"
#include "search/pairs/points.hpp"
#include "search/reduced_boxes.hpp"
#include "search/results.hpp"
#include "search/rings.hpp"
#include "tune/autotuner.hpp"

/// The implementation of neighbor_list: results, what `update` remembers, and the engine in use. Its functions are in
/// list_build.hpp (memory, boxes, choice of the method, what is enqueued) and list_check.hpp (reading back faults and
/// counts, updates, pairs).
namespace quadrat {

namespace detail {

template <typename T, int D>
[[nodiscard]] bool same_boxes(const std::vector<lattice<T, D>>& a, std::span<const lattice<T, D>> b) {
  if (a.size() != b.size()) return false;
  // Usually the bytes are equal; padding may differ, so values decide.
  if (std::memcmp(a.data(), b.data(), b.size_bytes()) == 0) return true;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!(a[k].origin == b[k].origin && a[k].vectors == b[k].vectors && a[k].periodic == b[k].periodic)) return false;
  }
  return true;
}

}  // namespace detail

template <typename Context, typename T, int D>
struct neighbor_list<Context, T, D>::implementation {
  implementation(const Context& where, const neighbor_options<T>& chosen);

  void build(const neighbor_input<T, D>& input);
  void reserve(std::size_t pairs);
  void build_async(const neighbor_input<T, D>& input);
  [[nodiscard]] neighbor_counts count(const neighbor_input<T, D>& input);
  void check();
  /// Updates the list to these points, or returns false if it must be rebuilt.
  [[nodiscard]] bool follow(const neighbor_input<T, D>& input);
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] detail::listed_pairs<T, D> pairs() const;

  Context context;
  neighbor_options<T> options;

  enum class stage { empty, built, failed } state = stage::empty;
  bool asynchronous = false;                    // a build was asynchronous: a graph may repeat it at any time
  bool replayed = false;                        // the last build may be a replay
  bool leaves_faults = false;                   // builds leave faults, and the next one clears them
  bool prepared = false;                        // memory and method are those of the last build's input
  std::exception_ptr failure;                   // of the last build
  std::array<std::uint64_t, 2> failed_words{};  // the words `failure` was made from
  std::array<std::uint64_t, 2> former_words{};  // of replays before the last one that no check has reported
  neighbor_input<T, D> last;                    // for messages
  std::size_t rows = 0;
  std::uint64_t size = 0;
  std::uint64_t note = 0;  // the engine's word
  detail::neighbor_results<Context, T, D> results{options};
  detail::remembered_points<Context, T, D> remembered;
  detail::kept_points<Context, T, D> kept;
  detail::pair_memory<Context> pair_memory;
  std::uint64_t version = 0;  // counts builds

  std::vector<lattice<T, D>> given_boxes;
  std::vector<lattice<T, D>> boxes;                 // that are searched
  array<detail::shift_map<D>, Context> shift_maps;  // of each; empty: they are the given ones
  neighbor_input<T, D> searched;                    // the input with these boxes
  std::uint64_t boxes_number = 0;                   // counts changes of boxes
  bool one_image = false;                           // in these boxes
  bool nearest_image = false;
  double cubes = 1;  // with the reach as edge, that fill them
  bool given_systems = false;
  std::size_t point_count = 0;
  array<T, Context> type_cutoffs;
  array<std::uint64_t, Context> control;
  detail::host_mirror<Context> mirror;  // of the control words
  workspace<Context> scratch;

  using engine_type = detail::neighbor_engine<Context, T, D>;
  std::array<std::unique_ptr<engine_type>, detail::neighbor_method_list::size> engines;  // of the methods used so far
  engine_type* engine = nullptr;                                                         // of the last build
  detail::neighbor_request request{};                                                    // for which it was chosen
  detail::neighbor_request sampled{};                                                    // the last one sampled
  double mean_row = 0;  // mean number of neighbors in the last build or count; 0: none yet
  std::string_view method;
  std::string reason;
  detail::autotuner tuner;  // starts if options.autotune is set

 private:
  /// Words that the device writes and the host reads: two of a fault flag, the number of entries, whether points have
  /// moved, whether they have been wrapped, one for the engine, and what replays of a graph leave for `check`: the
  /// faults of replays before the last, and whether those of the last have been reported.
  enum control_word : std::size_t {
    fault_word,
    needed_word,
    size_word,
    moved_word,
    turned_word,
    engine_word,
    former_fault_word,
    former_needed_word,
    reported_word,
    control_word_count
  };

  static constexpr bool cuda = std::is_same_v<Context, cuda_context>;

  /// Keeps the error of a build that fails.
  template <typename Work>
  auto attempt(const Work& work) {
    try {
      return work();
    } catch (...) {
      state = stage::failed;
      failure = std::current_exception();
      throw;
    }
  }
  [[nodiscard]] bool matrix() const { return results.matrix(); }
  [[nodiscard]] fault_flag faults() { return {control.data() + fault_word, control.data() + needed_word}; }
  [[nodiscard]] fault_flag former_faults() {
    return {control.data() + former_fault_word, control.data() + former_needed_word};
  }
  [[nodiscard]] detail::neighbor_sink<T, D> sink(bool refuse) {
    return results.sink(faults(), control.data() + size_word, refuse);
  }
  [[nodiscard]] detail::neighbor_memory<T, D> memory() { return remembered.memory(results.keeps_shifts()); }
  [[nodiscard]] detail::neighbor_request request_for(const neighbor_input<T, D>& input) const;
  void choose_method(const neighbor_input<T, D>& input);
  [[nodiscard]] std::vector<detail::expected_time> expected_times(const points_view<T, D>& points);
  [[nodiscard]] detail::point_sample sample(const points_view<T, D>& points);
  void use_method(std::string_view name);
  [[nodiscard]] bool keeps_points() const { return options.keeps_points || options.skin > T(0); }
  void keep_points(const neighbor_input<T, D>& input);
  void set_boxes(std::span<const lattice<T, D>> given);
  void prepare(const neighbor_input<T, D>& input);
  void make_room(const neighbor_input<T, D>& input);
  /// The maps of shifts, by system; nullptr: the given boxes are searched.
  [[nodiscard]] const detail::shift_map<D>* maps() const { return shift_maps.size() > 0 ? shift_maps.data() : nullptr; }
  [[nodiscard]] detail::search_task<T, D> task(const neighbor_input<T, D>& input, double a_row);
  /// The mean number of neighbors in the last build or count.
  [[nodiscard]] double neighbors_of_a_point() const {
    const double entries = static_cast<double>(size) * (options.pairs == neighbor_pairs::half ? 2 : 1);
    return rows > 0 ? entries / static_cast<double>(rows) : 0;
  }
  void build_by_method(const neighbor_input<T, D>& input);
  [[nodiscard]] detail::neighbor_search<T, D> search(const neighbor_input<T, D>& input);
  void enqueue_cells(const neighbor_input<T, D>& input);
  void enqueue_copies(const neighbor_input<T, D>& input);
  [[nodiscard]] bool enqueue_at_once(const neighbor_input<T, D>& input, const detail::neighbor_sink<T, D>& to,
                                     bool may_give_up);
  void enqueue_counts(const neighbor_input<T, D>& input, bool grows);
  void enqueue_rows(const neighbor_input<T, D>& input, const detail::neighbor_sink<T, D>& to);
  [[nodiscard]] bool build_rows(const neighbor_input<T, D>& input, detail::neighbor_sink<T, D> to);
  void enqueue_entries(const neighbor_input<T, D>& input, const detail::neighbor_sink<T, D>& to);
  void give_shifts(const neighbor_input<T, D>& input, const detail::neighbor_sink<T, D>& to);
  void sort_entries(const neighbor_input<T, D>& input, const detail::neighbor_sink<T, D>& to);
  [[nodiscard]] detail::ring_bounds<T> ring_bounds() const;
  void enqueue_ring_counts(const detail::neighbor_sink<T, D>& to);
  void enqueue_size_of_counts();
  [[nodiscard]] const std::uint64_t* find_motion(const neighbor_input<T, D>& input);
  void clear_faults(bool keep = false);
  void report_former_faults();
  void read_control();
  void take_control(const std::uint64_t* words);
  void require_success() const;
  [[noreturn]] void fail(std::uint64_t fault, std::uint64_t needed);
  [[nodiscard]] std::string complaint(fault_kind kind, std::uint64_t number);
  [[nodiscard]] std::string place_complaint(bool query, std::size_t i);
  [[nodiscard]] std::string exclusion_complaint(fault_kind kind, std::size_t i);
};

}  // namespace quadrat
