// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/nufft_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/backend.hpp"
#include "distributed/particles/near_block.hpp"
#include "distributed/particles/own_points.hpp"
#include "mesh/checks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/fft.hpp"
#include "quadrat/distributed/mesh_halo.hpp"
#include "quadrat/distributed/spread_plan.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "spectral/checks.hpp"
#include "spectral/window_choice.hpp"

namespace quadrat {

namespace {

/// The axes of the mesh: the last one of the points comes first. A transposed transform, whose first axis comes last,
/// then leaves the modes in the order of the points' axes.
template <typename E, int D>
[[nodiscard]] vec<E, D> turned(const vec<E, D>& of_points) {
  return make_vec<E, D>([&](int axis) { return of_points[(axis + D - 1) % D]; });
}
template <typename T, int D>
[[nodiscard]] points_view<T, D> turned(const points_view<T, D>& points) {
  points_view<T, D> result = points;
  for (int axis = 0; axis < D; ++axis) result.component[axis] = points.component[(axis + D - 1) % D];
  return result;
}
template <typename T, int D>
[[nodiscard]] grid<T, D> turned(const grid<T, D>& space) {
  const box<T, D>& domain = space.domain;
  return make_grid(make_box_from_lengths(turned(domain.lower), turned(domain.length), domain.periodic),
                   turned(space.cells));
}
template <int D>
[[nodiscard]] decomposition<D> turned(const decomposition<D>& shares) {
  decomposition<D> result{turned(shares.cells), turned(shares.periodic), shares.cuts, {}};
  for (rank_cut& cut : result.cuts) cut.axis = (cut.axis + 1) % D;
  for (const cell_block<D>& block : shares.blocks) result.blocks.push_back({turned(block.first), turned(block.end)});
  return result;
}

/// Index: mode of this rank. Moves it between the array of modes and the patch of the mesh's modes, which has the same
/// modes or, in the opposite order, those at -k. Divides it by the transform of the window.
template <typename T, int D>
struct move_own_modes {
  vec<int, D> first;  ///< the mode at index 0
  vec<int, D> extent;
  vec<const T*, D> factor;  ///< by the modulus of a mode's index
  std::size_t count;
  bool mirrored, into_patch;
  T* modes;
  T* patch;

  QUADRAT_HD void operator()(std::size_t i) const {
    auto rest = static_cast<std::uint32_t>(i);
    T weight = T(1);
    for (int axis = D - 1; axis >= 0; --axis) {
      const auto along = static_cast<std::uint32_t>(extent[axis]);
      const int k = first[axis] + static_cast<int>(rest % along);
      weight *= factor[axis][k < 0 ? -k : k];
      rest /= along;
    }
    T* const here = modes + 2 * i;
    T* const there = patch + 2 * (mirrored ? count - 1 - i : i);
    T* const to = into_patch ? there : here;
    const T* const from = into_patch ? here : there;
    for (int part = 0; part < 2; ++part) to[part] = weight * from[part];
  }
};

}  // namespace

template <typename Context, typename T, int D>
struct distributed_nufft_plan<Context, T, D>::implementation {
  implementation(const Context& chosen, communicator& group, const grid<T, D>& cells, const vec<int, D>& numbers,
                 double tolerance, const nufft_options& wanted);

  void choose(double points);
  void set_points(const decomposition<D>& shares, const points_view<T, D>& points);
  void type_1(const T* values, T* modes, const nufft_call& call);
  void type_2(const T* modes, T* values, const nufft_call& call);
  [[nodiscard]] const detail::transform_window<T>& window() const { return windows[chosen]; }
  [[nodiscard]] vec<int, D> mesh_extents() const;
  [[nodiscard]] std::size_t bytes() const;

  Context context;
  communicator& ranks;
  decomposition<D> mode_shares;
  std::size_t own_modes = 0, own_points = 0;
  bool usable = false;

 private:
  void check_box() const;
  void build();
  void make_spreading(const decomposition<D>& shares);
  void place(const decomposition<D>& shares, const points_view<T, D>& points);
  [[nodiscard]] int agreed_sign(const nufft_call& call, int usual, const void* values, const void* modes);
  [[nodiscard]] mesh_halo<Context, T, D>& wanted_modes(bool mirrored);
  void move_modes(T* modes, bool mirrored, bool into_patch);
  [[nodiscard]] const cell_block<D>& block() const {
    return mode_shares.blocks[static_cast<std::size_t>(ranks.rank())];
  }
  [[nodiscard]] vec<int, D> first_mode() const {
    return make_vec<int, D>([&](int axis) { return block().first[axis] - numbers[axis] / 2; });
  }
  [[nodiscard]] T* mesh_values() { return reinterpret_cast<T*>(mesh.data()); }

  grid<T, D> space;
  vec<int, D> numbers;  ///< of modes
  nufft_options options;
  detail::nufft_problem problem;
  std::vector<detail::transform_window<T>> windows;
  std::size_t chosen = 0, built = 0;  ///< built: 1 + index of the window for which the members below are made; 0: none
  double chosen_for = 0;              ///< points
  std::optional<distributed_fft<Context, T>> fft;
  std::optional<distributed_spread_plan<Context, T, D>> spreading;
  decomposition<D> spread_shares;                              ///< those of `spreading`
  decomposition<D> mesh_modes;                                 ///< which rank has which modes of the mesh
  std::optional<mesh_halo<Context, T, D>> from_mesh_modes[2];  ///< to own modes, and to those at -k
  detail::own_points_check<Context> check_own;
  array<T, Context> factors;
  array<vec<T, D>, Context> near_block;
  array<std::complex<T>, Context> mesh, patch;
};

template <typename Context, typename T, int D>
distributed_nufft_plan<Context, T, D>::implementation::implementation(const Context& where, communicator& group,
                                                                      const grid<T, D>& cells, const vec<int, D>& modes,
                                                                      double tolerance, const nufft_options& wanted)
    : context(where),
      ranks(group),
      space(cells),
      numbers(modes),
      options(wanted),
      problem(detail::nufft_problem_of(modes, wanted)) {
  constexpr const char* alone = "; over several ranks that is not possible";
  require(wanted.values == nufft_values::complex, "the values are real", alone, ": give complex ones");
  require(wanted.order == mode_order::centered, "the order of modes is that of an FFT", alone, ": it must be centered");
  require(wanted.systems == 1, "there are ", wanted.systems, " systems", alone);
  require(wanted.most_bytes == 0, "the plan may hold ", wanted.most_bytes,
          " bytes; over several ranks there is no limit");
  check_box();
  problem.most_points *= ranks.size();
  windows = detail::windows_of<T>(problem, wanted, tolerance);
  for (const auto& one : windows) detail::require_spread_method(wanted.method, where, one.window.width);
  detail::require_fft_library<T>(wanted.fft, where);
  mode_shares = slab_decomposition(modes, ranks.size());
  if constexpr (D == 3) {
    if (ranks.size() > modes[0]) mode_shares = pencil_decomposition(modes, ranks.size());
  }
  if (!block().empty()) own_modes = mesh_patch<D>{{}, block().end - block().first}.size();
}

template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::implementation::check_box() const {
  const box<T, D>& domain = space.domain;
  for (int axis = 0; axis < D; ++axis) {
    const double period = problem.period[axis];
    require(domain.periodic[axis], "the box of the grid is open along axis ", axis, "; it must be periodic");
    require(domain.lower[axis] == static_cast<T>(options.origin[axis]), "the box of the grid begins at ",
            domain.lower[axis], " along axis ", axis, "; the origin of the points is ", options.origin[axis]);
    require(domain.length[axis] == static_cast<T>(period), "the box of the grid is ", domain.length[axis],
            " long along axis ", axis, "; the period of the points is ", period);
  }
}

/// Rank 0 chooses the window for this many points of all ranks. Collective.
template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::implementation::choose(double points) {
  if (points == chosen_for) return;
  chosen_for = points;
  chosen = all_values(ranks, detail::fastest_window(windows, problem, points, context))[0];
}

template <typename Context, typename T, int D>
vec<int, D> distributed_nufft_plan<Context, T, D>::implementation::mesh_extents() const {
  const detail::mesh_extents extent = problem.mesh(window().oversampling);
  return make_vec<int, D>([&](int axis) { return extent.axis[3 - D + axis]; });
}

/// Everything that depends on the window and the mesh, but not on the points. Collective.
template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::implementation::build() {
  if (built == chosen + 1) return;
  built = 0;
  spreading.reset();
  for (auto& one : from_mesh_modes) one.reset();
  const vec<int, D> extent = mesh_extents();
  vec<int, 3> axes = vec<int, 3>::filled(1);
  for (int axis = 0; axis < D; ++axis) axes[axis] = turned(extent)[axis];
  distributed_fft_options how;
  how.transposed = true;
  how.library = options.fft;
  if (D == 2) how.layout = fft_layout::slabs;  // pencils would be along the third axis
  fft.emplace(context, ranks, axes, how);
  // [y - y0][z - z0][x] in the axes of the mesh.
  const cell_block<3> last = fft->transposed_block();
  cell_block<D> own{};
  for (int axis = 0; axis < D; ++axis) {
    own.first[axis] = last.first[(axis + 1) % D];
    own.end[axis] = last.end[(axis + 1) % D];
  }
  mesh_modes = {extent, vec<bool, D>::filled(true), {}, all_values(ranks, own)};
  together(ranks, [&] {
    std::vector<T> host;
    for (int axis = 0; axis < D; ++axis) {
      for (const double value : window().window.transforms(numbers[axis] / 2 + 1, extent[axis])) {
        host.push_back(static_cast<T>(1 / value));
      }
    }
    factors = to_device(context, host);
    mesh = array<std::complex<T>, Context>(context, fft->room());
    patch = array<std::complex<T>, Context>(context, std::max(own_modes, std::size_t{1}));
  });
  built = chosen + 1;
}

/// Collective.
template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::implementation::make_spreading(const decomposition<D>& shares) {
  if (spreading && spread_shares.blocks == shares.blocks) return;
  spreading.reset();
  const vec<bool, D> periodic = vec<bool, D>::filled(true);
  const vec<int, D> extent = turned(mesh_extents());
  decomposition<D> layout = slab_decomposition(extent, ranks.size(), periodic);
  if constexpr (D == 3) {
    if (fft->in_pencils()) layout = pencil_decomposition(extent, ranks.size(), periodic);
  }
  spread_options how;
  how.method = options.method;
  how.uses = detail::uses_of_points<Context>(window().window.width);
  for (int axis = 0; axis < D; ++axis) how.exact_lengths[axis] = problem.period[(axis + D - 1) % D];
  spreading.emplace(context, ranks, extent, window().window, layout, turned(space), turned(shares), T(0), how);
  spread_shares = shares;
}

/// Own points in the axes of the mesh, near the block along axes that it does not have as a whole. Along the others the
/// mesh of this rank is periodic.
template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::implementation::place(const decomposition<D>& shares,
                                                                  const points_view<T, D>& points) {
  const cell_block<D>& mine = shares.blocks[static_cast<std::size_t>(ranks.rank())];
  vec<bool, D> in_part{};
  vec<double, D> period{};
  for (int axis = 0; axis < D; ++axis) {
    in_part[axis] = mine.end[axis] - mine.first[axis] < space.cells[axis];
    period[axis] = problem.period[axis];
  }
  near_block.resize_discarding(context, points.count);
  for_each(context, "distributed.near_block", points.count,
           detail::place_near_block<T, D>{turned(points), turned(detail::middle_of(space, mine)), turned(period),
                                          turned(in_part), near_block.data()});
}

template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::implementation::set_points(const decomposition<D>& shares,
                                                                       const points_view<T, D>& points) {
  usable = false;
  together(ranks, [&] { check_own(context, ranks, space, shares, points); });
  std::uint64_t all = points.count;
  ranks.add_up(&all, 1);
  choose(static_cast<double>(all));
  build();
  make_spreading(shares);
  together(ranks, [&] { place(shares, points); });
  spreading->set_points(points_of(near_block));
  static_cast<void>(wanted_modes(true));  // that of both types with their usual signs
  own_points = points.count;
  usable = true;
}

/// Collective.
template <typename Context, typename T, int D>
int distributed_nufft_plan<Context, T, D>::implementation::agreed_sign(const nufft_call& call, int usual,
                                                                       const void* values, const void* modes) {
  int sign = usual;
  together(ranks, [&] {
    require(usable, "no points are set; call set_points first (and again where it failed)");
    sign = detail::checked_sign(call, usual);
    require_pointer(values, own_points, "values");
    require_pointer(modes, own_modes, "modes");
  });
  return sign;
}

/// Connects the modes of the mesh with the patch. Collective.
template <typename Context, typename T, int D>
mesh_halo<Context, T, D>& distributed_nufft_plan<Context, T, D>::implementation::wanted_modes(bool mirrored) {
  auto& found = from_mesh_modes[mirrored ? 1 : 0];
  if (found) return *found;
  mesh_patch<D> wanted{vec<int, D>{}, vec<int, D>::filled(1)};  // of a rank without modes
  if (own_modes > 0) {
    wanted = {first_mode(), block().end - block().first};
    for (int axis = 0; axis < D && mirrored; ++axis) {
      wanted.first[axis] = 1 - wanted.first[axis] - wanted.extent[axis];
    }
  }
  return found.emplace(context, ranks, mesh_modes, wanted);
}

template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::implementation::move_modes(T* modes, bool mirrored, bool into_patch) {
  T* const there = reinterpret_cast<T*>(patch.data());
  if (own_modes == 0) return fill_bytes(context, there, 0, patch.bytes());
  move_own_modes<T, D> move{first_mode(), block().end - block().first, {}, own_modes, mirrored, into_patch, modes,
                            there};
  const T* factor = factors.data();
  for (int axis = 0; axis < D; ++axis) {
    move.factor[axis] = factor;
    factor += numbers[axis] / 2 + 1;
  }
  for_each(context, "distributed.modes", own_modes, move);
}

template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::implementation::type_1(const T* values, T* modes, const nufft_call& call) {
  const bool mirrored = agreed_sign(call, 1, values, modes) > 0;
  mesh_halo<Context, T, D>& wanted = wanted_modes(mirrored);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    spreading->spread_async(reinterpret_cast<const std::complex<T>*>(values) + v * own_points, mesh.data());
    fft->forward_async(mesh.data());
    wanted.fetch(mesh_values(), reinterpret_cast<T*>(patch.data()), 2);
    move_modes(modes + 2 * v * own_modes, mirrored, false);
  }
}

template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::implementation::type_2(const T* modes, T* values, const nufft_call& call) {
  const bool mirrored = agreed_sign(call, -1, values, modes) < 0;
  mesh_halo<Context, T, D>& wanted = wanted_modes(mirrored);
  for (std::size_t v = 0; v < static_cast<std::size_t>(call.vectors); ++v) {
    move_modes(const_cast<T*>(modes) + 2 * v * own_modes, mirrored, true);  // only the patch is written
    wanted.add(reinterpret_cast<const T*>(patch.data()), mesh_values(), 2);
    fft->inverse_async(mesh.data());
    spreading->interpolate_async(mesh.data(), reinterpret_cast<std::complex<T>*>(values) + v * own_points);
  }
}

template <typename Context, typename T, int D>
std::size_t distributed_nufft_plan<Context, T, D>::implementation::bytes() const {
  std::size_t held = factors.bytes() + near_block.bytes() + mesh.bytes() + patch.bytes() + check_own.bytes();
  held += (fft ? fft->bytes() : 0) + (spreading ? spreading->bytes() : 0);
  for (const auto& one : from_mesh_modes) held += one ? one->bytes() : 0;
  return held;
}

template <typename Context, typename T, int D>
distributed_nufft_plan<Context, T, D>::distributed_nufft_plan(const Context& context, communicator& ranks,
                                                              const grid<T, D>& space, const vec<int, D>& modes,
                                                              double tolerance, const nufft_options& options) {
  together(ranks, [&] {
    implementation_ = std::make_unique<implementation>(context, ranks, space, modes, tolerance, options);
  });
  double stored = 1;
  for (int axis = 0; axis < D; ++axis) stored *= modes[axis];
  implementation_->choose(stored);
}

template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::set_points(const decomposition<D>& shares,
                                                       const points_view<T, D>& points) {
  implementation_->set_points(shares, points);
}
template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::type_1_async(const std::complex<T>* values, std::complex<T>* modes,
                                                         const nufft_call& call) {
  implementation_->type_1(reinterpret_cast<const T*>(values), reinterpret_cast<T*>(modes), call);
}
template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::type_2_async(const std::complex<T>* modes, std::complex<T>* values,
                                                         const nufft_call& call) {
  implementation_->type_2(reinterpret_cast<const T*>(modes), reinterpret_cast<T*>(values), call);
}
template <typename Context, typename T, int D>
const decomposition<D>& distributed_nufft_plan<Context, T, D>::mode_shares() const {
  return implementation_->mode_shares;
}
template <typename Context, typename T, int D>
std::size_t distributed_nufft_plan<Context, T, D>::mode_count() const {
  return implementation_->own_modes;
}
template <typename Context, typename T, int D>
std::size_t distributed_nufft_plan<Context, T, D>::point_count() const {
  return implementation_->usable ? implementation_->own_points : 0;
}
template <typename Context, typename T, int D>
double distributed_nufft_plan<Context, T, D>::error_bound() const {
  return implementation_->window().error;
}
template <typename Context, typename T, int D>
int distributed_nufft_plan<Context, T, D>::width() const {
  return implementation_->window().window.width;
}
template <typename Context, typename T, int D>
double distributed_nufft_plan<Context, T, D>::oversampling() const {
  return implementation_->window().oversampling;
}
template <typename Context, typename T, int D>
vec<int, D> distributed_nufft_plan<Context, T, D>::mesh() const {
  return implementation_->mesh_extents();
}
template <typename Context, typename T, int D>
std::size_t distributed_nufft_plan<Context, T, D>::bytes() const {
  return implementation_->bytes();
}
template <typename Context, typename T, int D>
void distributed_nufft_plan<Context, T, D>::wait() const {
  implementation_->context.synchronize();
}

template class distributed_nufft_plan<backend_context, float, 2>;
template class distributed_nufft_plan<backend_context, float, 3>;
template class distributed_nufft_plan<backend_context, double, 2>;
template class distributed_nufft_plan<backend_context, double, 3>;

}  // namespace quadrat
