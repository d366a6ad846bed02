// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "parallel/count_limit.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "search/cells.hpp"
#include "search/kernels.hpp"

namespace quadrat::detail {

/// The steps of a build, in their order.
enum class build_step { cells, counts, entries };

/// A search method with its working memory. A build of a list calls prepare, then enqueue_at_once, or enqueue_cells,
/// enqueue_counts (not for a matrix) and enqueue_entries; these are asynchronous and allocate nothing. If the list has
/// to grow, the build calls adapt and repeats the steps from the one it returns. The list owns the results.
///
/// The descriptor of a method (core/method_choice.hpp) also has, for Context, T and D:
///   static std::unique_ptr<neighbor_engine<..>> make(context, options);   nullptr if it does not run there
///   static constexpr std::string_view served;                             what it serves, in words, if not everything
template <typename Context, typename T, int D>
class neighbor_engine {
 public:
  /// The options must outlive the engine.
  neighbor_engine(const Context& context, const neighbor_options<T>& options) : context_(context), options_(options) {}
  neighbor_engine(const neighbor_engine&) = delete;
  neighbor_engine& operator=(const neighbor_engine&) = delete;
  virtual ~neighbor_engine() = default;

  /// Makes cells, and room for a build.
  virtual void prepare(const search_task<T, D>& task) = 0;
  /// Puts points into cells. Invalid points, radii, types and excluded pairs raise faults.
  virtual void enqueue_cells(const search_key<T, D>& key) = 0;
  /// Counts the pairs of each row; on a CPU not beyond the limit.
  virtual void enqueue_counts(const neighbor_search<T, D>& what, std::uint32_t* counts, const fault_flag& faults) = 0;
  /// Writes the entries, or their keys if the sink takes keys. Counts the rows of a matrix.
  virtual void enqueue_entries(const neighbor_search<T, D>& what, const neighbor_sink<T, D>& sink) = 0;
  /// All three steps and the sums of the counts at once. Returns false, and enqueues nothing, if the engine cannot do
  /// this for the prepared input. Not for a matrix. `may_give_up`: the caller checks for gave_up_note afterwards. If it
  /// is set there is no list and no fault, and the caller must enqueue the steps one by one.
  [[nodiscard]] virtual bool enqueue_at_once(const search_key<T, D>& /*key*/, std::uint64_t* /*offsets*/,
                                             const neighbor_sink<T, D>& /*sink*/, bool /*may_give_up*/) {
    return false;
  }
  /// Makes other cells, or more room for the results of counting, after the list has grown to `pairs`. `task` says how
  /// long its rows are; `note` is the task's word as the kernels left it. Returns the step from which the build must be
  /// repeated.
  [[nodiscard]] virtual build_step adapt(const search_task<T, D>& /*task*/, std::uint64_t /*pairs*/,
                                         std::uint64_t /*note*/) {
    return build_step::entries;
  }
  [[nodiscard]] virtual std::size_t bytes() const = 0;

  [[nodiscard]] const search_system<T, D>* systems() const { return cells_.systems.data(); }
  [[nodiscard]] count_limit& limit() { return limit_; }

 protected:
  [[nodiscard]] T reach() const { return options_.cutoff + options_.skin; }
  /// Calls body(i), which returns the pairs of a row, for all rows up to the limit.
  template <typename Body>
  void count_rows(std::size_t rows, const Body& body) {
    if constexpr (std::is_same_v<Context, cpu_context>) {
      for_each(context_, "search.count", rows, limited_rows<Body>{body, &limit_});
    } else {
      for_each(context_, "search.count", rows, body);
    }
  }

  Context context_;
  const neighbor_options<T>& options_;
  search_cells<Context, T, D> cells_;
  count_limit limit_;
};

}  // namespace quadrat::detail
