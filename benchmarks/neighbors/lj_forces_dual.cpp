// SPDX-License-Identifier: BSD-3-Clause
#include "neighbors/lj_forces.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/backend.hpp"
#include "harness/points.hpp"
#include "harness/stopwatch.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "quadrat/search/cluster_pairs.hpp"
#include "quadrat/search/make_neighbor_list.hpp"
#include "quadrat/search/visit_clusters.hpp"
#include "quadrat/search/visit_list.hpp"

namespace quadrat::bench {

namespace {

constexpr double fcc_density = 0.8442, force_skin = 0.3;

template <typename T>
struct lj_pair_force {
  QUADRAT_HD vec<T, 3> operator()(particle_id, particle_id, const vec<T, 3>& r, T rr) const {
    const T s = 1 / rr, s6 = s * s * s;
    return r * (s6 * (T(24) - T(48) * s6) * s);
  }
};
template <typename T>
struct count_lj_pair {
  QUADRAT_HD T operator()(particle_id, particle_id, const vec<T, 3>&, T) const { return T(1); }
};
template <typename T>
struct squared_force_of {
  const vec<T, 3>* forces;
  QUADRAT_HD vec<double, 1> operator()(std::size_t i) const { return {squared_norm(cast<double>(forces[i]))}; }
};
template <typename T>
struct count_of_atom {
  const T* counts;
  QUADRAT_HD vec<double, 1> operator()(std::size_t i) const { return {static_cast<double>(counts[i])}; }
};

template <typename T>
[[nodiscard]] std::vector<vec<T, 3>> disturbed_lattice(int side, double edge) {
  const double places[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  std::vector<vec<T, 3>> points;
  std::uint64_t draw = 0;
  for (int k = 0; k < 4 * side * side * side; ++k) {
    const int cell[3] = {k / 4 % side, k / 4 / side % side, k / 4 / side / side};
    points.push_back(make_vec<T, 3>([&](int axis) {
      return static_cast<T>((cell[axis] + places[k % 4][axis] + 0.16 * random_unit(31, draw++)) * edge);
    }));
  }
  return points;
}

template <typename Context, typename T>
class forces_by_list final : public lj_forces {
 public:
  forces_by_list(const Context& context, int side, double cutoff, force_list kind)
      : context_(context), kind_(kind), watch_(context) {
    const double edge = std::cbrt(4 / fcc_density);
    points_ = to_device(context, disturbed_lattice<T>(side, edge));
    forces_ = array<vec<T, 3>, Context>(context, points_.size());
    counts_ = array<T, Context>(context, points_.size());
    const auto domain = make_box<T, 3>({}, vec<T, 3>::filled(static_cast<T>(side * edge)), vec<bool, 3>::filled(true));
    const auto distance = static_cast<T>(cutoff), skin = static_cast<T>(force_skin);
    if (kind == force_list::neighbors) {
      neighbors_.emplace(make_neighbor_list(context, domain, {.cutoff = distance, .skin = skin}));
    } else {
      tiles_.emplace(make_cluster_pair_list(context, domain, {.cutoff = distance, .skin = skin}));
    }
    build();
  }

  timing time_build(const timing_plan& plan) override {
    return repeat(plan, [&] {
      watch_.start();
      build();
      return watch_.stop_ms();
    });
  }
  timing time_update(const timing_plan& plan) override {
    return repeat(plan, [&] {
      watch_.start();
      static_cast<void>(neighbors_ ? neighbors_->update(points_of(points_)) : tiles_->update(points_of(points_)));
      return watch_.stop_ms();
    });
  }
  timing time_forces(const timing_plan& plan) override {
    return time_repeated(context_, plan, [&] { sum(forces_.data(), lj_pair_force<T>{}); });
  }
  double squared_force() override {
    return reduce_sum(context_, "bench: forces", points_.size(), squared_force_of<T>{forces_.data()}, scratch_)[0];
  }
  double neighbors() override {
    sum(counts_.data(), count_lj_pair<T>{});
    return reduce_sum(context_, "bench: counts", points_.size(), count_of_atom<T>{counts_.data()}, scratch_)[0] /
           static_cast<double>(points_.size());
  }
  [[nodiscard]] std::size_t bytes() const override { return neighbors_ ? neighbors_->bytes() : tiles_->bytes(); }

 private:
  void build() { neighbors_ ? neighbors_->build(points_of(points_)) : tiles_->build(points_of(points_)); }
  template <typename Sum, typename F>
  void sum(Sum* result, const F& f) {
    if (kind_ == force_list::neighbors) return accumulate_neighbors_async(*neighbors_, result, f);
    accumulate_neighbors_async(*tiles_, result, f);
  }

  Context context_;
  force_list kind_;
  stopwatch<Context> watch_;
  std::optional<neighbor_list<Context, T, 3>> neighbors_;
  std::optional<cluster_pair_list<Context, T, 3>> tiles_;
  array<vec<T, 3>, Context> points_, forces_;
  array<T, Context> counts_;
  workspace<Context> scratch_;
};

}  // namespace

template <typename Context, typename T>
std::unique_ptr<lj_forces> make_lj_forces(const Context& context, int side, double cutoff, force_list kind) {
  return std::make_unique<forces_by_list<Context, T>>(context, side, cutoff, kind);
}

template std::unique_ptr<lj_forces> make_lj_forces<backend_context, float>(const backend_context&, int, double,
                                                                           force_list);
template std::unique_ptr<lj_forces> make_lj_forces<backend_context, double>(const backend_context&, int, double,
                                                                            force_list);

}  // namespace quadrat::bench
