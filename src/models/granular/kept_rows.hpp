// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/granular/engine.hpp"
#include "models/granular/sum.hpp"
#include "quadrat/cells/carry.hpp"
#include "quadrat/cells/methods.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/views.hpp"

namespace quadrat {

template <typename CellList>
class granular_cells_engine;

namespace detail {

/// The slots of the grains that were near a grain, in increasing order of their ids.
struct kept_row {
  const std::uint32_t* first;
  std::size_t count;
};

/// Rows by slot, and the contact forces on a grain from its row, summed in increasing order of the other's id.
template <typename T>
struct rows_view {
  const kept_row* rows;

  [[nodiscard]] vec<T, 3> force(const granular_law<T>& law, const grain_records<T>& grains, std::uint32_t self) const {
    const vec<T, 3> here = grains.positions[self].position, velocity = grains.velocities[self].velocity;
    const kept_row row = rows[self];
    vec<T, 3> force{};
    for (std::size_t k = 0; k < row.count; ++k) {
      const std::uint32_t other = row.first[k];
      const vec<T, 3> r = grains.positions[other].position - here;
      const T squared_distance = squared_norm(r);
      if (!law.touches(squared_distance)) continue;
      force += law(r, squared_distance, grains.velocities[other].velocity - velocity, law.diameter);
    }
    return force;
  }
};

/// The memory of rows.
template <typename T>
class row_lists {
 public:
  using cells_view = typename cell_methods::counting::type<cpu_context, T, 3>::view_type;
  static constexpr std::size_t memory_of_row = 200;

  /// Makes the rows of the first `count` grains, of all grains nearer than `reach`. `Carried`: grains are in the order
  /// of the cells. Returns false, without rows, if they would take more than memory_of_row entries each on average.
  template <bool Carried>
  [[nodiscard]] bool make(const cpu_context& context, const cells_view& cells, const grain_records<T>& grains,
                          std::size_t count, T reach);
  [[nodiscard]] rows_view<T> view() const { return {rows_.data()}; }
  [[nodiscard]] std::size_t bytes() const;

 private:
  template <bool Carried>
  [[nodiscard]] bool list_part(const cells_view& cells, const grain_records<T>& grains, std::size_t part,
                               std::size_t first, std::size_t last, T reach);

  std::vector<kept_row> rows_;
  std::vector<std::vector<std::uint32_t>> lists_;  // of each part of the grains
};

template <typename T>
struct kept_rows_view {
  using cells_type = cell_methods::counting::type<cpu_context, T, 3>;

  typename cells_type::view_type cells;
  rows_view<T> rows;
  bool usable;  ///< otherwise cells are walked

  /// The contact forces on a grain, summed in increasing order of the other's id.
  [[nodiscard]] vec<T, 3> force(const granular_law<T>& law, const grain_records<T>& grains, std::uint32_t self) const {
    return usable ? rows.force(law, grains, self) : force_in_id_order<true>(cells, law, grains, self);
  }
};

/// For granular_cells_engine, on CPUs: rows of the grains within a diameter plus a skin. Rows and the order of grains
/// in memory are kept until a grain has moved by half the skin. So a heap at rest needs no cells and tests few grains
/// that do not touch. If grains are too crowded for rows, cells are walked instead.
///
/// Source: Verlet's list (Phys. Rev. 159, 98, 1967). Determinism: canonical, because sums are in the order of ids.
template <typename T>
class kept_rows {
 public:
  using context_type = cpu_context;
  using value_type = T;
  using view_type = kept_rows_view<T>;
  /// The width of the skin, in diameters.
  static constexpr double skin = 0.25;

  kept_rows(const cpu_context& context, const grid<T, 3>& finest, const cell_list_options<T>& options);

  /// `arrays`: the packed records of positions, and the velocities with ids.
  void build_and_carry_async(const points_view<T, 3>& points, std::span<const carried_array> arrays);
  void reserve(std::size_t points) { cells_.reserve(points); }
  [[nodiscard]] view_type view() const { return {cells_.view(), rows_.view(), usable_}; }
  void check() { cells_.check(); }
  [[nodiscard]] std::size_t bytes() const;

 private:
  /// The position of a grain when rows were made.
  struct home {
    vec<T, 3> position;
    particle_id id;
  };

  [[nodiscard]] bool carry_if_near(std::span<const carried_array> arrays, std::size_t count) const;

  cpu_context context_;
  T reach_, squared_limit_;
  typename view_type::cells_type cells_;
  std::vector<home> homes_;
  row_lists<T> rows_;
  bool usable_ = false;
};

struct granular_listed_method {
  static constexpr std::string_view name = "listed";
  static constexpr std::string_view summary = "rows of near grains, kept until one has moved by half a skin";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = false;
  static constexpr determinism reproducible = determinism::canonical;

  template <typename Context, typename T>
  [[nodiscard]] static std::unique_ptr<granular_engine<Context, T>> make(const Context& context,
                                                                         const granular_setup<T>& setup) {
    return std::make_unique<granular_cells_engine<kept_rows<T>>>(context, setup);
  }
};

}  // namespace detail

}  // namespace quadrat
