// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <string>
#include <type_traits>

#include "cells/subject.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/neighborhood.hpp"

namespace quadrat::bench {

/// Maps a cell, by its index in the grid, to the particles in it.
template <typename View>
struct contents_of_cell {
  View view;

  QUADRAT_HD tally operator()(std::size_t place) const {
    vec<int, 3> cell{};
    for (int axis = 0; axis < 3; ++axis) {
      cell[axis] = static_cast<int>(place % static_cast<std::size_t>(view.space.cells[axis]));
      place /= static_cast<std::size_t>(view.space.cells[axis]);
    }
    tally sum;
    const auto add = [&sum](particle_id particle) { sum = sum + tally{1, pair_hash(particle, particle)}; };
    if constexpr (tight_cell_list<View>) {
      // Of the up to eight entries of a particle, only one has an empty mask.
      view.for_each_entry_in_cell(view.numbering.id(cell), [&](particle_id particle, std::uint32_t mask) {
        if (mask == 0) add(particle);
      });
    } else {
      view.for_each_in_cell(view.numbering.id(cell), add);
    }
    return sum;
  }
};

/// Maps a sample to the neighbors of its particle.
template <typename View, typename T>
struct neighbors_of_sample {
  View view;
  points_view<T, 3> points;
  T cutoff;
  std::size_t samples;

  QUADRAT_HD tally operator()(std::size_t sample) const {
    const auto i = static_cast<particle_id>(sample * points.count / samples);
    tally sum;
    for_each_neighbor(view, points, i, cutoff, [&](particle_id j, const vec<T, 3>&, T) {
      sum = sum + tally{1, pair_hash(i, j)};
    });
    return sum;
  }
};

/// Writes the walk_result of a particle.
template <typename View, typename T>
struct walk_of_particle {
  View view;
  points_view<T, 3> points;
  T cutoff;
  walk_result<T>* results;

  QUADRAT_HD void operator()(std::size_t i) const {
    walk_result<T> sum{};
    for_each_neighbor(view, points, static_cast<particle_id>(i), cutoff,
                      [&](particle_id, const vec<T, 3>& separation, T squared_distance) {
                        sum.neighbors += T(1);
                        if (squared_distance == T(0)) return;
                        const T distance = std::sqrt(squared_distance);
                        sum.force -= separation * ((cutoff - distance) / distance);
                      });
    results[i] = sum;
  }
};

template <typename Context, typename CellList>
class cell_subject_of final : public cell_subject<Context, typename CellList::value_type> {
  using T = typename CellList::value_type;
  using view_type = typename CellList::view_type;
  static constexpr bool can_carry =
      requires(CellList& list, const points_view<T, 3>& points, std::span<const carried_array> arrays) {
        list.build_and_carry_async(points, arrays);
      };

 public:
  cell_subject_of(const Context& context, const grid<T, 3>& space, const cell_list_options<T>& options)
      : context_(context), list_(context, space, options) {}

  void build(const points_view<T, 3>& points) override {
    list_.reserve(points.count);
    list_.build_async(points);
  }
  void check() override { list_.check(); }
  [[nodiscard]] std::size_t bytes() const override { return list_.bytes(); }

  [[nodiscard]] bool carries() const override { return can_carry; }
  void build_and_carry(const points_view<T, 3>& points, std::span<const carried_array> arrays) override {
    if constexpr (can_carry) {
      list_.reserve(points.count);
      list_.build_and_carry_async(points, arrays);
    } else {
      throw argument_error("this cell list carries no data");
    }
  }

  void walk(const points_view<T, 3>& points, T cutoff, walk_result<T>* results) override {
    for_each(context_, "bench: walk", points.count,
             walk_of_particle<view_type, T>{list_.view(), points, cutoff, results});
  }
  [[nodiscard]] tally contents() override {
    const view_type view = list_.view();
    return reduce_sum(context_, "bench: contents", view.space.size(), contents_of_cell<view_type>{view}, scratch_);
  }
  [[nodiscard]] tally neighbors(const points_view<T, 3>& points, T cutoff, std::size_t samples) override {
    return reduce_sum(context_, "bench: neighbors", samples,
                      neighbors_of_sample<view_type, T>{list_.view(), points, cutoff, samples}, scratch_);
  }

 private:
  Context context_;
  CellList list_;
  workspace<Context> scratch_;
};

template <typename Context, typename T>
std::unique_ptr<cell_subject<Context, T>> make_cell_subject(std::string_view method, const Context& context,
                                                            const grid<T, 3>& space,
                                                            const cell_list_options<T>& options) {
  std::unique_ptr<cell_subject<Context, T>> result;
  with_cell_list<Context, T, 3>(method, [&](auto list) {
    using list_type = typename decltype(list)::type;
    result = std::make_unique<cell_subject_of<Context, list_type>>(context, space, options);
  });
  return result;
}

}  // namespace quadrat::bench
