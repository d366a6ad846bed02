// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/mesh/window.hpp"
#include "quadrat/tune/explanation.hpp"

/// Spreading values of particles onto a mesh, and interpolating values of a mesh at particles.
namespace quadrat {

/// The positions of the K mesh points of an open axis.
enum class open_ends {
  lower,  ///< K cells, each with a mesh point at its lower end: none on the upper face of the box
  both    ///< K - 1 cells: the first mesh point on the lower face, the last on the upper one
};

/// Numbers of points of the last set_points that do not contribute fully. The same in every run.
struct mesh_left_out {
  std::uint64_t clipped = 0;  ///< all or part of the footprint is outside the mesh
  std::uint64_t missed = 0;   ///< of these: the whole footprint is outside, so the point contributes nothing
  std::uint64_t outside = 0;  ///< the point is outside the box along an open axis
};

namespace detail {
struct plan_details;
struct plan_access;
}  // namespace detail

struct spread_options {
  std::string method{};  ///< one of spread_methods(); empty or "auto": chosen automatically, see spread_plan::reason
  /// With `auto`: times the methods that may be fastest during the first calls, which wait. The fastest is kept until
  /// the number of points changes by a factor of two or a call is captured (docs/concepts/choosing.md). Not at
  /// run_to_run and canonical.
  bool autotune = false;
  /// Whether the part of a footprint outside the mesh along an open axis is ignored and counted: spread_plan::left_out.
  /// Otherwise such a point is a data_error.
  bool clip = false;
  /// Whether points outside the box along open axes are accepted, and counted: spread_plan::left_out. Their footprints
  /// are treated like those of other points. Otherwise they are a data_error. Both faces of an open axis belong to the
  /// box. Along a periodic axis, points up to 2^20 periods away are wrapped; data_error beyond.
  bool accept_outside = false;
  open_ends ends = open_ends::lower;
  /// Expected calls of spread per call of set_points. The choice of a method depends on it.
  double uses = 1;
  /// Whether set_points_async must work. If so, methods without it, such as hybrid_mesh, are not chosen.
  bool asynchronous = true;
  /// Bytes that the plan may hold; 0: all free memory.
  std::size_t most_bytes = 0;
  /// Lengths of the box, by axis, before they were rounded to T, such as 2 pi: positions on the mesh are then as exact
  /// as for a box of exactly that length. 0: those of the box.
  vec<double, 3> exact_lengths{};
};

/// The values of one call.
struct mesh_call {
  /// Number of consecutive value vectors: values[vector][point], mesh[vector][x][y][z]. Weights are computed once for
  /// all vectors; by `gather` once per component; by `tiles` once per vector, or on GPUs once for two real ones.
  int vectors = 1;
  /// Adds to the result instead of overwriting it.
  bool accumulate = false;
};

/// A plan for a mesh. Set its points whenever they move, and use it any number of times. Move-only. Context:
/// cpu_context or cuda_context; T: float or double; D: 1, 2, 3.
///
/// Mesh point (i, j, k) is at lower + (i L_x / K_x, j L_y / K_y, k L_z / K_z), also along open axes, unless
/// options.ends puts mesh points on both faces: then i L_x / (K_x - 1). Mesh arrays are C-ordered [x][y][z], z varies
/// fastest. Extents may be 1 to 2^22 (2 with ends on both faces), even smaller than the window; the mesh has at most
/// 2^31 - 1 points. Values and results are in the order of the given points, in the memory of the context.
///
/// A non-finite value of a point or a mesh point makes the results it contributes to non-finite; with `tiles` on GPUs
/// also results within 15 mesh points of those.
///
/// Spreading and interpolation allocate nothing. A call waits for its result, and throws what `check` throws. Its twin
/// with `_async` does not wait (except while options.autotune tries methods), and can be captured in a CUDA graph.
/// Determinism: the context's level, which the method must support (spread_methods()); at `none` the order of additions
/// to a mesh point is that of the atomic operations. Interpolation gives the same result in every run at every level.
/// Source: particle-mesh-spreading (all sections).
template <typename Context, typename T, int D>
class spread_plan {
  static_assert(detail::instance<Context, T, D, 1>::exists);

 public:
  /// A plan with cardinal B-splines of order 1 to 8. Throws argument_error for invalid extents, orders and options,
  /// unknown methods (listing the valid ones), methods that do not support the backend or the level of determinism, and
  /// autotune at run_to_run or canonical.
  spread_plan(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh, int order,
              const spread_options& options = {});
  /// A plan with a window given by the caller.
  spread_plan(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh, const mesh_window<T>& window,
              const spread_options& options = {});

  /// Copies the points, which may change or be freed afterwards. Waits. May allocate: when the number of points grows,
  /// and while options.autotune tries methods. Throws argument_error when there are more than 2^31 - 1 points, for null
  /// pointers, for several points with a stride of 0, or when the method would need more memory than is available
  /// (saying how much, before anything is allocated); data_error naming the first point that is not finite, or whose
  /// position or footprint is refused. After an exception the plan is unusable until the next call.
  void set_points(const points_view<T, D>& points);

  /// Like set_points, for at most as many points as its last call, with the method, the decisions and the memory of
  /// that call. Does not wait. Allocates nothing. Can be captured, also together with calls that use the points.
  /// `check` reports refused points (with `cpu_context` this call itself throws); until it has passed, results may
  /// belong to other points. Does not count left_out. Throws argument_error for more points, and if the method must
  /// wait: particle, particle_threads, tiles and multicolor never must, nor does a method chosen with
  /// options.asynchronous.
  void set_points_async(const points_view<T, D>& points);

  /// Waits. Allocates nothing. Throws data_error naming the first point that was refused by set_points_async, or by a
  /// replay of a graph that contains it, since set_points or a failed check; then the plan is unusable, and further
  /// checks throw the same, until points are set by a call.
  void check();

  /// The points that the last set_points left out. An additional pass counts them if an axis is open and the options
  /// clip or accept; otherwise zeros. Throws argument_error after set_points_async.
  [[nodiscard]] mesh_left_out left_out() const;

  /// mesh[k] = sum over points i of values[i] w(u_i - k), for the arrays of spread_async. Waits. Allocates nothing.
  /// Throws what spread_async and `check` throw.
  template <typename Values, typename Mesh>
  void spread(Values&& values, Mesh&& mesh, const mesh_call& call = {}) {
    spread_async(std::forward<Values>(values), std::forward<Mesh>(mesh), call);
    check();
  }
  /// values[i] = sum over mesh points k of mesh[k] w(u_i - k): the adjoint of spreading, for the arrays of
  /// interpolate_async. Waits. Allocates nothing. Throws what interpolate_async and `check` throw.
  template <typename Mesh, typename Values>
  void interpolate(Mesh&& mesh, Values&& values, const mesh_call& call = {}) {
    interpolate_async(std::forward<Mesh>(mesh), std::forward<Values>(values), call);
    check();
  }
  /// gradients[vector][i][axis], derivatives of the interpolated value with respect to position, per unit of length.
  /// Arrays as for interpolate_gradient_async. Waits. Allocates nothing. Throws like that and `check`.
  template <typename Mesh, typename Gradients>
  void interpolate_gradient(Mesh&& mesh, Gradients&& gradients, const mesh_call& call = {}) {
    interpolate_gradient_async(std::forward<Mesh>(mesh), std::forward<Gradients>(gradients), call);
    check();
  }
  /// Both in one call, which is never slower than two calls: values[i] as in `interpolate`, gradients as in
  /// `interpolate_gradient`. Waits. Allocates nothing. Throws what interpolate_with_gradient_async and `check` throw.
  template <typename Mesh, typename Values, typename Gradients>
  void interpolate_with_gradient(Mesh&& mesh, Values&& values, Gradients&& gradients, const mesh_call& call = {}) {
    interpolate_with_gradient_async(std::forward<Mesh>(mesh), std::forward<Values>(values),
                                    std::forward<Gradients>(gradients), call);
    check();
  }

  /// The same. Do not wait (except while options.autotune tries methods). Allocate nothing. Can be captured. Throw
  /// argument_error when no points are set, for null pointers, and when the number of vectors is not positive.
  void spread_async(const T* values, T* mesh, const mesh_call& call = {});
  void spread_async(const std::complex<T>* values, std::complex<T>* mesh, const mesh_call& call = {});
  void interpolate_async(const T* mesh, T* values, const mesh_call& call = {});
  void interpolate_async(const std::complex<T>* mesh, std::complex<T>* values, const mesh_call& call = {});
  void interpolate_gradient_async(const T* mesh, T* gradients, const mesh_call& call = {});
  void interpolate_gradient_async(const std::complex<T>* mesh, std::complex<T>* gradients, const mesh_call& call = {});
  void interpolate_gradient_async(const T* mesh, vec<T, D>* gradients, const mesh_call& call = {}) {
    interpolate_gradient_async(mesh, reinterpret_cast<T*>(gradients), call);
  }
  void interpolate_with_gradient_async(const T* mesh, T* values, T* gradients, const mesh_call& call = {});
  void interpolate_with_gradient_async(const std::complex<T>* mesh, std::complex<T>* values, std::complex<T>* gradients,
                                       const mesh_call& call = {});
  void interpolate_with_gradient_async(const T* mesh, T* values, vec<T, D>* gradients, const mesh_call& call = {}) {
    interpolate_with_gradient_async(mesh, values, reinterpret_cast<T*>(gradients), call);
  }

  /// The same for arrays of known length. Also throw argument_error if a length does not match the call's vectors; the
  /// lengths behind plain pointers cannot be checked.
  void spread_async(std::span<const T> values, std::span<T> mesh, const mesh_call& call = {}) {
    require_lengths(values.size(), "values", mesh.size(), call);
    spread_async(values.data(), mesh.data(), call);
  }
  void spread_async(std::span<const std::complex<T>> values, std::span<std::complex<T>> mesh,
                    const mesh_call& call = {}) {
    require_lengths(values.size(), "values", mesh.size(), call);
    spread_async(values.data(), mesh.data(), call);
  }
  void interpolate_async(std::span<const T> mesh, std::span<T> values, const mesh_call& call = {}) {
    require_lengths(values.size(), "values", mesh.size(), call);
    interpolate_async(mesh.data(), values.data(), call);
  }
  void interpolate_async(std::span<const std::complex<T>> mesh, std::span<std::complex<T>> values,
                         const mesh_call& call = {}) {
    require_lengths(values.size(), "values", mesh.size(), call);
    interpolate_async(mesh.data(), values.data(), call);
  }
  void interpolate_gradient_async(std::span<const T> mesh, std::span<vec<T, D>> gradients, const mesh_call& call = {}) {
    require_lengths(gradients.size(), "gradients", mesh.size(), call);
    interpolate_gradient_async(mesh.data(), gradients.data(), call);
  }
  void interpolate_with_gradient_async(std::span<const T> mesh, std::span<T> values, std::span<vec<T, D>> gradients,
                                       const mesh_call& call = {}) {
    require_lengths(values.size(), "values", mesh.size(), call);
    require_lengths(gradients.size(), "gradients", mesh.size(), call);
    interpolate_with_gradient_async(mesh.data(), values.data(), gradients.data(), call);
  }

  [[nodiscard]] std::size_t point_count() const;
  /// The context in which all work runs.
  [[nodiscard]] const Context& context() const;
  [[nodiscard]] const mesh_window<T>& window() const;
  /// Points of the mesh.
  [[nodiscard]] std::size_t mesh_size() const;
  /// The method in use: with `auto`, that of the last set_points (empty before), and why.
  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] std::string_view reason() const;
  /// All methods with their expected times, and what the last choice went by (docs/concepts/choosing.md); without
  /// candidates if nothing was chosen automatically. Does not wait. Allocates nothing.
  [[nodiscard]] quadrat::explanation explanation() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  friend detail::plan_access;
  spread_plan(const Context& context, const box<T, D>& domain, const vec<int, D>& mesh, const mesh_window<T>& window,
              const spread_options& options, const detail::plan_details& details);
  void set_points(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void set_points_async(const points_view<T, D>& points, const std::uint32_t* system_of_point);
  void require_lengths(std::size_t of_points, std::string_view name, std::size_t of_mesh, const mesh_call& call) const;

  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
