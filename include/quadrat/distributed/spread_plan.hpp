// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>

#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/mesh/window.hpp"

namespace quadrat {

/// Spreading and interpolation over all ranks. Each rank spreads its own points onto the mesh points around its block
/// by spread_plan (its methods, options, limits). mesh_halo then adds the contributions on the owner of each mesh
/// point. Results equal those of one rank to rounding. Move-only. All calls are collective.
///
/// Determinism: at run_to_run the same bits in every run on the same number of ranks.
template <typename Context, typename T, int D>
class distributed_spread_plan {
  static_assert(detail::instance<Context, T, D>::exists);

 public:
  /// `domain`, `mesh`, `order`, `options`: as in spread_plan, but without clip and accept_outside. `owners`: of the
  /// mesh points (its cells are the mesh), such as slab_decomposition. `shares`: of the particles, in cells of `space`,
  /// whose box is the domain. `reach`: how far a particle may have left its block. The communicator must outlive this.
  /// Throws on all ranks what spread_plan throws, and argument_error if the arguments do not fit each other.
  distributed_spread_plan(const Context& context, communicator& ranks, const vec<int, D>& mesh, int order,
                          const decomposition<D>& owners, const grid<T, D>& space, const decomposition<D>& shares,
                          T reach = T(0), const spread_options& options = {});
  /// The same with the caller's own window.
  distributed_spread_plan(const Context& context, communicator& ranks, const vec<int, D>& mesh,
                          const mesh_window<T>& window, const decomposition<D>& owners, const grid<T, D>& space,
                          const decomposition<D>& shares, T reach = T(0), const spread_options& options = {});
  /// The same with a mesh over a larger box, which begins where that of the particles does.
  distributed_spread_plan(const Context& context, communicator& ranks, const vec<int, D>& mesh,
                          const mesh_window<T>& window, const decomposition<D>& owners, const box<T, D>& domain,
                          const grid<T, D>& space, const decomposition<D>& shares, T reach = T(0),
                          const spread_options& options = {});

  /// Sets the own points, each within the reach of this rank's block and not wrapped to the other side of the box.
  /// Waits. May allocate. Throws on all ranks what spread_plan::set_points throws, and data_error for a point that is
  /// farther away.
  void set_points(const points_view<T, D>& points);

  /// The number of mesh points of this rank: the size of `mesh` below, C-ordered in its block.
  [[nodiscard]] std::size_t mesh_size() const;

  /// As in spread_plan, of arrays that the twins take: T or std::complex<T>, gradients T or vec<T, D>. Wait. Allocate
  /// nothing after the first call.
  template <typename Values, typename Mesh>
  void spread(const Values* values, Mesh* mesh) {
    spread_async(values, mesh), wait();
  }
  template <typename Mesh, typename Values>
  void interpolate(const Mesh* mesh, Values* values) {
    interpolate_async(mesh, values), wait();
  }
  template <typename Gradients>
  void interpolate_gradient(const T* mesh, Gradients* gradients) {
    interpolate_gradient_async(mesh, gradients), wait();
  }
  template <typename Gradients>
  void interpolate_with_gradient(const T* mesh, T* values, Gradients* gradients) {
    interpolate_with_gradient_async(mesh, values, gradients), wait();
  }

  /// The same. Do not wait where the messages of the communicator do not. Allocate nothing after the first call.
  void spread_async(const T* values, T* mesh);
  void spread_async(const std::complex<T>* values, std::complex<T>* mesh);
  void interpolate_async(const T* mesh, T* values);
  void interpolate_async(const std::complex<T>* mesh, std::complex<T>* values);
  void interpolate_gradient_async(const T* mesh, T* gradients);
  void interpolate_gradient_async(const T* mesh, vec<T, D>* gradients) {
    interpolate_gradient_async(mesh, reinterpret_cast<T*>(gradients));
  }
  void interpolate_with_gradient_async(const T* mesh, T* values, T* gradients);
  void interpolate_with_gradient_async(const T* mesh, T* values, vec<T, D>* gradients) {
    interpolate_with_gradient_async(mesh, values, reinterpret_cast<T*>(gradients));
  }

  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  void wait() const;

  struct implementation;
  template <typename Window>
  void make(const Context& context, communicator& ranks, const vec<int, D>& mesh, const Window& window, int width,
            const decomposition<D>& owners, const box<T, D>& domain, const grid<T, D>& space,
            const decomposition<D>& shares, T reach, const spread_options& options);
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
