// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/memory_check.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "search/kernels.hpp"

namespace quadrat::detail {

/// The arrays that a list returns.
template <typename Context, typename T, int D>
class neighbor_results {
 public:
  /// The options must outlive the results.
  explicit neighbor_results(const neighbor_options<T>& options) : options_(options) {}

  [[nodiscard]] bool matrix() const { return options_.layout == neighbor_layout::matrix; }
  /// With a skin, shifts are kept even if not requested: `update` computes vectors from them.
  [[nodiscard]] bool keeps_shifts() const { return options_.shifts || (options_.skin > T(0) && keeps_separations()); }
  [[nodiscard]] bool keeps_separations() const { return options_.vectors || options_.squared_distances; }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }

  void set_rows(const Context& context, std::size_t rows) {
    counts.resize_discarding(context, rows);
    if (!matrix()) offsets.resize_discarding(context, rows + 1);
    within.resize_discarding(context, rows * options_.inner_cutoffs.size());
  }

  /// Makes room for this many entries; existing ones are lost. Throws argument_error if there is not enough memory.
  void grow(const Context& context, std::uint64_t entries) {
    if (entries <= capacity_) return;
    const bool pairs = options_.layout == neighbor_layout::pairs;
    require_memory(context.memory(), message("a neighbor list with room for ", entries, " pairs"),
                   entries * entry_bytes(), capacity_ * entry_bytes(), advice);
    capacity_ = 0;
    neighbors_.resize_discarding(context, entries);
    if (pairs) first_.resize_discarding(context, entries);
    if (options_.squared_distances) squared_distances_.resize_discarding(context, entries);
    if (options_.vectors) vectors_.resize_discarding(context, entries);
    if (keeps_shifts()) shifts_.resize_discarding(context, entries);
    if (options_.sorted) keys_.resize_discarding(context, entries);
    capacity_ = entries;
  }

  /// The most entries that fit into memory.
  [[nodiscard]] std::uint64_t most_entries(const Context& context) const {
    const std::size_t available = context.memory().available_bytes();
    return available == ~std::size_t{0} ? available : capacity_ + available / entry_bytes();
  }
  /// Throws argument_error for more entries than fit.
  [[noreturn]] void refuse(const Context& context, std::uint64_t entries) const {
    throw argument_error(message("a neighbor list with room for more than ", entries, " pairs needs more than ",
                                 entries * entry_bytes(), " bytes; ", context.memory().available_bytes(), " are free. ",
                                 advice));
  }

  /// The destination of kernels. `refuse`: whether entries that do not fit are a fault.
  [[nodiscard]] neighbor_sink<T, D> sink(const fault_flag& faults, std::uint64_t* size, bool refuse) {
    return {matrix() ? nullptr : offsets.data(),
            counts.data(),
            options_.width,
            capacity_,
            options_.sorted ? keys_.data() : nullptr,
            neighbors_.data(),
            options_.layout == neighbor_layout::pairs ? first_.data() : nullptr,
            options_.squared_distances ? squared_distances_.data() : nullptr,
            options_.vectors ? vectors_.data() : nullptr,
            keeps_shifts() ? shifts_.data() : nullptr,
            faults,
            size,
            refuse,
            {}};
  }
  [[nodiscard]] neighbor_list_view<T, D> view(std::size_t rows) const {
    return {rows,
            matrix() ? options_.width : 0,
            matrix() ? nullptr : offsets.data(),
            counts.data(),
            neighbors_.data(),
            options_.layout == neighbor_layout::pairs ? first_.data() : nullptr,
            options_.squared_distances ? squared_distances_.data() : nullptr,
            options_.vectors ? vectors_.data() : nullptr,
            options_.shifts ? shifts_.data() : nullptr,
            options_.inner_cutoffs.empty() ? nullptr : within.data(),
            capacity_};
  }
  /// The shifts of all entries, requested or not; nullptr: not kept.
  [[nodiscard]] const vec<int, D>* shifts() const { return keeps_shifts() ? shifts_.data() : nullptr; }
  [[nodiscard]] std::size_t bytes() const {
    return offsets.bytes() + counts.bytes() + within.bytes() + neighbors_.bytes() + first_.bytes() +
           squared_distances_.bytes() + vectors_.bytes() + shifts_.bytes() + keys_.bytes();
  }

  array<std::uint64_t, Context> offsets;
  array<std::uint32_t, Context> counts;
  array<std::uint32_t, Context> within;  ///< of rings

 private:
  static constexpr const char* advice = "To count neighbors takes no room for pairs";

  [[nodiscard]] std::size_t entry_bytes() const {
    return sizeof(particle_id) * (options_.layout == neighbor_layout::pairs ? 2 : 1) +
           (options_.squared_distances ? sizeof(T) : 0) + (options_.vectors ? sizeof(vec<T, D>) : 0) +
           (keeps_shifts() ? sizeof(vec<int, D>) : 0) + (options_.sorted ? sizeof(std::uint64_t) : 0);
  }

  const neighbor_options<T>& options_;
  std::uint64_t capacity_ = 0;  // entries that the arrays hold
  array<particle_id, Context> neighbors_;
  array<particle_id, Context> first_;
  array<T, Context> squared_distances_;
  array<vec<T, D>, Context> vectors_;
  array<vec<int, D>, Context> shifts_;
  array<std::uint64_t, Context> keys_;  // sorting keys
};

}  // namespace quadrat::detail
