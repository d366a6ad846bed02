// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/hydro/mobility.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/backend.hpp"
#include "core/method_choice.hpp"
#include "core/point_checks.hpp"
#include "hydro/crowding.hpp"
#include "hydro/implementation.hpp"
#include "hydro/methods.hpp"
#include "hydro/results.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "quadrat/parallel/reduce.hpp"
#include "search/point_complaint.hpp"

namespace quadrat {

namespace {

void require_positive_number(double value, const char* what) {
  require(value > 0 && std::isfinite(value), "the ", what, " is ", value, "; it must be positive and finite");
}
void require_choosable_number(double value, const char* what) {
  require(value >= 0 && std::isfinite(value), "the ", what, " is ", value, "; it must be positive and finite, or auto");
}

void check_mobility_options(const mobility_options& options, bool single_precision) {
  const double least = detail::least_mobility_accuracy(single_precision);
  require(options.accuracy >= least && options.accuracy <= 0.1, "the accuracy is ", options.accuracy, "; ", least,
          " to 0.1 is possible in ", single_precision ? "single" : "double", " precision");
  require_positive_number(options.radius, "radius");
  require_positive_number(options.viscosity, "viscosity");
  require_choosable_number(options.parameters.splitting, "splitting parameter");
  require_choosable_number(options.parameters.cutoff, "cutoff");
  for (int axis = 0; axis < 3; ++axis) {
    const int modes = options.parameters.modes[axis];
    require(modes == 0 || (modes > 0 && modes % 2 == 1), "the modes along axis ", axis, " are ", modes,
            "; odd numbers are possible, or auto");
  }
  require(options.most_iterations >= 3 && options.most_iterations <= 10'000, "the most iterations are ",
          options.most_iterations, "; 3 to 10000 are possible");
}

}  // namespace

template <typename Context, typename T>
mobility<Context, T>::implementation::implementation(const Context& where, const vec<T, 3>& extents,
                                                     const mobility_options& wanted)
    : context(where), options(wanted), box(extents), status(where, status_words) {
  for (int axis = 0; axis < 3; ++axis) {
    require(box[axis] > T(0) && std::isfinite(box[axis]), "the box along axis ", axis, " is ", box[axis],
            "; it must be positive and finite");
  }
  const double volume = static_cast<double>(box[0]) * static_cast<double>(box[1]) * static_cast<double>(box[2]);
  require(volume > 0 && std::isfinite(volume), "the volume of the box is ", volume, "; it must be positive and finite");
  check_mobility_options(options, sizeof(T) == 4);
  detail::require_method<detail::mobility_method_list>(
      {"method of the mobility", std::is_same_v<Context, cuda_context>, where.reproducibility(), true}, options.method);
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::prepare(std::size_t wanted_count) {
  detail::require_count(wanted_count, "points");
  if (prepared && wanted_count == count) return;
  prepared = has_points = false;
  count = wanted_count;
  usual_iterations = 0;
  boxes = detail::make_sphere_boxes(box, count);
  choose(0);
  prepared = true;
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::choose(int wanted_level) {
  level = -1;
  waves.reset();
  const detail::mobility_request request =
      detail::request_of_level(options, box, count, wanted_level, std::is_same_v<Context, cuda_context>);
  const detail::mobility_choice choice = detail::choose_mobility(request);
  report = detail::report_of(choice);
  law = detail::make_near_tensor<T>(options.radius, choice.parameters.splitting, choice.parameters.cutoff,
                                    detail::near_tolerance(options.accuracy, count));
  // With few neighbors, rows of cells cost more than candidates also on CPUs.
  const bool few_rows = request.cuda || choice.neighbors < 60;
  domain = detail::make_sphere_domain(boxes.shape, choice.parameters.cutoff, choice.neighbors, count, few_rows);
  if (count > 0) {
    waves = std::make_unique<detail::wave_part<Context, T>>(context, choice, request.box, options.radius, count,
                                                            options.most_bytes);
    make_room();
  }
  level = wanted_level;
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::make_room() {
  places.resize_discarding(context, count);
  box_counts.resize_discarding(context, boxes.count());
  forces_by_slot.resize_discarding(context, count);
  forces_by_axis.resize_discarding(context, 3 * count);
  wave_velocities.resize_discarding(context, 3 * count);
}

/// Reads the crowding of spheres, and faults.
template <typename Context, typename T>
void mobility<Context, T>::implementation::measure(const detail::given_spheres<T>& given) {
  fill_bytes(context, status.data(), 0, status.size() * sizeof(std::uint64_t));
  fill_bytes(context, status.data() + first_fault, 0xff, sizeof(std::uint64_t));
  fill_bytes(context, box_counts.data(), 0, box_counts.size() * sizeof(std::uint32_t));
  for_each(context, "mobility.boxes", count,
           detail::count_in_boxes<T>{given, boxes, box_counts.data(),
                                     fault_flag{status.data() + first_fault, status.data() + needed}});
  reduce_into(context, "mobility.crowding", box_counts.size(), detail::pairs_in_box{box_counts.data()},
              plus_operation{}, 0.0, reinterpret_cast<double*>(status.data() + box_pairs), scratch);
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::place(const points_view<T, 3>& points) {
  const detail::given_spheres<T> given{points, domain};
  measure(given);
  const std::size_t cells = domain.grid.cells.first_cell + domain.grid.cell_count();
  buckets.build(context, count, cells, detail::sphere_key<T>{given},
                fault_flag{status.data() + first_fault, status.data() + needed});
  for_each(context, "mobility.place", count, detail::place_spheres<T>{given, ids(), places.data()});
  waves->set_points(places.data(), count);
  near.count(context, spheres(), law.cutoff,
             {reinterpret_cast<const double*>(status.data() + box_pairs),
              detail::most_pairs_of_level(boxes, count, level - 1), detail::most_pairs_of_level(boxes, count, level)},
             status.data() + stored_entries, reinterpret_cast<double*>(status.data() + listed_pairs));
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::set_points(const points_view<T, 3>& points) {
  require(prepared, "no parameters have been chosen; call prepare first");
  require(points.count == count, "there are ", points.count, " points; prepare was called for ", count);
  detail::require_points(points, "points");
  has_points = false;
  if (count == 0) {
    has_points = true;
    return;
  }
  if (level < 0) choose(0);  // after an exception
  for (;;) {
    place(points);
    const std::uint64_t* const words = mirror.read(context, status.data(), status_words);
    const std::uint64_t fault = words[first_fault];
    if (fault != ~std::uint64_t{0}) {
      const fault_report found{static_cast<fault_kind>(fault & 0xff), fault >> 8, 0};
      throw data_error(complaint(points, found), found.index);
    }
    const int found = detail::crowding_level(boxes, count, std::bit_cast<double>(words[box_pairs]));
    if (found == level) {
      report.neighbors = std::bit_cast<double>(words[listed_pairs]) / static_cast<double>(count);
      near.fill(context, spheres(), law, words[stored_entries], options.most_bytes);
      require_allowed();
      break;
    }
    choose(found);
  }
  has_points = true;
}

template <typename Context, typename T>
std::string mobility<Context, T>::implementation::complaint(const points_view<T, 3>& points,
                                                            const fault_report& found) const {
  return detail::point_complaint(context, boxes.shape, points, "point ", static_cast<std::size_t>(found.index));
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::require_points() const {
  require(has_points, "no points are set; call set_points first (and again where it failed)");
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::require_allowed() const {
  require(options.most_bytes == 0 || bytes() <= options.most_bytes, "the mobility of ", count, " spheres needs ",
          bytes(), " bytes; ", options.most_bytes, " are allowed");
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::gather(const vec<T, 3>* forces) {
  for_each(context, "mobility.gather", count,
           detail::gather_forces<T>{forces, ids(), count, forces_by_slot.data(), forces_by_axis.data()});
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::multiply(const vec<T, 3>* forces, vec<T, 3>* velocities) {
  require_points();
  require_pointer(forces, count, "forces");
  require_pointer(velocities, count, "velocities");
  if (count == 0) return;
  gather(forces);
  waves->compute(forces_by_axis.data(), static_cast<T>(unit()), {}, wave_velocities.data());
  deliver(true, {}, 0, velocities);
}

/// Makes the basis vectors from first + 1 to last.
template <typename Context, typename T>
int mobility<Context, T>::implementation::iterate(const mobility_noise& noise, int first, int last) {
  last = std::min(last, options.most_iterations);
  if (first == 0) basis.begin(context, count, ids(), {noise.seed, noise.step}, options.most_iterations);
  for (int j = first; j < last; ++j) {
    const T* rest = nullptr;
    if (krylov()) {
      for_each(context, "mobility.split_axes", count,
               detail::split_axes<T>{basis.vector(j), count, wave_velocities.data()});
      waves->compute(wave_velocities.data(), T(1), {}, wave_velocities.data());
      rest = wave_velocities.data();
    }
    basis.advance(context, j, near.rows(), rest);
    require_allowed();
  }
  return last;
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::with_noise(const vec<T, 3>* forces, const mobility_noise& noise,
                                                      vec<T, 3>* velocities) {
  require_points();
  require_pointer(velocities, count, "velocities");
  require(std::isfinite(noise.scale), "the scale of the noise is ", noise.scale, "; it must be finite");
  if (count == 0) return;
  const double amplitude = std::sqrt(unit()) * noise.scale;
  if (forces != nullptr) gather(forces);
  // Results use the needed number of iterations, however many are made: a guess affects only the time.
  int done = iterate(noise, 0, usual_iterations > 0 ? usual_iterations : 5);
  const detail::wave_noise of_waves{{noise.seed, noise.step}, krylov() ? 0 : amplitude};
  const auto add_waves = [&] {
    if (krylov() && forces == nullptr) {
      fill_bytes(context, wave_velocities.data(), 0, wave_velocities.size() * sizeof(T));
      return;
    }
    waves->compute(forces == nullptr ? nullptr : forces_by_axis.data(), static_cast<T>(unit()), of_waves,
                   wave_velocities.data());
  };
  // The device is busy with this while the host waits for the first iterations.
  if (!krylov()) add_waves();
  const auto [tolerance, looks] = detail::lanczos_limits_of(options.accuracy, krylov(), count);
  detail::lanczos_result found = basis.judge(context, done, tolerance, looks);
  while (!found.converged && done < options.most_iterations) {
    done = iterate(noise, done, done + std::max(2, done / 4));
    found = basis.judge(context, done, tolerance, looks);
  }
  if (!found.converged) {
    throw data_error(message("after ", done, " iterations of the Lanczos method the relative error of Brownian ",
                             "velocities is ", found.error, "; the accuracy is ", options.accuracy));
  }
  if (krylov()) add_waves();
  usual_iterations = report.iterations = found.iterations;
  report.noise_error = found.error;
  deliver(forces != nullptr, found, amplitude, velocities);
}

template <typename Context, typename T>
void mobility<Context, T>::implementation::deliver(bool forced, const detail::lanczos_result& found, double amplitude,
                                                   vec<T, 3>* velocities) {
  detail::deliver(context, basis, found, amplitude,
                  detail::deliver_velocities<T>{near.rows(), forced ? forces_by_slot.data() : nullptr,
                                                static_cast<T>(unit()), wave_velocities.data(), ids(), velocities});
}

template <typename Context, typename T>
std::size_t mobility<Context, T>::implementation::bytes() const {
  return buckets.bytes() + places.bytes() + box_counts.bytes() + status.bytes() + near.bytes() +
         (waves == nullptr ? 0 : waves->bytes()) + basis.bytes() + forces_by_slot.bytes() + forces_by_axis.bytes() +
         wave_velocities.bytes() + scratch.bytes();
}

template <typename Context, typename T>
mobility<Context, T>::mobility(const Context& context, const vec<T, 3>& box, const mobility_options& options)
    : implementation_(std::make_unique<implementation>(context, box, options)) {}

template <typename Context, typename T>
void mobility<Context, T>::prepare(std::size_t count) {
  implementation_->prepare(count);
}
template <typename Context, typename T>
void mobility<Context, T>::set_points(const points_view<T, 3>& points) {
  implementation_->set_points(points);
}
template <typename Context, typename T>
void mobility<Context, T>::multiply(const vec<T, 3>* forces, vec<T, 3>* velocities) {
  multiply_async(forces, velocities);
  check();
}
template <typename Context, typename T>
void mobility<Context, T>::multiply_async(const vec<T, 3>* forces, vec<T, 3>* velocities) {
  implementation_->multiply(forces, velocities);
}
template <typename Context, typename T>
void mobility<Context, T>::square_root(const mobility_noise& noise, vec<T, 3>* velocities) {
  implementation_->with_noise(nullptr, noise, velocities);
  implementation_->context.synchronize();
}
template <typename Context, typename T>
void mobility<Context, T>::velocities(const vec<T, 3>* forces, const mobility_noise& noise, vec<T, 3>* velocities) {
  require_pointer(forces, implementation_->count, "forces");
  implementation_->with_noise(forces, noise, velocities);
  implementation_->context.synchronize();
}
template <typename Context, typename T>
void mobility<Context, T>::check() {
  implementation_->context.synchronize();
}
template <typename Context, typename T>
const mobility_report& mobility<Context, T>::report() const {
  require(implementation_->prepared, "nothing has been prepared yet");
  return implementation_->report;
}
template <typename Context, typename T>
std::size_t mobility<Context, T>::bytes() const {
  return implementation_->bytes();
}
template <typename Context, typename T>
const mobility_options& mobility<Context, T>::options() const {
  return implementation_->options;
}

template class mobility<backend_context, float>;
template class mobility<backend_context, double>;

}  // namespace quadrat
