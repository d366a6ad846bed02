// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "mesh/plan_details.hpp"
#include "mesh/shape.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/mesh/spread_plan.hpp"
#include "quadrat/mesh/window.hpp"

namespace quadrat::detail {

/// The arguments of an engine's constructor.
template <typename T>
struct spread_setup {
  mesh_shape shape;
  mesh_window<T> window;
  spread_options options;
  plan_details details{};
};

/// A method of spreading. The plan has checked all arguments, and keeps the number of points.
template <typename Context, typename T>
class spread_engine {
 public:
  virtual ~spread_engine() = default;

  /// The approximate memory in bytes for `count` points; called before anything is allocated.
  [[nodiscard]] virtual std::size_t bytes_needed(std::size_t count) const = 0;
  /// Takes `points.count` points. May synchronize; the plan reads the faults afterwards. Points that raised a fault
  /// have safe positions.
  virtual void set_points(const point_placement<T>& points) = 0;
  /// Takes at most as many points as the last set_points. Only for methods that set points asynchronously
  /// (mesh/request.hpp). Asynchronous; allocates nothing.
  virtual void set_points_async(const point_placement<T>& points) { set_points(points); }
  /// Asynchronous, allocates nothing. `mesh` is overwritten, or added to with `accumulate`.
  virtual void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) = 0;
  /// Asynchronous; allocate nothing. Gradients are per mesh unit times `scale[axis]`, `dimension` = 3 - first_axis
  /// consecutive ones for each value; with them, in the same pass, the values, unless `values` is null.
  virtual void interpolate(const value_layout& layout, const T* mesh, T* values, bool accumulate) = 0;
  virtual void interpolate_gradient(const value_layout& layout, const T* mesh, const T* scale, T* values, T* gradients,
                                    bool accumulate) = 0;
  /// Bytes held.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Makes the engine of a method of quadrat::papers: see core/paper_methods.hpp.
template <typename Context, typename T>
using spread_engine_maker = std::unique_ptr<spread_engine<Context, T>>(const Context&, const spread_setup<T>&);

/// Keeps the points as they were placed, in the caller's order, and interpolates with one thread per point: the base of
/// methods that differ only in spreading.
template <typename Context, typename T>
class placed_points_engine : public spread_engine<Context, T> {
 public:
  placed_points_engine(const Context& context, const spread_setup<T>& setup) : context_(context), setup_(setup) {}

  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override { return count * sizeof(placed_point<T>); }
  void set_points(const point_placement<T>& points) override;
  void interpolate(const value_layout& layout, const T* mesh, T* values, bool accumulate) override;
  void interpolate_gradient(const value_layout& layout, const T* mesh, const T* scale, T* values, T* gradients,
                            bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override { return points_.bytes(); }

 protected:
  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] const spread_setup<T>& setup() const { return setup_; }
  [[nodiscard]] std::size_t count() const { return points_.size(); }
  [[nodiscard]] const placed_point<T>* points() const { return points_.data(); }
  /// Fills the mesh with zeros, unless values are accumulated.
  void clear(const value_layout& layout, T* mesh, bool accumulate) const {
    if (!accumulate) fill_bytes(context_, mesh, 0, layout.mesh_values() * sizeof(T));
  }

 private:
  Context context_;
  spread_setup<T> setup_;
  array<placed_point<T>, Context> points_;
};

}  // namespace quadrat::detail
