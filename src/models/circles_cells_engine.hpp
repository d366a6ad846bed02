// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <span>
#include <type_traits>
#include <vector>

#include "models/circles_engine.hpp"
#include "models/circles_kernels.hpp"
#include "models/circles_queue.hpp"
#include "models/replay.hpp"
#include "models/step_clock.hpp"
#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/orders.hpp"

namespace quadrat {

/// Runs the model over a cell list that carries the agents into its order. A step is the build, from the first set of
/// records into the second, and one kernel, which walks the second and writes the moved agents into the first.
template <typename CellList, typename Order>
class circles_cells_engine final
    : public circles_engine<typename CellList::context_type, typename CellList::value_type, CellList::dimension> {
 public:
  using context_type = typename CellList::context_type;
  using T = typename CellList::value_type;
  static constexpr int D = CellList::dimension;

  circles_cells_engine(const context_type& context, const detail::circles_setup<T, D>& setup);

  void set(std::span<const vec<T, D>> positions, std::span<const particle_id> storage_order,
           std::uint64_t step) override;
  void advance(std::size_t steps) override;
  void record(std::size_t steps, std::vector<circles_record>& records) override;
  void check() override;
  [[nodiscard]] circles_statistics measure() override;
  void gather(vec<T, D>* positions) override;
  void gather_neighbors(std::uint32_t* neighbors) override;
  [[nodiscard]] std::vector<particle_id> storage_order() override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  using view_type = typename CellList::view_type;
  using record_type = detail::agent_record<T, D>;
  /// Steps in one graph: enough to hide the launch of the next, and even, so that it ends on the parity it began with.
  static constexpr std::size_t batch = 16;
  /// Steps that are recorded before their events are read.
  static constexpr std::size_t longest_record = 512;

  void build();
  /// Enqueues a step that leads to `shown_` instead of the next state, with neighbors counted.
  void look();
  /// Enqueues the walk over the carried agents.
  void walk(record_type* to, std::uint32_t* neighbors, const detail::step_words& words);
  template <typename Law>
  void walk_by(const Law& law, record_type* to, std::uint32_t* neighbors, const detail::step_words& words);
  [[nodiscard]] detail::step_words words(int parity);
  void enqueue_step(int parity, std::uint32_t* neighbors);
  void record_chunk(std::size_t steps, std::vector<circles_record>& records);
  /// Sums up what a step that led to the records `to` has found.
  void enqueue_totals(const record_type* to, detail::circles_totals* result);
  [[nodiscard]] circles_record averaged(const detail::circles_totals& totals) const;

  static constexpr bool queues = std::is_same_v<context_type, cuda_context> &&
                                 std::is_same_v<Order, search_orders::trimmed> &&
                                 std::is_same_v<typename CellList::method, cell_methods::counting>;

  context_type context_;
  detail::circles_setup<T, D> setup_;
  detail::search_system<T, D> system_{};  // of the cells, where neighbors are queued
  bool dense_ = false;
  bool sine_;
  detail::circles_sine_law<T, D> sine_law_{};
  detail::circles_original_law<T, D> original_law_{};
  CellList cells_;
  array<record_type, context_type> agents_;   // between steps
  array<record_type, context_type> carried_;  // in the order of the last build
  array<record_type, context_type> shown_;    // where a measurement's step would lead
  array<std::uint32_t, context_type> neighbors_;
  array<detail::circles_totals, context_type> totals_;
  array<std::uint64_t, context_type> words_;  // the step in work at even and odd parity, the fault; two for no use
  workspace<context_type> scratch_;
  detail::replay<context_type> single_[2];
  detail::replay<context_type> batch_[2];
  detail::replay<context_type> recorded_[2];
  int parity_ = 0;
  bool warm_ = false;  // everything has been allocated
  std::exception_ptr failure_;
};

template <typename CellList, typename Order>
circles_cells_engine<CellList, Order>::circles_cells_engine(const context_type& context,
                                                            const detail::circles_setup<T, D>& setup)
    : context_(context),
      setup_(setup),
      sine_(setup.parameters.form == circles_form::sine),
      cells_(context, setup.space, {.outside_allowed = sine_}),
      agents_(context, setup.count),
      carried_(context, setup.count + detail::circles_padding),
      words_(context, 5) {
  if constexpr (queues) {
    system_ = detail::make_search_system(setup.space);
    double cubes = 1;
    for (int axis = 0; axis < D; ++axis) {
      cubes *= static_cast<double>(setup.space.domain.length[axis]) / setup.parameters.reach();
    }
    dense_ = static_cast<double>(setup.count) > detail::circles_dense_from * cubes;
  }
  if (sine_) {
    sine_law_ = detail::make_sine_law<T, D>(setup.parameters);
  } else {
    original_law_ = detail::make_original_law<T, D>(setup.parameters, setup.space.domain);
  }
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::set(std::span<const vec<T, D>> positions,
                                                std::span<const particle_id> storage_order, std::uint64_t step) {
  const auto from = to_device(context_, positions);
  const auto order = to_device(context_, storage_order);
  for_each(context_, "circles.place", setup_.count,
           detail::place_agents<T, D>{from.data(), order.data(), agents_.data()});
  const std::array<std::uint64_t, 5> words{step + 1, step + 1, detail::no_run_fault, 0, detail::no_run_fault};
  copy_bytes(context_, words.data(), words_.data(), sizeof(words));
  context_.synchronize();
  failure_ = nullptr;
  try {
    cells_.check(context_);
  } catch (const data_error&) {
    // What went wrong before is over.
  }
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::build() {
  const T* first = setup_.count == 0 ? nullptr : agents_.data()->position.component;
  const auto points = strided_points<D>(first, setup_.count, 4);
  const carried_array arrays[] = {carry(static_cast<const record_type*>(agents_.data()), carried_.data())};
  cells_.build_and_carry(context_, points, arrays);
}

template <typename CellList, typename Order>
template <typename Law>
void circles_cells_engine<CellList, Order>::walk_by(const Law& law, record_type* to, std::uint32_t* neighbors,
                                                    const detail::step_words& words) {
  if constexpr (queues) {
    if (setup_.queue_neighbors) {
      const detail::circles_queue_step<T, D> step{
          system_, cells_.view().buckets.offsets, carried_.data(), to, neighbors, words, setup_.count, dense_};
      return detail::enqueue_circles_queue_step(context_, step, law);
    }
  }
  const detail::circles_step<Order, view_type, Law, T, D> body{cells_.view(), law,  carried_.data(), to,
                                                               neighbors,     words};
  for_each(context_, "circles.walk", setup_.count, body);
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::walk(record_type* to, std::uint32_t* neighbors,
                                                 const detail::step_words& words) {
  if (sine_) {
    walk_by(sine_law_, to, neighbors, words);
  } else {
    walk_by(original_law_, to, neighbors, words);
  }
}

template <typename CellList, typename Order>
detail::step_words circles_cells_engine<CellList, Order>::words(int parity) {
  return {words_.data() + parity, words_.data() + 1 - parity, {words_.data() + 2}};
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::enqueue_step(int parity, std::uint32_t* neighbors) {
  build();
  walk(agents_.data(), neighbors, words(parity));
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::advance(std::size_t steps) {
  if (failure_ != nullptr) return;
  for (std::size_t left = steps; left > 0;) {
    const std::size_t count = warm_ && left >= batch ? batch : 1;
    const auto work = [&] {
      for (std::size_t k = 0; k < count; ++k) enqueue_step(parity_ ^ static_cast<int>(k & 1), nullptr);
    };
    if (warm_) {
      (count == batch ? batch_ : single_)[parity_].run(context_, work);
    } else {
      work();
    }
    warm_ = true;
    parity_ ^= static_cast<int>(count & 1);
    left -= count;
  }
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::record(std::size_t steps, std::vector<circles_record>& records) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  neighbors_.resize_discarding(context_, setup_.count);
  totals_.resize_discarding(context_, longest_record);
  if (steps > 0 && !warm_) {
    // The first step of a run allocates, which is not what is to be timed: a step that leads nowhere does it instead.
    static_cast<void>(measure());
    warm_ = true;
  }
  for (std::size_t left = steps; left > 0;) {
    const std::size_t count = std::min(left, longest_record);
    record_chunk(count, records);
    left -= count;
  }
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::record_chunk(std::size_t steps, std::vector<circles_record>& records) {
  detail::step_clock<context_type> clock(context_, steps);
  const auto step = [&] { enqueue_step(parity_, neighbors_.data()); };
  for (int parity = 0; parity < 2; ++parity, parity_ ^= 1) recorded_[parity_].prepare(context_, step);
  for (std::size_t k = 0; k < steps; ++k) {
    clock.start(context_);
    recorded_[parity_].run(context_, step);
    clock.stop(context_);
    parity_ ^= 1;
    enqueue_totals(agents_.data(), totals_.data() + k);
  }
  const auto totals = to_host(context_, static_cast<const detail::circles_totals*>(totals_.data()), steps);
  for (std::size_t k = 0; k < steps; ++k) {
    circles_record found = averaged(totals[k]);
    found.step = records.size() + 1;
    found.milliseconds = clock.milliseconds(k);
    records.push_back(found);
  }
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::enqueue_totals(const record_type* to, detail::circles_totals* result) {
  const detail::read_circles_totals<T, D> map{neighbors_.data(), carried_.data(), to};
  reduce_into(context_, "circles.totals", setup_.count, map, detail::join_circles_totals{}, detail::circles_totals{},
              result, scratch_);
}

template <typename CellList, typename Order>
circles_record circles_cells_engine<CellList, Order>::averaged(const detail::circles_totals& totals) const {
  const double count = std::max(static_cast<double>(setup_.count), 1.0);
  circles_record result;
  result.mean_neighbors = static_cast<double>(totals.neighbors) / count;
  const double variance =
      static_cast<double>(totals.squared_neighbors) / count - result.mean_neighbors * result.mean_neighbors;
  result.neighbor_deviation = std::sqrt(std::max(variance, 0.0));
  result.mean_displacement = totals.displacement / count;
  return result;
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::look() {
  neighbors_.resize_discarding(context_, setup_.count);
  shown_.resize_discarding(context_, setup_.count);
  build();
  walk(shown_.data(), neighbors_.data(), {words_.data(), words_.data() + 3, {words_.data() + 4}});
}

template <typename CellList, typename Order>
circles_statistics circles_cells_engine<CellList, Order>::measure() {
  totals_.resize_discarding(context_, longest_record);
  look();
  enqueue_totals(shown_.data(), totals_.data());
  const auto totals = to_host(context_, static_cast<const detail::circles_totals*>(totals_.data()), 1)[0];
  const detail::count_circles_candidates<Order, view_type, T, D> walked{cells_.view(), carried_.data(),
                                                                        static_cast<T>(setup_.parameters.reach())};
  const auto candidates = reduce_sum(context_, "circles.candidates", setup_.count, walked, scratch_);
  const double count = std::max(static_cast<double>(setup_.count), 1.0);
  const circles_record average = averaged(totals);
  circles_statistics result;
  result.mean_neighbors = average.mean_neighbors;
  result.neighbor_deviation = average.neighbor_deviation;
  result.most_neighbors = totals.most_neighbors;
  result.candidates_per_agent = static_cast<double>(candidates) / count;
  result.mean_displacement = average.mean_displacement;
  result.max_displacement = totals.largest_displacement;
  return result;
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::check() {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  const std::uint64_t fault = to_host(context_, static_cast<const std::uint64_t*>(words_.data()) + 2, 1)[0];
  try {
    if (fault != detail::no_run_fault) {
      throw data_error(message("the run blew up in step ", fault >> 32, ": agent ", fault & 0xffffffffu,
                               " got a position that is not finite; a smaller force would help"));
    }
    cells_.check(context_);
  } catch (const data_error&) {
    failure_ = std::current_exception();
    throw;
  }
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::gather(vec<T, D>* positions) {
  for_each(context_, "circles.gather", setup_.count, detail::gather_agents<T, D>{agents_.data(), positions});
}

template <typename CellList, typename Order>
void circles_cells_engine<CellList, Order>::gather_neighbors(std::uint32_t* neighbors) {
  look();
  for_each(context_, "circles.gather_neighbors", setup_.count,
           detail::gather_agent_neighbors<T, D>{carried_.data(), neighbors_.data(), neighbors});
}

template <typename CellList, typename Order>
std::vector<particle_id> circles_cells_engine<CellList, Order>::storage_order() {
  array<particle_id, context_type> ids(context_, setup_.count);
  for_each(context_, "circles.ids", setup_.count, detail::read_agent_ids<T, D>{agents_.data(), ids.data()});
  return to_host(context_, ids);
}

template <typename CellList, typename Order>
std::size_t circles_cells_engine<CellList, Order>::bytes() const {
  return cells_.bytes() + agents_.bytes() + carried_.bytes() + shown_.bytes() + neighbors_.bytes() + totals_.bytes() +
         words_.bytes() + scratch_.bytes();
}

}  // namespace quadrat
