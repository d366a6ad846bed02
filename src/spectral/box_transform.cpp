// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/box_transform.hpp"

#include <algorithm>
#include <type_traits>

#include "core/automatic.hpp"
#include "core/backend.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "spectral/fft/cuda/box_lines.hpp"

namespace quadrat::detail {

namespace {

/// Index: number of the box [count[0]][count[1]][count[2]]. Copies it between arrays of different extents, times its
/// factors.
template <typename T>
struct copy_box {
  std::size_t count[3];
  mesh_view<const std::complex<T>> from;
  mesh_view<std::complex<T>> to;
  const std::complex<T>* factor[3];
  T sign;  ///< of the factors' imaginary parts

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t at[3] = {i / count[2] / count[1], i / count[2] % count[1], i % count[2]};
    const T* const source = reinterpret_cast<const T*>(&from(at[0], at[1], at[2]));
    T re = source[0], im = source[1];
    for (int axis = 0; axis < 3; ++axis) {
      const T* const number = reinterpret_cast<const T*>(factor[axis] + at[axis]);
      const T a = number[0], b = sign * number[1], old = re;
      re = old * a - im * b;
      im = old * b + im * a;
    }
    T* const target = reinterpret_cast<T*>(&to(at[0], at[1], at[2]));
    target[0] = re;
    target[1] = im;
  }
};

/// Uses a transform of the whole mesh.
template <typename Context, typename T>
class whole_box_transform final : public box_transform<Context, T> {
 public:
  whole_box_transform(const Context& context, const box_problem& problem, std::string_view library)
      : context_(context) {
    transform_shape shape{};
    std::vector<std::complex<T>> factors;
    const auto add = [&](const std::vector<std::complex<double>>& numbers) {
      for (const auto& x : numbers) factors.push_back(std::complex<T>(x));
    };
    std::size_t size = 1;
    for (int d = 0; d < 3; ++d) {
      const box_axis& axis = problem.axis[d];
      shape.extent[d] = axis.size;
      shape.band[d] = {axis.modes(), 0};
      size *= static_cast<std::size_t>(axis.size);
      modes_[d] = axis.mode_factors.size();
      box_[d] = axis.box_factors.size();
      whole_.extent[d] = static_cast<std::size_t>(axis.size);
      add(axis.mode_factors);
      add(axis.box_factors);
    }
    transform_ = make_mode_transform<T>(context, shape, library);
    factors_ = to_device(context, factors);
    mesh_ = array<std::complex<T>, Context>(context, size);
    whole_.numbers = mesh_.data();
    require_whole(whole_, mesh_.size());
  }

  void to_box(const mesh_view<const std::complex<T>>& modes, const mesh_view<std::complex<T>>& box, int sign) override {
    T* const mesh = reinterpret_cast<T*>(mesh_.data());
    transform_->clear(mesh, nullptr);
    copy(modes_, 0, sign, modes, whole_);
    transform_->to_mesh(nullptr, mesh, sign);
    copy(box_, 1, sign, constant(whole_), box);
  }
  void to_modes(const mesh_view<std::complex<T>>& box, const mesh_view<std::complex<T>>& modes, int sign) override {
    fill_bytes(context_, mesh_.data(), 0, mesh_.size() * sizeof(std::complex<T>));
    copy(box_, 1, -sign, constant(box), whole_);
    transform_->to_modes(reinterpret_cast<T*>(mesh_.data()), nullptr, -sign);
    copy(modes_, 0, -sign, constant(whole_), modes);
  }
  [[nodiscard]] std::size_t bytes() const override { return mesh_.bytes() + factors_.bytes() + transform_->bytes(); }

 private:
  /// `kind`: 0 for the factors of modes, 1 for those of the box.
  void copy(const std::size_t (&count)[3], int kind, int sign, const mesh_view<const std::complex<T>>& from,
            const mesh_view<std::complex<T>>& to) {
    require_inside(from, count);
    require_inside(to, count);
    copy_box<T> body{{count[0], count[1], count[2]}, from, to, {}, static_cast<T>(sign)};
    const std::complex<T>* factor = factors_.data();
    for (int d = 0; d < 3; ++d) {
      body.factor[d] = factor + (kind == 0 ? 0 : modes_[d]);
      factor += modes_[d] + box_[d];
    }
    for_each(context_, "spectral.copy_box", count[0] * count[1] * count[2], body);
  }

  Context context_;
  std::size_t modes_[3], box_[3];
  std::unique_ptr<mode_transform<T>> transform_;
  array<std::complex<T>, Context> factors_;  ///< axis by axis: of the modes, of the box
  array<std::complex<T>, Context> mesh_;
  mesh_view<std::complex<T>> whole_;
};

template <typename T>
[[nodiscard]] inline bool uses_box_lines(const box_problem& problem, std::string_view library) {
  return (is_automatic(library) || library == "own") && fits_box_lines<T>(problem);
}

}  // namespace

template <typename T, typename Context>
std::size_t box_transform_bytes(const Context& /*context*/, const box_problem& problem, std::string_view library) {
  std::size_t numbers = 0;
  for (const box_axis& axis : problem.axis) numbers += axis.mode_factors.size() + axis.box_factors.size();
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (uses_box_lines<T>(problem, library)) {
      for (const box_axis& axis : problem.axis) numbers += 2 * static_cast<std::size_t>(axis.size);
      return numbers * sizeof(std::complex<T>);
    }
    numbers += problem.size();  // cuFFT needs the same memory again as work area
  }
  return (numbers + problem.size()) * sizeof(std::complex<T>);
}

template <typename Context, typename T>
std::unique_ptr<box_transform<Context, T>> make_box_transform(const Context& context, const box_problem& problem,
                                                              std::string_view library) {
  for (const box_axis& axis : problem.axis) {
    require(axis.modes() <= axis.box() && axis.box() <= axis.size, "a box of ", axis.box(), " points for ",
            axis.modes(), " modes was asked of a transform of ", axis.size);
  }
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (uses_box_lines<T>(problem, library)) return make_box_lines<T>(context, problem);
  }
  return std::make_unique<whole_box_transform<Context, T>>(context, problem, library);
}

template std::size_t box_transform_bytes<float>(const backend_context&, const box_problem&, std::string_view);
template std::size_t box_transform_bytes<double>(const backend_context&, const box_problem&, std::string_view);
template std::unique_ptr<box_transform<backend_context, float>> make_box_transform(const backend_context&,
                                                                                   const box_problem&,
                                                                                   std::string_view);
template std::unique_ptr<box_transform<backend_context, double>> make_box_transform(const backend_context&,
                                                                                    const box_problem&,
                                                                                    std::string_view);

}  // namespace quadrat::detail
