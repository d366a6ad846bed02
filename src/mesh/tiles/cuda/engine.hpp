// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "mesh/engine.hpp"
#include "mesh/tiles/cuda/plan.hpp"
#include "mesh/tiles/cuda/problem.hpp"
#include "mesh/tiles/cuda/sort/sorter.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Spreading and interpolation by tiles. Points are sorted by tile in sort/. Many points per tile: tensor cores, in
/// spread/products.cuh and interpolate/products.cuh, floats in spread/halves.cuh and interpolate/halves.cuh; in one and
/// two dimensions in spread/planar.cuh and interpolate/planar.cuh, for long footprints in cubes/. Fewer:
/// spread/collect.cuh, interpolate/patches.cuh, interpolate/direct.cuh and interpolate/points.cuh.
template <typename T>
class cuda_tiles_engine : public spread_engine<cuda_context, T> {
 public:
  cuda_tiles_engine(const cuda_context& context, const spread_setup<T>& setup) : context_(context), setup_(setup) {}

  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  void set_points(const point_placement<T>& points) override;
  void set_points_async(const point_placement<T>& points) override;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
  void interpolate(const value_layout& layout, const T* mesh, T* values, bool accumulate) override;
  void interpolate_gradient(const value_layout& layout, const T* mesh, const T* scale, T* values, T* gradients,
                            bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override {
    return sorter_.bytes() + records_.bytes() + segments_.bytes() + units_.bytes() + sliced_units_.bytes() +
           extras_.bytes() + share_sums_.bytes() + crowd_extras_.bytes() + crowds_.bytes() + share_counts_.bytes() +
           scratch_.bytes();
  }

 private:
  struct unit_list {
    array<std::uint32_t, cuda_context> firsts;  ///< by segment, or by slice and segment, and the end
    array<tile_unit, cuda_context> units;

    [[nodiscard]] std::size_t bytes() const { return firsts.bytes() + units.bytes(); }
  };

  void make_units();
  void make_units(bool sliced, std::size_t most, unit_list& list);
  void fill_segments();
  void find_shares();
  [[nodiscard]] bool in_order() const { return context_.reproducibility() != determinism::none; }
  /// Whether units write shares that are added up by mesh point. Patches that collect points have a fixed order
  /// anyway.
  [[nodiscard]] bool adds_shares(const tile_plan& plan) const { return in_order() && !plan.collects; }
  /// Whether units serve only meshes that are not aligned for patches.
  [[nodiscard]] bool makes_units_to_read() const {
    return sizeof(T) == sizeof(float) && plan_.collects && plan_.reading == tile_reading::patches &&
           plan_.patches.any();
  }
  /// Whether real values and gradients never use patches.
  [[nodiscard]] bool reads_real_by_tiles() const { return !plan_.collects && plan_.reading == tile_reading::patches; }
  /// Whether values, or gradients, are read by patches: only floats, if the plan has patches and they support this
  /// mesh.
  [[nodiscard]] bool reads_patches(const value_layout& layout, const T* mesh, bool gradient) const;
  void read_patches(const value_layout& layout, const T* mesh, const T* scale, T* values, T* gradients,
                    bool accumulate);
  void read(const value_layout& layout, const T* mesh, T* values, T* gradients, const tile_results<T>& results);
  [[nodiscard]] tile_problem<T> problem(bool sliced = false) const;
  [[nodiscard]] tile_crowd_shares<T> crowd_shares() const;
  [[nodiscard]] tile_channels<T> channels_of(const value_layout& layout, int channel, const T* values,
                                             const T* mesh) const;

  cuda_context context_;
  spread_setup<T> setup_;
  tile_plan plan_{};  ///< for `planned_` points
  std::size_t planned_ = 0;
  std::size_t count_ = 0;
  tile_sorter<T> sorter_;
  array<tile_record<T>, cuda_context> records_;
  const std::uint32_t* offsets_ = nullptr;       // the sorter's, by tile, and the end
  array<std::uint32_t, cuda_context> segments_;  // by point, if points are read one by one
  unit_list units_;
  unit_list sliced_units_;                        ///< only with several slices
  array<tile_extra, cuda_context> extras_;        // only with patches
  array<tile_extra, cuda_context> crowd_extras_;  // only if patches collect points
  array<tile_crowd, cuda_context> crowds_;
  array<tile_share_counts, cuda_context> share_counts_;
  array<T, cuda_context> share_sums_;  // only if results must be reproducible, or of crowded patches
  workspace<cuda_context> scratch_;
};

}  // namespace quadrat::detail
