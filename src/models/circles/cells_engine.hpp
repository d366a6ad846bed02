// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "models/circles/agents_engine.hpp"
#include "models/circles/fixed_sum.hpp"
#include "models/circles/queue.hpp"
#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/cells/grid_cells.hpp"
#include "quadrat/search/orders.hpp"

namespace quadrat {

/// Runs the model over a cell list that keeps agents in the order of its cells, walked in a given order. `Queues`:
/// neighbors can be queued first (queue.hpp).
template <typename CellList, typename Order, bool Queues>
class circles_cells_engine final : public circles_agents_engine<typename CellList::context_type,
                                                                typename CellList::value_type, CellList::dimension> {
 public:
  using context_type = typename CellList::context_type;
  using T = typename CellList::value_type;
  static constexpr int D = CellList::dimension;

  circles_cells_engine(const context_type& context, const detail::circles_setup<T, D>& setup);

 private:
  using base = circles_agents_engine<context_type, T, D>;
  using record_type = typename base::record_type;
  using view_type = typename CellList::view_type;

  void build(const record_type* agents, record_type* carried) override;
  void walk(const record_type* carried, record_type* to, std::uint32_t* neighbors,
            const detail::step_words& words) override;
  void count_candidates(const record_type* carried, std::uint32_t* candidates) override;
  void check_cells() override { cells_.check(); }
  [[nodiscard]] std::size_t bytes_of_cells() const override { return cells_.bytes(); }

  template <typename Law>
  void walk_by(const Law& law, const record_type* carried, record_type* to, std::uint32_t* neighbors,
               const detail::step_words& words);

  bool sine_;
  bool canonical_;
  detail::circles_sine_law<T, D> sine_law_{};
  detail::circles_original_law<T, D> original_law_{};
  detail::circles_fixed_law<T, D> fixed_law_{};  // at canonical
  CellList cells_;
  detail::search_system<T, D> system_{};  // of the cells, if neighbors are queued
  bool dense_ = false;
};

template <typename CellList, typename Order, bool Queues>
circles_cells_engine<CellList, Order, Queues>::circles_cells_engine(const context_type& context,
                                                                    const detail::circles_setup<T, D>& setup)
    : base(context, setup),
      sine_(setup.parameters.form == circles_form::sine),
      canonical_(context.reproducibility() == determinism::canonical),
      cells_(context, setup.space, {.accept_outside = sine_}) {
  if constexpr (Queues) {
    system_ = detail::make_search_system(setup.space);
    double cubes = 1;
    for (int axis = 0; axis < D; ++axis) {
      cubes *= static_cast<double>(setup.space.domain.length[axis]) / setup.parameters.reach();
    }
    const bool dense = static_cast<double>(setup.count) > detail::circles_dense_from * cubes;
    dense_ = !setup.queues.value_or(!dense);
  }
  if (canonical_) {
    fixed_law_ = detail::make_fixed_law<T, D>(setup.parameters, setup.space.domain);
  } else if (sine_) {
    sine_law_ = detail::make_sine_law<T, D>(setup.parameters);
  } else {
    original_law_ = detail::make_original_law<T, D>(setup.parameters, setup.space.domain);
  }
}

template <typename CellList, typename Order, bool Queues>
void circles_cells_engine<CellList, Order, Queues>::build(const record_type* agents, record_type* carried) {
  const std::size_t count = base::setup().count;
  const T* first = count == 0 ? nullptr : agents->position.component;
  const auto points = strided_points<D>(first, count, 4);
  const carried_array arrays[] = {carry(agents, carried)};
  cells_.reserve(count);
  cells_.build_and_carry_async(points, arrays);
}

template <typename CellList, typename Order, bool Queues>
template <typename Law>
void circles_cells_engine<CellList, Order, Queues>::walk_by(const Law& law, const record_type* carried, record_type* to,
                                                            std::uint32_t* neighbors, const detail::step_words& words) {
  const auto& setup = base::setup();
  if constexpr (Queues && !std::is_same_v<Law, detail::circles_fixed_law<T, D>>) {
    if (setup.queue_neighbors) {
      const detail::circles_queue_step<T, D> step{
          system_, cells_.view().buckets.offsets, carried, to, neighbors, words, setup.count, dense_};
      return detail::enqueue_circles_queue_step(base::context(), step, law);
    }
  }
  const detail::circles_step<Order, view_type, Law, T, D> body{cells_.view(), law, carried, to, neighbors, words};
  for_each(base::context(), "circles.walk", setup.count, body);
}

template <typename CellList, typename Order, bool Queues>
void circles_cells_engine<CellList, Order, Queues>::walk(const record_type* carried, record_type* to,
                                                         std::uint32_t* neighbors, const detail::step_words& words) {
  if (canonical_) {
    walk_by(fixed_law_, carried, to, neighbors, words);
  } else if (sine_) {
    walk_by(sine_law_, carried, to, neighbors, words);
  } else {
    walk_by(original_law_, carried, to, neighbors, words);
  }
}

template <typename CellList, typename Order, bool Queues>
void circles_cells_engine<CellList, Order, Queues>::count_candidates(const record_type* carried,
                                                                     std::uint32_t* candidates) {
  const detail::count_circles_variants<Order, view_type, T, D> body{
      cells_.view(), carried, static_cast<T>(base::setup().parameters.reach()), candidates};
  for_each(base::context(), "circles.candidates", base::setup().count, body);
}

}  // namespace quadrat
