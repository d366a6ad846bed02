// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/domains.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "core/reduced_lattice.hpp"
#include "quadrat/core/error.hpp"
#include "search/cell_walk.hpp"
#include "search/cells.hpp"

namespace quadrat::detail {

namespace {

using vectors_type = vec<vec<double, 3>, 3>;

template <typename T>
[[nodiscard]] vectors_type exact_vectors(const lattice<T, 3>& cell) {
  return make_vec<vec<double, 3>, 3>([&](int axis) { return cast<double>(cell.vectors[axis]); });
}

/// The third vector of a slab: along its normal, with the thickness of the slab plus room in which lateral variations
/// decay.
[[nodiscard]] vec<double, 3> vector_with_room(const vectors_type& vectors, double accuracy) {
  vec<double, 3> normal = cross(vectors[0], vectors[1]);
  normal /= norm(normal);
  double thickness = dot(normal, vectors[2]);
  if (thickness < 0) {
    normal = -normal;
    thickness = -thickness;
  }
  double volume = 0;
  const vectors_type inverse = reciprocal<double>(vectors_type{vectors[0], vectors[1], normal}, volume);
  double slowest = std::min(norm(inverse[0]), norm(inverse[1]));
  slowest = std::min({slowest, norm(inverse[0] + inverse[1]), norm(inverse[0] - inverse[1])});
  const double room = (std::log(1 / accuracy) + 5) / (2 * std::numbers::pi * slowest);
  return (thickness + room) * normal;
}

}  // namespace

template <typename T>
void require_cells(std::span<const lattice<T, 3>> cells, pair_law law) {
  require(!cells.empty(), "there is no cell; one is needed, or one per system");
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const vec<bool, 3>& periodic = cells[k].periodic;
    require(periodic[0] && periodic[1], "cell ", k, " is open along vector ", periodic[0] ? 1 : 0,
            "; cells are periodic along all three vectors, or along the first two (a slab)");
    require(periodic[2] || law == pair_law::coulomb, "cell ", k,
            " is open along vector 2; sums of 1/r^6 need cells that are periodic along all three");
  }
}

template <typename T>
std::vector<lattice<T, 3>> periodic_cells(std::span<const lattice<T, 3>> cells, double accuracy, bool mesh_given) {
  std::vector<lattice<T, 3>> result;
  result.reserve(cells.size());
  for (const lattice<T, 3>& given : cells) {
    const lattice<T, 3> cell = mesh_given ? given : reduced(given, false).shape;
    if (cell.periodic[2]) {
      result.push_back(cell);
      continue;
    }
    vec<vec<T, 3>, 3> vectors = cell.vectors;
    vectors[2] = cast<T>(vector_with_room(exact_vectors(cell), accuracy));
    result.push_back(make_lattice(cell.origin, vectors, vec<bool, 3>::filled(true)));
  }
  return result;
}

template <typename T>
std::vector<ewald_domain<T>> make_domains(std::span<const lattice<T, 3>> given, std::span<const lattice<T, 3>> periodic,
                                          const domain_request& request) {
  const std::size_t most = std::max(most_cells(request.points), request.mesh_points);
  const auto grids = make_walked_grids(periodic, static_cast<T>(request.cutoff), request.neighbors, most, request.cuda);
  std::vector<ewald_domain<T>> domains;
  domains.reserve(given.size());
  for (std::size_t k = 0; k < given.size(); ++k) {
    ewald_domain<T> domain{};
    domain.given = given[k];
    domain.shape = periodic[k];
    domain.grid = grids[k];
    double volume = 0;
    const vectors_type vectors = exact_vectors(periodic[k]), inverse = reciprocal(vectors, volume);
    for (int axis = 0; axis < 3; ++axis) domain.waves[axis] = cast<T>((2 * std::numbers::pi) * inverse[axis]);
    domain.inverse_volume = static_cast<T>(1 / std::fabs(volume));
    domain.slab = !given[k].periodic[2];
    domain.height = periodic[k].height(2);
    domain.middle = (T(1) + given[k].height(2) / domain.height) / 2;
    domains.push_back(domain);
  }
  return domains;
}

template void require_cells(std::span<const lattice<float, 3>>, pair_law);
template void require_cells(std::span<const lattice<double, 3>>, pair_law);
template std::vector<lattice<float, 3>> periodic_cells(std::span<const lattice<float, 3>>, double, bool);
template std::vector<lattice<double, 3>> periodic_cells(std::span<const lattice<double, 3>>, double, bool);
template std::vector<ewald_domain<float>> make_domains(std::span<const lattice<float, 3>>,
                                                       std::span<const lattice<float, 3>>, const domain_request&);
template std::vector<ewald_domain<double>> make_domains(std::span<const lattice<double, 3>>,
                                                        std::span<const lattice<double, 3>>, const domain_request&);

}  // namespace quadrat::detail
