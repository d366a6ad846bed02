// SPDX-License-Identifier: BSD-3-Clause
#include "models/brownian/ranks/spheres_of_rank.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

#include "core/backend.hpp"
#include "models/brownian/methods.hpp"

namespace quadrat::detail {

namespace {

/// A sphere on its way to rank 0.
template <typename T>
struct sent_sphere {
  vec<T, 3> position, origin;
  vec<std::int32_t, 3> images;
  particle_id id;
};

/// The cells of which ranks own blocks, with about one sphere each, so that even few spheres are distributed.
template <typename T>
[[nodiscard]] grid<T, 3> cells_of_spheres(const brownian_options& options, const box<T, 3>& domain, std::size_t count) {
  const double volume = options.box[0] * options.box[1] * options.box[2];
  const double edge = std::cbrt(volume / std::max(1.0, static_cast<double>(count)));
  vec<int, 3> cells{};
  for (int axis = 0; axis < 3; ++axis) {
    cells[axis] = static_cast<int>(std::clamp(std::floor(options.box[axis] / edge), 1.0, 512.0));
  }
  return make_grid(domain, cells);
}

/// In one step the fastest of a million spheres moves five times the root mean square. A random walk of about ten steps
/// should stay within half of the skin.
template <typename T>
[[nodiscard]] T skin_of_spheres(const brownian_options& options) {
  const double least = std::min({options.box[0], options.box[1], options.box[2]});
  return static_cast<T>(std::min(std::max(options.radius, 30 * brownian_move(options)), 0.5 * least));
}

template <typename T>
[[nodiscard]] box<T, 3> box_of_spheres(const brownian_options& options) {
  return make_box_from_lengths<T, 3>({}, cast<T>(options.box), vec<bool, 3>::filled(true));
}

}  // namespace

template <typename Context, typename T>
spheres_of_rank<Context, T>::spheres_of_rank(const Context& context, communicator& ranks,
                                             const brownian_options& options, std::size_t count)
    : base(context, ranks, cells_of_spheres(options, box_of_spheres<T>(options), count)),
      options_(options),
      count_(count),
      domain_(box_of_spheres<T>(options)),
      skin_(skin_of_spheres<T>(options)),
      reach_(0),
      free_(1 / (6 * std::numbers::pi * options.viscosity * options.radius)),
      borders_(context, ranks) {
  if (options.method != free_brownian_method) {
    mobility_.emplace(context, ranks, exchange_.space(), mobility_of(options), count);
  }
  together(ranks, [&] {
    if (options.repulsion > 0) {
      const soft_repulsion<T> law{static_cast<T>(options.repulsion), static_cast<T>(options.repulsion_range)};
      repulsion_.emplace(context, domain_, law.range, law);
      reach_ = law.range + skin_;
    }
    if (!bonded()) return;
    // Keeps the bonds of each sphere in the order that one rank uses.
    std::vector<std::uint32_t> offsets(count + 1);
    for (const brownian_bond& bond : options.bonds) {
      for (const particle_id end : bond) ++offsets[end + 1];
    }
    for (std::size_t i = 0; i < count; ++i) offsets[i + 1] += offsets[i];
    std::vector<particle_id> ends(2 * options.bonds.size());
    std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
    for (const brownian_bond& bond : options.bonds) {
      ends[next[bond[0]]++] = bond[1];
      ends[next[bond[1]]++] = bond[0];
    }
    bond_offsets_ = to_device(context, offsets);
    bond_ends_ = to_device(context, ends);
    place_.resize_discarding(context, count);
  });
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::load(const brownian_state<T>& state, std::size_t first) {
  chosen_ = false;
  own_ = state.positions.size();
  std::vector<sphere_kept<T>> kept(own_);
  std::vector<particle_id> ids(own_);
  for (std::size_t i = 0; i < own_; ++i) {
    ids[i] = static_cast<particle_id>(first + i);
    kept[i] = {state.origins[i], state.images[i], ids[i]};
  }
  positions_ = to_device(context_, state.positions);
  images_ = to_device(context_, state.images);
  kept_ = to_device(context_, kept);
  ids_ = to_device(context_, ids);
}

template <typename Context, typename T>
bool spheres_of_rank<Context, T>::move(bool /*more*/) {
  return far_from_ghosts(positions_);
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::exchange(bool /*balanced*/) {
  leave(positions_);
  exchange_.travel(std::tie(positions_, kept_));
  arrive(positions_);
}

/// In the middle of a step, spheres also take along their noise and their positions at the start.
template <typename Context, typename T>
void spheres_of_rank<Context, T>::exchange_in_the_middle() {
  leave(predicted_);
  exchange_.travel(std::tie(predicted_, kept_, positions_));
  if (options_.temperature > 0) {
    for (auto& one : noise_) exchange_.pass_on(one);
  }
  arrive(predicted_);
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::leave(places_type& places) {
  if (bonded()) {
    // Computed before spheres leave, because bond lengths need the partners that are here now.
    more_reach_.resize_discarding(context_, own_);
    if (chosen_) borders_.forward(places.data());
    for_each(context_, "brownian.places", with_ghosts(), find_places{ids_.data(), place_.data()});
    for_each(context_, "brownian.reach", own_,
             reach_of_bonds<T>{bonds(), places.data(), domain_, reach_, more_reach_.data()});
  }
  for_each(context_, "brownian.pack", own_, pack_sphere<T>{images_.data(), kept_.data()});
  exchange_.leave(own_points(places));
}

/// Chooses the ghosts and makes room for them.
template <typename Context, typename T>
void spheres_of_rank<Context, T>::arrive(places_type& places) {
  own_ = exchange_.arriving();
  halo_reach<T> reach{reach_};
  if (bonded()) {
    exchange_.pass_on(more_reach_);
    reach.of_point = more_reach_.data();
  }
  {
    const waiting_time time(exchange_.communication_seconds());
    borders_.build(exchange_.space(), exchange_.on_device(), own_points(places), reach);
  }
  chosen_ = true;
  const std::size_t all = with_ghosts();
  before_.resize_discarding(context_, own_);
  copy_bytes(context_, places.data(), before_.data(), own_ * sizeof(vec<T, 3>));
  make_room(context_, positions_, own_, all);
  make_room(context_, places, own_, all);
  images_.resize_discarding(context_, own_);
  ids_.resize_discarding(context_, all);
  for_each(context_, "brownian.unpack", own_, unpack_sphere<T>{kept_.data(), images_.data(), ids_.data()});
  if (bonded()) {
    borders_.forward(ids_.data());
    for_each(context_, "brownian.places", all, find_places{ids_.data(), place_.data()});
  }
  forces_.resize_discarding(context_, all);
  velocities_.resize_discarding(context_, own_);
  if (interacts()) mobility_->set(exchange_.shares(), own_points(places), ids_.data(), skin_);
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::finish(bool /*more*/) {
  if (interacts()) mobility_->set_points(own_points(positions_));
  if (options_.scheme == brownian_scheme::midpoint) {
    midpoint();
  } else {
    euler_maruyama();
  }
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::multiply(vec<T, 3>* velocities) {
  if (interacts()) return mobility_->multiply_async(forces_.data(), velocities);
  const free_velocities<T> body{forces_.data(), static_cast<T>(free_), T(0), options_.seed, 0, velocities};
  for_each(context_, "brownian.free own", own_, free_velocities_of_own<T>{body, ids_.data()});
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::draw(std::uint64_t number, double scale, vec<T, 3>* velocities) {
  if (interacts()) return mobility_->square_root({options_.seed, number, scale}, velocities);
  const free_velocities<T> body{
      nullptr, static_cast<T>(free_), static_cast<T>(scale * std::sqrt(free_)), options_.seed, number, velocities};
  for_each(context_, "brownian.free own", own_, free_velocities_of_own<T>{body, ids_.data()});
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::move(const brownian_velocities<T>& by) {
  const move_brownian<T> all{domain_, by, step_ + 1, fault_flag(), positions_.data(), images_.data()};
  for_each(context_, "brownian.move own", own_, move_own_brownian<T>{all, ids_.data()});
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::euler_maruyama() {
  const double h = options_.time_step, scale = std::sqrt(2 * options_.temperature / h);
  if (!pushed() && options_.temperature == 0) return;
  if (pushed()) find_forces(positions_);
  if (!pushed()) {
    draw(step_, scale, velocities_.data());
  } else if (options_.temperature == 0) {
    multiply(velocities_.data());
  } else if (interacts()) {
    mobility_->velocities(forces_.data(), {options_.seed, step_, scale}, velocities_.data());
  } else {
    const free_velocities<T> body{
        forces_.data(), static_cast<T>(free_), static_cast<T>(scale * std::sqrt(free_)), options_.seed,
        step_,          velocities_.data()};
    for_each(context_, "brownian.free own", own_, free_velocities_of_own<T>{body, ids_.data()});
  }
  move({{velocities_.data(), nullptr, nullptr}, {static_cast<T>(h), T(0), T(0)}});
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::midpoint() {
  const auto h = static_cast<T>(options_.time_step);
  const bool noisy = options_.temperature > 0;
  for (std::size_t k = 0; noisy && k < 2; ++k) {
    noise_[k].resize_discarding(context_, own_);
    draw(2 * step_ + k, std::sqrt(options_.temperature / options_.time_step), noise_[k].data());
  }
  if (pushed()) {
    find_forces(positions_);
    multiply(velocities_.data());
    predicted_.resize_discarding(context_, with_ghosts());
    const brownian_velocities<T> half{{velocities_.data(), noisy ? noise_[0].data() : nullptr, nullptr},
                                      {h / T(2), h, T(0)}};
    const predict_brownian<T> all{domain_, half, step_ + 1, fault_flag(), positions_.data(), predicted_.data()};
    for_each(context_, "brownian.predict own", own_, predict_own_brownian<T>{all, ids_.data()});
    if (exchange_.due(far_from_ghosts(predicted_), own_, exchange_.wish())) exchange_in_the_middle();
    if (interacts()) mobility_->set_points(own_points(predicted_));
    find_forces(predicted_);
    multiply(velocities_.data());
  }
  move({{pushed() ? velocities_.data() : nullptr, noisy ? noise_[0].data() : nullptr,
         noisy ? noise_[1].data() : nullptr},
        {h, h, h}});
}

/// Computes forces on own spheres; forces on ghosts are dropped.
template <typename Context, typename T>
void spheres_of_rank<Context, T>::find_forces(places_type& places) {
  {
    const waiting_time time(exchange_.communication_seconds());
    borders_.forward(places.data());
  }
  const std::size_t all = with_ghosts();
  for_each(context_, "brownian.set_forces", all,
           set_brownian_forces<T>{cast<T>(options_.force), forces_.data(), nullptr});
  if (repulsion_ && all > 0) repulsion_->add(context_, points_of(places.data(), all), forces_.data(), nullptr);
  if (!bonded()) return;
  const harmonic_spring<T> law{static_cast<T>(options_.spring), static_cast<T>(options_.spring_length)};
  for_each(context_, "brownian.own bonds", own_,
           add_own_bonds<T, harmonic_spring<T>>{bonds(), places.data(), domain_, forces_.data(), law});
}

template <typename Context, typename T>
void spheres_of_rank<Context, T>::gather(brownian_state<T>& state) {
  for_each(context_, "brownian.pack", own_, pack_sphere<T>{images_.data(), kept_.data()});
  const auto positions = to_host(context_, positions_.data(), own_);
  const auto kept = to_host(context_, kept_.data(), own_);
  std::vector<sent_sphere<T>> mine(own_);
  for (std::size_t i = 0; i < own_; ++i) mine[i] = {positions[i], kept[i].origin, kept[i].images, kept[i].id};
  const auto all = gathered(ranks_, mine);
  place_by_id(all, &sent_sphere<T>::position, state.positions);
  place_by_id(all, &sent_sphere<T>::origin, state.origins);
  place_by_id(all, &sent_sphere<T>::images, state.images);
}

template <typename Context, typename T>
rank_report spheres_of_rank<Context, T>::report() const {
  return exchange_.report(own_, interacts() ? mobility_->ghosts() : with_ghosts() - own_);
}

template <typename Context, typename T>
mobility_report spheres_of_rank<Context, T>::mobility() const {
  if (interacts()) return mobility_->report();
  mobility_report result;
  result.method = free_brownian_method;
  result.reason = "chosen by the options";
  return result;
}

template <typename Context, typename T>
std::size_t spheres_of_rank<Context, T>::bytes() const {
  std::size_t sum = borders_.bytes() + (mobility_ ? mobility_->bytes() : 0) + (repulsion_ ? repulsion_->bytes() : 0);
  for (const auto* one : {&positions_, &predicted_, &before_, &forces_, &velocities_, &noise_[0], &noise_[1]}) {
    sum += one->bytes();
  }
  return sum + images_.bytes() + kept_.bytes() + ids_.bytes() + bond_offsets_.bytes() + bond_ends_.bytes() +
         place_.bytes() + more_reach_.bytes();
}

template class spheres_of_rank<backend_context, float>;
template class spheres_of_rank<backend_context, double>;

}  // namespace quadrat::detail
