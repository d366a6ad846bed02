// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/spread_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/backend.hpp"
#include "mesh/plan_access.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/distributed/mesh_halo.hpp"

namespace quadrat {

namespace {

/// Whether a patch covers a whole periodic axis, and so wraps around like the mesh.
template <int D>
[[nodiscard]] bool wraps(const mesh_patch<D>& patch, const vec<int, D>& mesh, const vec<bool, D>& periodic, int axis) {
  return periodic[axis] && patch.first[axis] == 0 && patch.extent[axis] == mesh[axis];
}

/// The mesh points that particles of a block can contribute to. `domain`: the box of the mesh.
template <typename T, int D>
[[nodiscard]] mesh_patch<D> patch_of(const vec<int, D>& mesh, const box<T, D>& domain, int order,
                                     const grid<T, D>& space, const cell_block<D>& block, T reach) {
  mesh_patch<D> patch{vec<int, D>{}, vec<int, D>::filled(1)};
  if (block.empty()) return patch;
  for (int axis = 0; axis < D; ++axis) {
    const auto length = static_cast<double>(domain.length[axis]);
    const double part = static_cast<double>(space.domain.length[axis]) / length;
    const double points_a_cell = part * mesh[axis] / space.cells[axis];
    const double points_a_length = mesh[axis] / length;
    // A point in [0, n) reaches mesh points from -half + 1 to n + half - 1. One more allows for rounding at faces. On
    // very long meshes, where few digits are left, several operations make that rounding larger.
    constexpr double rounding = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
    const int half = (order + 1) / 2;
    const double margin =
        half + std::floor(rounding * mesh[axis]) + std::ceil(static_cast<double>(reach) * points_a_length);
    if (domain.periodic[axis] && block.end[axis] - block.first[axis] == space.cells[axis] &&
        space.domain.length[axis] == domain.length[axis]) {
      patch.extent[axis] = mesh[axis];
      continue;
    }
    double first = std::floor(block.first[axis] * points_a_cell) - margin;
    double end = std::ceil(block.end[axis] * points_a_cell) + margin + 1;
    if (!domain.periodic[axis]) {
      first = std::max(first, 0.0);
      end = std::min(end, static_cast<double>(mesh[axis]));
    }
    patch.first[axis] = static_cast<int>(first);
    patch.extent[axis] = static_cast<int>(end - first);
  }
  return patch;
}

/// The box of a patch. It is open along axes where the patch does not wrap.
template <typename T, int D>
[[nodiscard]] box<T, D> box_of_patch(const vec<int, D>& mesh, const box<T, D>& domain, const mesh_patch<D>& patch) {
  box<T, D> result = domain;
  for (int axis = 0; axis < D; ++axis) {
    result.periodic[axis] = wraps(patch, mesh, domain.periodic, axis);
    if (result.periodic[axis]) continue;
    const double spacing = static_cast<double>(domain.length[axis]) / mesh[axis];
    result.lower[axis] =
        static_cast<T>(static_cast<double>(domain.lower[axis]) + static_cast<double>(patch.first[axis]) * spacing);
    result.length[axis] = static_cast<T>(patch.extent[axis] * spacing);
  }
  return make_box_from_lengths(result.lower, result.length, result.periodic);
}

[[nodiscard]] spread_options options_of_patch(spread_options options) {
  require(!options.clip && !options.accept_outside,
          "over several ranks what is outside open axes is refused; clip and accept_outside are not possible");
  require(options.ends == open_ends::lower,
          "over several ranks open axes have no mesh point on the upper face; the options must say so");
  // The faces of the patch along open axes are rounded, so points may be outside by rounding.
  options.accept_outside = true;
  return options;
}

/// Where a patch does not wrap, it is a part of the mesh.
template <typename T, int D>
[[nodiscard]] detail::plan_details details_of_patch(const spread_options& options, const vec<int, D>& mesh,
                                                    const box<T, D>& domain, const mesh_patch<D>& patch) {
  detail::plan_details details;
  for (int axis = 0; axis < D; ++axis) {
    if (wraps(patch, mesh, domain.periodic, axis)) continue;
    const double given = options.exact_lengths[axis];
    details.part.axis[axis] = {mesh[axis], patch.first[axis], static_cast<double>(domain.lower[axis]),
                               given > 0 ? given : static_cast<double>(domain.length[axis])};
  }
  return details;
}

}  // namespace

template <typename Context, typename T, int D>
struct distributed_spread_plan<Context, T, D>::implementation {
  implementation(const Context& chosen, communicator& group, const vec<int, D>& mesh, const mesh_window<T>& window,
                 const box<T, D>& domain, const mesh_patch<D>& own_patch, const spread_options& options)
      : context(chosen),
        ranks(group),
        patch(own_patch),
        plan(detail::plan_access::make(chosen, box_of_patch(mesh, domain, own_patch), own_patch.extent, window,
                                       options_of_patch(options), details_of_patch(options, mesh, domain, own_patch))) {
  }

  /// The memory of the patch.
  [[nodiscard]] T* room(int components) {
    values.resize_discarding(context, patch.size() * static_cast<std::size_t>(components));
    return values.data();
  }

  Context context;
  communicator& ranks;
  mesh_patch<D> patch;
  spread_plan<Context, T, D> plan;
  std::unique_ptr<mesh_halo<Context, T, D>> borders;
  array<T, Context> values;
};

template <typename Context, typename T, int D>
distributed_spread_plan<Context, T, D>::distributed_spread_plan(const Context& context, communicator& ranks,
                                                                const vec<int, D>& mesh, int order,
                                                                const decomposition<D>& owners, const grid<T, D>& space,
                                                                const decomposition<D>& shares, T reach,
                                                                const spread_options& options) {
  make(context, ranks, mesh, order, order, owners, space.domain, space, shares, reach, options);
}
template <typename Context, typename T, int D>
distributed_spread_plan<Context, T, D>::distributed_spread_plan(const Context& context, communicator& ranks,
                                                                const vec<int, D>& mesh, const mesh_window<T>& window,
                                                                const decomposition<D>& owners, const grid<T, D>& space,
                                                                const decomposition<D>& shares, T reach,
                                                                const spread_options& options) {
  make(context, ranks, mesh, window, window.width, owners, space.domain, space, shares, reach, options);
}
template <typename Context, typename T, int D>
distributed_spread_plan<Context, T, D>::distributed_spread_plan(const Context& context, communicator& ranks,
                                                                const vec<int, D>& mesh, const mesh_window<T>& window,
                                                                const decomposition<D>& owners, const box<T, D>& domain,
                                                                const grid<T, D>& space, const decomposition<D>& shares,
                                                                T reach, const spread_options& options) {
  make(context, ranks, mesh, window, window.width, owners, domain, space, shares, reach, options);
}

template <typename Context, typename T, int D>
template <typename Window>
void distributed_spread_plan<Context, T, D>::make(const Context& context, communicator& ranks, const vec<int, D>& mesh,
                                                  const Window& window, int width, const decomposition<D>& owners,
                                                  const box<T, D>& domain, const grid<T, D>& space,
                                                  const decomposition<D>& shares, T reach,
                                                  const spread_options& options) {
  together(ranks, [&] {
    require(owners.cells == mesh, "mesh points are owned on a mesh of ", detail::joined_counts(owners.cells),
            ", not of ", detail::joined_counts(mesh));
    require(owners.periodic == domain.periodic, "the periodic axes of the mesh are not those of the box");
    for (int axis = 0; axis < D; ++axis) {
      require(domain.lower[axis] == space.domain.lower[axis] && domain.length[axis] >= space.domain.length[axis],
              "the box of the mesh does not begin where that of the particles does, or is smaller along axis ", axis);
    }
    require(shares.cells == space.cells && shares.ranks() == ranks.size(),
            "the decomposition of the particles is of another grid, or for other ranks");
    require(reach >= T(0) && std::isfinite(reach), "the reach is ", reach, "; it must be finite and not negative");
    const auto patch =
        patch_of(mesh, domain, width, space, shares.blocks[static_cast<std::size_t>(ranks.rank())], reach);
    if constexpr (std::is_same_v<Window, int>) {
      implementation_ =
          std::make_unique<implementation>(context, ranks, mesh, bspline_window<T>(window), domain, patch, options);
    } else {
      implementation_ = std::make_unique<implementation>(context, ranks, mesh, window, domain, patch, options);
    }
  });
  implementation_->borders = std::make_unique<mesh_halo<Context, T, D>>(context, ranks, owners, implementation_->patch);
}

template <typename Context, typename T, int D>
void distributed_spread_plan<Context, T, D>::set_points(const points_view<T, D>& points) {
  together(implementation_->ranks, [&] { implementation_->plan.set_points(points); });
}

template <typename Context, typename T, int D>
std::size_t distributed_spread_plan<Context, T, D>::mesh_size() const {
  return implementation_->borders->block_size();
}

template <typename Context, typename T, int D>
void distributed_spread_plan<Context, T, D>::spread_async(const T* values, T* mesh) {
  implementation& self = *implementation_;
  T* const patch = self.room(1);
  self.plan.spread_async(values, patch);
  self.borders->add(patch, mesh);
}
template <typename Context, typename T, int D>
void distributed_spread_plan<Context, T, D>::spread_async(const std::complex<T>* values, std::complex<T>* mesh) {
  implementation& self = *implementation_;
  T* const patch = self.room(2);
  self.plan.spread_async(values, reinterpret_cast<std::complex<T>*>(patch));
  self.borders->add(patch, reinterpret_cast<T*>(mesh), 2);
}

template <typename Context, typename T, int D>
void distributed_spread_plan<Context, T, D>::interpolate_async(const T* mesh, T* values) {
  implementation& self = *implementation_;
  T* const patch = self.room(1);
  self.borders->fetch(mesh, patch);
  self.plan.interpolate_async(patch, values);
}
template <typename Context, typename T, int D>
void distributed_spread_plan<Context, T, D>::interpolate_async(const std::complex<T>* mesh, std::complex<T>* values) {
  implementation& self = *implementation_;
  T* const patch = self.room(2);
  self.borders->fetch(reinterpret_cast<const T*>(mesh), patch, 2);
  self.plan.interpolate_async(reinterpret_cast<const std::complex<T>*>(patch), values);
}
template <typename Context, typename T, int D>
void distributed_spread_plan<Context, T, D>::interpolate_gradient_async(const T* mesh, T* gradients) {
  implementation& self = *implementation_;
  T* const patch = self.room(1);
  self.borders->fetch(mesh, patch);
  self.plan.interpolate_gradient_async(patch, gradients);
}

template <typename Context, typename T, int D>
void distributed_spread_plan<Context, T, D>::interpolate_with_gradient_async(const T* mesh, T* values, T* gradients) {
  implementation& self = *implementation_;
  T* const patch = self.room(1);
  self.borders->fetch(mesh, patch);
  self.plan.interpolate_with_gradient_async(patch, values, gradients);
}
template <typename Context, typename T, int D>
void distributed_spread_plan<Context, T, D>::wait() const {
  implementation_->context.synchronize();
}
template <typename Context, typename T, int D>
std::size_t distributed_spread_plan<Context, T, D>::bytes() const {
  const implementation& self = *implementation_;
  return self.plan.bytes() + self.borders->bytes() + self.values.bytes();
}

template class distributed_spread_plan<backend_context, float, 2>;
template class distributed_spread_plan<backend_context, float, 3>;
template class distributed_spread_plan<backend_context, double, 2>;
template class distributed_spread_plan<backend_context, double, 3>;

}  // namespace quadrat
