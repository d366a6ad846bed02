// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/mobility/waves.hpp"

#include <vector>

#include "core/backend.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "spectral/window_choice.hpp"

namespace quadrat::detail {

namespace {

/// Does the work of apply_mobility for a rank's part of the modes, [y][z][x]. Modes that are not kept become 0. These
/// transforms have the other sign, so values are the conjugates of those of one rank. At z = 0 one rank's numbers for k
/// and -k need not be conjugates: here modes k and -k get the mean of the one and the other's conjugate, which gives
/// the same real mesh.
template <typename T>
struct apply_own_mobility {
  wave_law<T> law;
  cell_block<3> block;
  vec<int, 3> mesh;
  const T* factors[3];
  T scale;
  T amplitude;
  noise_words words;
  moved_number<T>* values[3];

  [[nodiscard]] QUADRAT_HD vec<int, 3> mode_at(std::size_t index) const {
    const auto along_x = static_cast<std::size_t>(block.end[0] - block.first[0]);
    const auto along_z = static_cast<std::size_t>(block.end[2] - block.first[2]);
    const std::size_t line = index / along_x;
    vec<int, 3> mode{block.first[0] + static_cast<int>(index % along_x),
                     block.first[1] + static_cast<int>(line / along_z),
                     block.first[2] + static_cast<int>(line % along_z)};
    for (int axis = 0; axis < 2; ++axis) {
      if (2 * mode[axis] > mesh[axis]) mode[axis] -= mesh[axis];
    }
    return mode;
  }
  [[nodiscard]] QUADRAT_HD bool keeps(const vec<int, 3>& mode) const {
    for (int axis = 0; axis < 3; ++axis) {
      const int most = law.modes.extent[axis] / 2;
      if (mode[axis] > most || mode[axis] < -most) return false;
    }
    return true;
  }
  [[nodiscard]] QUADRAT_HD vec<vec<T, 2>, 3> normals(const vec<int, 3>& mode) const {
    vec<vec<T, 2>, 3> here = law.normals(words, law.modes.index_of(mode));
    if (mode[2] == 0) {
      const auto there = law.normals(words, law.modes.index_of({-mode[0], -mode[1], 0}));
      for (int axis = 0; axis < 3; ++axis) {
        here[axis] = {T(0.5) * (here[axis][0] + there[axis][0]), T(0.5) * (here[axis][1] - there[axis][1])};
      }
    }
    for (int axis = 0; axis < 3; ++axis) here[axis][1] = -here[axis][1];
    return here;
  }

  QUADRAT_HD void operator()(std::size_t index) const {
    const vec<int, 3> mode = mode_at(index);
    if (!keeps(mode)) {
      for (auto* value : values) value[index] = {T(0), T(0)};
      return;
    }
    T factor = T(1);
    for (int axis = 0; axis < 3; ++axis) factor *= factors[axis][mode[axis] < 0 ? -mode[axis] : mode[axis]];
    const vec<T, 3> k = law.modes.wave(mode);
    const T square = squared_norm(k), inverse = square == T(0) ? T(0) : T(1) / square;
    const T share = law.share(square, inverse);
    vec<vec<T, 2>, 3> sum{};
    if (scale != T(0)) {
      const T each = scale * share * factor;
      for (int axis = 0; axis < 3; ++axis) {
        sum[axis] = each * vec<T, 2>{values[axis][index].real, values[axis][index].imaginary};
      }
    }
    if (amplitude != T(0)) {
      const T each = law.noise_factor(amplitude, share, mode[2]);
      const auto normal = normals(mode);
      for (int axis = 0; axis < 3; ++axis) sum[axis] += each * normal[axis];
    }
    vec<T, 2> along{};
    for (int axis = 0; axis < 3; ++axis) along += k[axis] * sum[axis];
    along *= inverse;
    for (int axis = 0; axis < 3; ++axis) {
      const vec<T, 2> result = factor * (sum[axis] - k[axis] * along);
      values[axis][index] = {result[0], result[1]};
    }
  }
};

}  // namespace

template <typename Context, typename T>
waves_of_ranks<Context, T>::waves_of_ranks(const Context& context, communicator& ranks, const mobility_choice& choice,
                                           const vec<double, 3>& box, double radius, std::size_t spheres)
    : context_(context),
      ranks_(ranks),
      law_(make_wave_law<T>(choice.parameters, box, radius)),
      window_{},
      mesh_{},
      box_(box) {
  together(ranks, [&] {
    nufft_options options;
    options.values = nufft_values::real;
    options.period = box;
    options.oversampling = choice.oversampling;
    const nufft_problem problem = nufft_problem_of(choice.parameters.modes, options);
    const auto windows = windows_of<T>(problem, options, choice.tolerance);
    const auto& window = windows[fastest_window(windows, problem, static_cast<double>(spheres), context)];
    window_ = window.window;
    const mesh_extents extent = problem.mesh(window.oversampling);
    std::vector<T> host;
    for (int axis = 0; axis < 3; ++axis) {
      mesh_[axis] = extent.axis[axis];
      for (const double value : window_.transforms(problem.modes[axis] / 2 + 1, mesh_[axis])) {
        host.push_back(static_cast<T>(1 / value));
      }
    }
    factors_ = to_device(context, host);
  });
  fft_.emplace(context, ranks, mesh_, distributed_fft_options{.transposed = true, .library = {}});
  together(ranks, [&] {
    values_.resize_discarding(context, fft_->mesh_size());
    for (auto& spectrum : spectra_) spectrum.resize_discarding(context, fft_->room());
  });
}

template <typename Context, typename T>
void waves_of_ranks<Context, T>::share(const grid<T, 3>& space, const decomposition<3>& shares, T reach) {
  if (spreading_ && reach_ == reach && shares_.blocks == shares.blocks) return;
  spreading_.reset();
  const vec<bool, 3> periodic = vec<bool, 3>::filled(true);
  const auto layout = fft_->in_pencils() ? pencil_decomposition(mesh_, ranks_.size(), periodic)
                                         : slab_decomposition(mesh_, ranks_.size(), periodic);
  spread_options how;
  for (int axis = 0; axis < 3; ++axis) how.exact_lengths[axis] = box_[axis];
  spreading_.emplace(context_, ranks_, mesh_, window_, layout, space, shares, reach, how);
  shares_ = shares;
  reach_ = reach;
}

template <typename Context, typename T>
void waves_of_ranks<Context, T>::set_points(const points_view<T, 3>& points) {
  count_ = points.count;
  spreading_->set_points(points);
}

template <typename Context, typename T>
void waves_of_ranks<Context, T>::compute(const T* forces, T scale, const wave_noise& noise, T* velocities) {
  apply_own_mobility<T> body{law_, fft_->mode_block(), mesh_, {}, scale, static_cast<T>(noise.amplitude), noise.words,
                             {}};
  const T* factor = factors_.data();
  std::size_t modes = 1;
  for (int axis = 0; axis < 3; ++axis) {
    body.factors[axis] = factor;
    factor += law_.modes.extent[axis] / 2 + 1;
    body.values[axis] = spectra_[axis].data();
    modes *= static_cast<std::size_t>(body.block.end[axis] - body.block.first[axis]);
  }
  for (std::size_t axis = 0; axis < 3 && scale != T(0); ++axis) {
    spreading_->spread_async(forces + axis * count_, values_.data());
    fft_->forward_async(values_.data(), reinterpret_cast<std::complex<T>*>(spectra_[axis].data()));
  }
  for_each(context_, "mobility.own waves", modes, body);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    fft_->inverse_async(reinterpret_cast<std::complex<T>*>(spectra_[axis].data()), values_.data());
    spreading_->interpolate_async(values_.data(), velocities + axis * count_);
  }
}

template <typename Context, typename T>
std::size_t waves_of_ranks<Context, T>::bytes() const {
  return fft_->bytes() + (spreading_ ? spreading_->bytes() : 0) + factors_.bytes() + values_.bytes() +
         spectra_[0].bytes() + spectra_[1].bytes() + spectra_[2].bytes();
}

template class waves_of_ranks<backend_context, float>;
template class waves_of_ranks<backend_context, double>;

}  // namespace quadrat::detail
