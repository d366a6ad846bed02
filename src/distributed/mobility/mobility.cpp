// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/mobility.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "core/method_choice.hpp"
#include "core/point_checks.hpp"
#include "distributed/electrostatics/electrostatics_kernels.hpp"
#include "distributed/mobility/implementation.hpp"
#include "hydro/crowding.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"

namespace quadrat {

namespace {

/// The options, restricted to what works over ranks.
[[nodiscard]] mobility_options split_over_ranks(mobility_options options) {
  constexpr double least = 1e-11;  // the accuracy that transforms on meshes reach
  const bool any = detail::is_automatic(options.method);
  require(any || options.method == detail::hydro_methods::split::name, "over several ranks the mobility is that of ",
          "the method split, not of ", options.method);
  require(options.accuracy >= least, "the accuracy is ", options.accuracy, "; over several ranks ", least,
          " to 0.1 is possible");
  options.method = detail::hydro_methods::split::name;
  return options;
}

}  // namespace

template <typename Context, typename T>
distributed_mobility<Context, T>::implementation::implementation(const Context& chosen, communicator& group,
                                                                 const grid<T, 3>& cells,
                                                                 const mobility_options& wanted, std::size_t number)
    : context(chosen),
      ranks(group),
      space(cells),
      options(split_over_ranks(wanted)),
      count(number),
      borders(chosen, group),
      boxes(detail::make_sphere_boxes(cells.domain.length, number)),
      words(chosen, status_words) {
  boxes.shape = make_lattice(cells.domain);
  static_cast<void>(mobility<Context, T>(chosen, cells.domain.length, options));  // checks them
  detail::require_count(number, "spheres");
  for (int axis = 0; axis < 3; ++axis) {
    require(cells.domain.periodic[axis], "the box is open along axis ", axis,
            "; the mobility needs one that is periodic along all three");
  }
}

template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::check(const decomposition<3>& shares,
                                                             const points_view<T, 3>& points, const particle_id* given,
                                                             T skin) {
  require_pointer(given, points.count, "ids");
  require(skin >= T(0) && std::isfinite(skin), "the skin is ", skin, "; it must be finite and not negative");
  check_own(context, ranks, space, shares, points);
}

/// How crowded the spheres of all ranks are. Collective.
template <typename Context, typename T>
int distributed_mobility<Context, T>::implementation::find_level(const points_view<T, 3>& points) {
  std::vector<std::uint64_t> counts(boxes.count());
  together(ranks, [&] {
    detail::sphere_domain<T> all{};
    all.shape = boxes.shape;
    fill_bytes(context, words.data(), 0, words.bytes());
    box_counts.resize_discarding(context, boxes.count());
    fill_bytes(context, box_counts.data(), 0, box_counts.bytes());
    for_each(
        context, "mobility.boxes", points.count,
        detail::count_in_boxes<T>{
            {points, all}, boxes, box_counts.data(), fault_flag{words.data() + first_fault, words.data() + needed}});
    const auto mine = to_host(context, box_counts);
    std::copy(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(counts.size()), counts.begin());
  });
  ranks.add_up(counts.data(), counts.size());
  double pairs = 0;
  std::uint64_t spheres = 0;
  for (const std::uint64_t one : counts) {
    pairs += static_cast<double>(one) * (static_cast<double>(one) - 1);
    spheres += one;
  }
  together(ranks, [&] { require(spheres == count, "there are ", spheres, " points on all ranks, not ", count); });
  return detail::crowding_level(boxes, count, pairs);
}

/// Collective.
template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::choose(int wanted) {
  if (wanted == level) return;
  level = -1;
  waves.reset();
  detail::mobility_choice choice;
  together(ranks, [&] {
    choice = detail::choose_mobility(
        detail::request_of_level(options, space.domain.length, count, wanted, std::is_same_v<Context, cuda_context>));
    report = detail::report_of(choice);
    report.reason = "as one rank would, of the methods over ranks";
    law = detail::make_near_tensor<T>(options.radius, choice.parameters.splitting, choice.parameters.cutoff,
                                      detail::near_tolerance(options.accuracy, count));
  });
  usual_iterations = 0;
  waves = std::make_unique<detail::waves_of_ranks<Context, T>>(
      context, ranks, choice, cast<double>(space.domain.length), options.radius, count);
  level = wanted;
}

template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::set(const decomposition<3>& shares,
                                                           const points_view<T, 3>& points, const particle_id* given,
                                                           T skin) {
  ready = placed = false;
  together(ranks, [&] { check(shares, points, given, skin); });
  choose(find_level(points));
  own = points.count;
  const device_decomposition<Context, 3> there(context, shares);
  borders.build(space, there.view(), points, {law.cutoff + skin});
  waves->share(space, shares, skin / 2);
  together(ranks, [&] {
    const std::size_t all = with_ghosts();
    domain =
        detail::make_sphere_domain(make_lattice(space.domain), report.parameters.cutoff, report.neighbors, all, true);
    ids.resize_discarding(context, own);
    copy_bytes(context, given, ids.data(), own * sizeof(particle_id));
    positions.resize_discarding(context, all);
    places.resize_discarding(context, all);
    near_block.resize_discarding(context, own);
    forces_with_ghosts.resize_discarding(context, all);
    forces_by_axis.resize_discarding(context, 3 * own);
    wave_velocities.resize_discarding(context, 3 * own);
  });
  middle = detail::middle_of(space, shares.blocks[static_cast<std::size_t>(ranks.rank())]);
  ready = true;
}

template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::set_points(const points_view<T, 3>& points) {
  placed = false;
  together(ranks, [&] {
    require(ready, "set has not been called, or has failed; it says which spheres there are");
    detail::require_points(points, "points");
    require(points.count == own, "there are ", points.count, " points; the last call of set was for ", own);
    for_each(context, "mobility.copy", own, detail::copy_points<T>{points, positions.data()});
    for_each(context, "mobility.near block", own,
             detail::place_near_block<T, 3>{points, middle, cast<double>(space.domain.length),
                                            vec<bool, 3>::filled(true), near_block.data()});
  });
  waves->set_points(points_of(near_block.data(), own));
  borders.forward(positions.data());
  together(ranks, [&] { list_pairs(); });
  double pairs = 0;
  for (const double one : all_values(ranks, listed)) pairs += one;
  report.neighbors = pairs / std::max(1.0, static_cast<double>(count));
  placed = true;
}

/// Makes the matrix of the near part.
template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::list_pairs() {
  const std::size_t all = with_ghosts();
  const detail::given_spheres<T> given{points_of(positions.data(), all), domain};
  fill_bytes(context, words.data(), 0, words.bytes());
  const std::size_t cells = domain.grid.cells.first_cell + domain.grid.cell_count();
  buckets.build(context, all, cells, detail::sphere_key<T>{given},
                fault_flag{words.data() + first_fault, words.data() + needed});
  const auto view = buckets.view();
  for_each(context, "mobility.place", all, detail::place_spheres<T>{given, view.elements, places.data()});
  const detail::spheres_among_ghosts<T> spheres{{domain, view.offsets, places.data()}, view.elements, given, own};
  const double least = -1, most = std::numeric_limits<double>::infinity();  // no bounds on forces
  near.count(context, spheres, law.cutoff, {reinterpret_cast<const double*>(words.data() + no_pairs), least, most},
             words.data() + stored_entries, reinterpret_cast<double*>(words.data() + listed_pairs));
  const std::uint64_t* const found = mirror.read(context, words.data(), status_words);
  listed = std::bit_cast<double>(found[listed_pairs]);
  near.fill(context, spheres, law, found[stored_entries], options.most_bytes);
  require(options.most_bytes == 0 || bytes() <= options.most_bytes, "the mobility of ", own, " spheres and ",
          borders.ghosts(), " ghosts of rank ", ranks.rank(), " needs ", bytes(), " bytes; ", options.most_bytes,
          " are allowed");
}

/// Converts own forces to the forms that both parts read.
template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::take(const vec<T, 3>* forces) {
  for_each(context, "mobility.take", own,
           detail::gather_forces<T>{forces, nullptr, own, forces_with_ghosts.data(), forces_by_axis.data()});
  borders.forward(forces_with_ghosts.data());
}

template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::multiply(const vec<T, 3>* forces, vec<T, 3>* velocities) {
  together(ranks, [&] {
    require(placed, "no points are set; call set_points first (and again where it failed)");
    require_pointer(forces, own, "forces");
    require_pointer(velocities, own, "velocities");
  });
  take(forces);
  waves->compute(forces_by_axis.data(), static_cast<T>(unit()), {}, wave_velocities.data());
  deliver(true, {}, 0, velocities);
}

template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::with_noise(const vec<T, 3>* forces, bool forced,
                                                                  const mobility_noise& noise, vec<T, 3>* velocities) {
  together(ranks, [&] {
    require(placed, "no points are set; call set_points first (and again where it failed)");
    if (forced) require_pointer(forces, own, "forces");
    require_pointer(velocities, own, "velocities");
    require(std::isfinite(noise.scale), "the scale of the noise is ", noise.scale, "; it must be finite");
  });
  const double amplitude = std::sqrt(unit()) * noise.scale;
  if (forced) take(forces);
  // All ranks have the same numbers, so they make the same decisions.
  const auto [tolerance, looks] = detail::lanczos_limits_of(options.accuracy, false, count);
  int done = iterate(noise, 0, usual_iterations > 0 ? usual_iterations : 5);
  detail::lanczos_result found = basis.judge(context, done, tolerance, looks);
  while (!found.converged && done < options.most_iterations) {
    done = iterate(noise, done, done + std::max(2, done / 4));
    found = basis.judge(context, done, tolerance, looks);
  }
  together(ranks, [&] {
    if (found.converged) return;
    throw data_error(message("after ", done, " iterations of the Lanczos method the relative error of Brownian ",
                             "velocities is ", found.error, "; the accuracy is ", options.accuracy));
  });
  waves->compute(forces_by_axis.data(), forced ? static_cast<T>(unit()) : T(0), {{noise.seed, noise.step}, amplitude},
                 wave_velocities.data());
  usual_iterations = report.iterations = found.iterations;
  report.noise_error = found.error;
  deliver(forced, found, amplitude, velocities);
}

/// Computes basis vectors first + 1 to last.
template <typename Context, typename T>
int distributed_mobility<Context, T>::implementation::iterate(const mobility_noise& noise, int first, int last) {
  last = std::min(last, options.most_iterations);
  if (first == 0) basis.begin(context, own, ids.data(), {noise.seed, noise.step}, options.most_iterations, this);
  for (int j = first; j < last; ++j) basis.advance(context, j, near.rows(), nullptr);
  return last;
}

template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::add_up(double* number) {
  const double sum = sum_in_rank_order(ranks, to_host(context, number, 1)[0]);
  copy_bytes(context, &sum, number, sizeof(sum));
  context.synchronize();
}

template <typename Context, typename T>
void distributed_mobility<Context, T>::implementation::deliver(bool forced, const detail::lanczos_result& found,
                                                               double amplitude, vec<T, 3>* velocities) {
  detail::deliver(context, basis, found, amplitude,
                  detail::deliver_velocities<T>{near.rows(), forced ? forces_with_ghosts.data() : nullptr,
                                                static_cast<T>(unit()), wave_velocities.data(), nullptr, velocities});
}

template <typename Context, typename T>
std::size_t distributed_mobility<Context, T>::implementation::bytes() const {
  return borders.bytes() + (waves == nullptr ? 0 : waves->bytes()) + buckets.bytes() + near.bytes() + basis.bytes() +
         words.bytes() + box_counts.bytes() + check_own.bytes() + ids.bytes() + positions.bytes() + near_block.bytes() +
         places.bytes() + forces_with_ghosts.bytes() + forces_by_axis.bytes() + wave_velocities.bytes() +
         scratch.bytes();
}

template <typename Context, typename T>
distributed_mobility<Context, T>::distributed_mobility(const Context& context, communicator& ranks,
                                                       const grid<T, 3>& space, const mobility_options& options,
                                                       std::size_t count) {
  together(ranks, [&] { implementation_ = std::make_unique<implementation>(context, ranks, space, options, count); });
}

template <typename Context, typename T>
void distributed_mobility<Context, T>::set(const decomposition<3>& shares, const points_view<T, 3>& points,
                                           const particle_id* ids, T skin) {
  implementation_->set(shares, points, ids, skin);
}
template <typename Context, typename T>
void distributed_mobility<Context, T>::set_points(const points_view<T, 3>& points) {
  implementation_->set_points(points);
}
template <typename Context, typename T>
void distributed_mobility<Context, T>::multiply_async(const vec<T, 3>* forces, vec<T, 3>* velocities) {
  implementation_->multiply(forces, velocities);
}
template <typename Context, typename T>
void distributed_mobility<Context, T>::square_root(const mobility_noise& noise, vec<T, 3>* velocities) {
  implementation_->with_noise(nullptr, false, noise, velocities);
  wait();
}
template <typename Context, typename T>
void distributed_mobility<Context, T>::velocities(const vec<T, 3>* forces, const mobility_noise& noise,
                                                  vec<T, 3>* velocities) {
  implementation_->with_noise(forces, true, noise, velocities);
  wait();
}
template <typename Context, typename T>
void distributed_mobility<Context, T>::wait() const {
  implementation_->context.synchronize();
}
template <typename Context, typename T>
const mobility_report& distributed_mobility<Context, T>::report() const {
  require(implementation_->ready, "set has not been called, or has failed; it chooses the parameters");
  return implementation_->report;
}
template <typename Context, typename T>
std::size_t distributed_mobility<Context, T>::own() const {
  return implementation_->own;
}
template <typename Context, typename T>
std::size_t distributed_mobility<Context, T>::ghosts() const {
  return implementation_->borders.ghosts();
}
template <typename Context, typename T>
std::size_t distributed_mobility<Context, T>::bytes() const {
  return implementation_->bytes();
}

template class distributed_mobility<backend_context, float>;
template class distributed_mobility<backend_context, double>;

}  // namespace quadrat
