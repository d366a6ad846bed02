// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <exception>
#include <span>
#include <vector>

#include "models/circles/engine.hpp"
#include "models/circles/kernels.hpp"
#include "models/circles/queue.hpp"
#include "models/replay.hpp"
#include "parallel/step_clock.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat {

/// The agents and their steps, for any cell list and order. A step is a build, from the first set of records into the
/// second, and one kernel, which walks the second and writes the moved agents to the first.
template <typename Context, typename T, int D>
class circles_agents_engine : public circles_engine<Context, T, D> {
 public:
  circles_agents_engine(const Context& context, const detail::circles_setup<T, D>& setup);

  void set(std::span<const vec<T, D>> positions, std::span<const particle_id> storage_order,
           std::uint64_t step) override;
  void place(const detail::placed_agents<T, D>& agents) override;
  [[nodiscard]] const std::uint64_t* fault() const override { return words_.data() + 2; }
  void advance(std::size_t steps) override;
  void record(std::size_t steps, std::vector<circles_record>& records) override;
  void check() override;
  [[nodiscard]] circles_statistics measure() override;
  void gather(vec<T, D>* positions) override;
  void gather_neighbors(std::uint32_t* neighbors) override;
  void gather_order(particle_id* ids) override;
  [[nodiscard]] std::vector<particle_id> storage_order() override;
  [[nodiscard]] std::size_t bytes() const override;

 protected:
  using record_type = detail::agent_record<T, D>;

  /// Enqueues the build of the cell list from `agents`, which writes them to `carried` in the order of cells.
  virtual void build(const record_type* agents, record_type* carried) = 0;
  /// Enqueues the walk over the carried agents.
  virtual void walk(const record_type* carried, record_type* to, std::uint32_t* neighbors,
                    const detail::step_words& words) = 0;
  /// Enqueues the number of agents that each slot's walk reads.
  virtual void count_candidates(const record_type* carried, std::uint32_t* candidates) = 0;
  /// Synchronizes. Throws the faults of builds.
  virtual void check_cells() = 0;
  [[nodiscard]] virtual std::size_t bytes_of_cells() const = 0;

  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] const detail::circles_setup<T, D>& setup() const { return setup_; }

 private:
  /// Steps recorded before their events are read.
  static constexpr std::size_t longest_record = 512;

  /// Enqueues a step that writes to `shown_` instead of advancing the state, and counts neighbors.
  void look();
  [[nodiscard]] detail::step_words words(int parity);
  void enqueue_step(int parity, std::uint32_t* neighbors);
  void record_chunk(std::size_t steps, std::vector<circles_record>& records);
  /// Sums up the results of a step that wrote the records `to`.
  void enqueue_totals(const record_type* to, detail::circles_totals* result);

  Context context_;
  detail::circles_setup<T, D> setup_;
  array<record_type, Context> agents_;   // between steps
  array<record_type, Context> carried_;  // in the order of the last build
  array<record_type, Context> shown_;    // result of a measuring step
  array<std::uint32_t, Context> neighbors_;
  array<detail::circles_fixed_totals, Context> fixed_totals_;  // at canonical
  array<detail::circles_totals, Context> totals_;
  array<std::uint64_t, Context> words_;  // the current step at even and odd parity, the fault; two unused
  workspace<Context> scratch_;
  detail::step_replay<Context> steps_;
  detail::replay<Context> recorded_[2];  // by parity
  std::exception_ptr failure_;
};

template <typename Context, typename T, int D>
circles_agents_engine<Context, T, D>::circles_agents_engine(const Context& context,
                                                            const detail::circles_setup<T, D>& setup)
    : context_(context),
      setup_(setup),
      agents_(context, setup.count),
      carried_(context, setup.count + detail::circles_padding),
      words_(context, 5) {
  fill_bytes(context, carried_.data() + setup.count, 0, detail::circles_padding * sizeof(record_type));
  fill_bytes(context, words_.data(), 0xff, words_.bytes());
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::set(std::span<const vec<T, D>> positions,
                                               std::span<const particle_id> storage_order, std::uint64_t step) {
  const auto from = to_device(context_, positions);
  const auto order = to_device(context_, storage_order);
  place({from.data(), order.data(), step, nullptr});
  context_.synchronize();
  failure_ = nullptr;
  try {
    check_cells();
  } catch (const data_error&) {
    // Clears earlier faults.
  }
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::place(const detail::placed_agents<T, D>& agents) {
  for_each(context_, "circles.place", setup_.count,
           detail::place_agents<T, D>{agents.positions, agents.order, agents_.data()});
  for_each(context_, "circles.begin", 1, detail::begin_words{words_.data(), agents.step + 1, agents.fault});
}

template <typename Context, typename T, int D>
detail::step_words circles_agents_engine<Context, T, D>::words(int parity) {
  return {words_.data() + parity, words_.data() + 1 - parity, {words_.data() + 2}};
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::enqueue_step(int parity, std::uint32_t* neighbors) {
  build(agents_.data(), carried_.data());
  walk(carried_.data(), agents_.data(), neighbors, words(parity));
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::advance(std::size_t steps) {
  if (failure_ != nullptr) return;
  steps_.advance(context_, steps, [&](int parity) { enqueue_step(parity, nullptr); });
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::record(std::size_t steps, std::vector<circles_record>& records) {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  neighbors_.resize_discarding(context_, setup_.count);
  totals_.resize_discarding(context_, longest_record);
  if (steps > 0 && !steps_.warm()) {
    // The first step of a run allocates: a step without effect does that before timing.
    static_cast<void>(measure());
    steps_.set_warm();
  }
  for (std::size_t left = steps; left > 0;) {
    const std::size_t count = std::min(left, longest_record);
    record_chunk(count, records);
    left -= count;
  }
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::record_chunk(std::size_t steps, std::vector<circles_record>& records) {
  detail::step_clock<Context> clock(context_, steps);
  const auto step = [&] { enqueue_step(steps_.parity(), neighbors_.data()); };
  for (int both = 0; both < 2; ++both, steps_.pass()) recorded_[steps_.parity()].prepare(context_, step);
  for (std::size_t k = 0; k < steps; ++k) {
    clock.start(context_);
    recorded_[steps_.parity()].run(context_, step);
    clock.stop(context_);
    steps_.pass();
    enqueue_totals(agents_.data(), totals_.data() + k);
  }
  const auto totals = to_host(context_, static_cast<const detail::circles_totals*>(totals_.data()), steps);
  for (std::size_t k = 0; k < steps; ++k) {
    circles_record found = detail::averaged(totals[k], setup_.count);
    found.step = records.size() + 1;
    found.milliseconds = clock.milliseconds(k);
    records.push_back(found);
  }
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::enqueue_totals(const record_type* to, detail::circles_totals* result) {
  const detail::read_circles_totals<T, D> map{neighbors_.data(), carried_.data(), to};
  if (context_.reproducibility() != determinism::canonical) {
    return reduce_into(context_, "circles.totals", setup_.count, map, detail::join_circles_totals{},
                       detail::circles_totals{}, result, scratch_);
  }
  fixed_totals_.resize_discarding(context_, 1);
  const detail::circles_length_unit unit = detail::unit_of_moves(setup_.parameters, D);
  reduce_into(context_, "circles.totals", setup_.count,
              detail::read_circles_fixed_totals<detail::read_circles_totals<T, D>>{map, unit},
              detail::join_circles_fixed_totals{}, detail::circles_fixed_totals{}, fixed_totals_.data(), scratch_);
  for_each(context_, "circles.round", 1, detail::round_circles_totals{fixed_totals_.data(), unit, result});
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::look() {
  neighbors_.resize_discarding(context_, setup_.count);
  shown_.resize_discarding(context_, setup_.count);
  build(agents_.data(), carried_.data());
  walk(carried_.data(), shown_.data(), neighbors_.data(), {words_.data(), words_.data() + 3, {words_.data() + 4}});
}

template <typename Context, typename T, int D>
circles_statistics circles_agents_engine<Context, T, D>::measure() {
  totals_.resize_discarding(context_, longest_record);
  look();
  enqueue_totals(shown_.data(), totals_.data());
  const auto totals = to_host(context_, static_cast<const detail::circles_totals*>(totals_.data()), 1)[0];
  count_candidates(carried_.data(), neighbors_.data());
  const detail::read_number numbers{neighbors_.data()};
  const auto candidates = reduce_sum(context_, "circles.candidates", setup_.count, numbers, scratch_);
  const double count = std::max(static_cast<double>(setup_.count), 1.0);
  const circles_record average = detail::averaged(totals, setup_.count);
  circles_statistics result;
  result.mean_neighbors = average.mean_neighbors;
  result.neighbor_deviation = average.neighbor_deviation;
  result.most_neighbors = totals.most_neighbors;
  result.candidates_per_agent = static_cast<double>(candidates) / count;
  result.mean_displacement = average.mean_displacement;
  result.max_displacement = totals.largest_displacement;
  return result;
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::check() {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  const std::uint64_t fault = to_host(context_, static_cast<const std::uint64_t*>(words_.data()) + 2, 1)[0];
  try {
    detail::throw_circles_fault(fault);
    check_cells();
  } catch (const data_error&) {
    failure_ = std::current_exception();
    throw;
  }
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::gather(vec<T, D>* positions) {
  for_each(context_, "circles.gather", setup_.count, detail::gather_agents<T, D>{agents_.data(), positions});
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::gather_neighbors(std::uint32_t* neighbors) {
  look();
  for_each(context_, "circles.gather_neighbors", setup_.count,
           detail::gather_agent_neighbors<T, D>{carried_.data(), neighbors_.data(), neighbors});
}

template <typename Context, typename T, int D>
void circles_agents_engine<Context, T, D>::gather_order(particle_id* ids) {
  for_each(context_, "circles.ids", setup_.count, detail::read_agent_ids<T, D>{agents_.data(), ids});
}

template <typename Context, typename T, int D>
std::vector<particle_id> circles_agents_engine<Context, T, D>::storage_order() {
  array<particle_id, Context> ids(context_, setup_.count);
  gather_order(ids.data());
  return to_host(context_, ids);
}

template <typename Context, typename T, int D>
std::size_t circles_agents_engine<Context, T, D>::bytes() const {
  return bytes_of_cells() + agents_.bytes() + carried_.bytes() + shown_.bytes() + neighbors_.bytes() +
         fixed_totals_.bytes() + totals_.bytes() + words_.bytes() + scratch_.bytes();
}

}  // namespace quadrat
