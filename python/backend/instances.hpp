// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "interface.hpp"

/// What the sources of a backend offer each other, for each context.
namespace quadrat::python {

template <int D>
using dimension_constant = std::integral_constant<int, D>;

// The analyzer loses sight of what a unique_ptr owns where it becomes one of the base.
// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks)
/// Calls `call` with a number of the type and the dimension as a constant, from `Least` to 3.
template <int Least, typename Call>
auto with_instance(bool wide, int dimension, const Call& call) {
  const auto with = [&](auto d) { return wide ? call(double{}, d) : call(float{}, d); };
  if constexpr (Least == 1) {
    if (dimension == 1) return with(dimension_constant<1>{});
  }
  return dimension == 2 ? with(dimension_constant<2>{}) : with(dimension_constant<3>{});
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

template <typename Context>
std::unique_ptr<neighbor_search> make_neighbor_search(const place& where, bool wide, int dimension,
                                                      const neighbor_settings& settings);
template <typename Context>
std::unique_ptr<histogram> make_histogram(const place& where, bool wide, int dimension,
                                          const histogram_settings& settings);
template <typename Context>
void find_nearest(const Context& context, bool wide, int dimension, const points_given& points,
                  const points_given& queries, const boxes_given& box, const nearest_settings& settings,
                  bool long_indices, const nearest_results& results);

/// Clusters that have been found.
class found_clusters {
 public:
  found_clusters() = default;
  found_clusters(const found_clusters&) = delete;
  found_clusters& operator=(const found_clusters&) = delete;
  virtual ~found_clusters() = default;
  /// With `members`, groups the points of clusters and counts them.
  [[nodiscard]] virtual cluster_counts counts(bool members) = 0;
  virtual void write(bool long_indices, void* offsets, void* members, void* centers) = 0;
};
template <typename Context>
std::unique_ptr<found_clusters> find_clusters(const Context& context, bool wide, int dimension,
                                              const points_given& points, const boxes_given& box, double cutoff,
                                              std::uint32_t min_points, bool long_indices, void* labels);

template <typename Context>
std::unique_ptr<spreading> make_spreading(const place& where, bool wide, const spread_settings& settings);
template <typename Context>
std::unique_ptr<transform> make_transform(const place& where, bool wide, const transform_settings& settings);
template <typename Context>
std::unique_ptr<ewald_sums> make_ewald(const place& where, bool wide, const electrostatics_options& options);
template <typename Context>
void transform_to_targets(const Context& context, bool wide, int dimension, const points_given& points,
                          const points_given& targets, const void* values, int vectors, double tolerance, int sign,
                          void* results);
template <typename Context>
void reduce_keys(const Context& context, const reduction& wanted, void* results);

template <typename Context>
std::unique_ptr<contact_search> make_contact_search(const place& where, bool wide, const domain_given& domain,
                                                    const std::string& method, bool sorted, double bin_size);
template <typename Context>
std::unique_ptr<cell_search> make_cell_search(const place& where, bool wide, const domain_given& domain,
                                              const std::vector<int>& cells, double cutoff, bool accept_outside);

/// In scenes/.
[[nodiscard]] std::unique_ptr<scene_run> open_scene(const scene_settings& settings);

}  // namespace quadrat::python
