// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/cuda/box_lines.hpp"

#include <algorithm>
#include <complex>

#include "core/shared_memory.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/cuda_launch.hpp"
#include "spectral/fft/cuda/box_pass.hpp"

namespace quadrat::detail {

namespace {

constexpr int box_threads = 256;
/// 2 to the power of this many lines are transformed together: 64 adjacent bytes, so that several blocks fit on a
/// multiprocessor, or fewer lines if they would need too much shared memory.
template <typename T>
[[nodiscard]] int box_shift(const cuda_context& context, const line_digits& digits) {
  const std::size_t most_bytes = std::min(std::size_t{100} * 1024, shared_memory_of_block(context));
  const auto bytes = static_cast<std::size_t>(digits.places_of_line()) * sizeof(fft_number<T>);
  int shift = sizeof(T) == 4 ? 3 : 2;
  while (shift > 0 && (bytes << shift) > most_bytes) --shift;
  return shift;
}

/// Block x: lines of a group. Block y: group; loops over groups if there are too many.
template <bool Strided, typename T>
__global__ void __launch_bounds__(box_threads, 4) box_kernel(const __grid_constant__ box_pass<T> pass) {
  extern __shared__ __align__(16) unsigned char box_memory[];
  for (int group = static_cast<int>(blockIdx.y); group < pass.groups; group += static_cast<int>(gridDim.y)) {
    const box_block<T> block{pass, reinterpret_cast<fft_number<T>*>(box_memory), group,
                             static_cast<int>(blockIdx.x) << pass.shift};
    for (int p = 0; p < pass.digits.passes; ++p) {
      __syncthreads();
      run_box_pass<Strided>(block, p, static_cast<int>(threadIdx.x), box_threads);
    }
  }
}

template <bool Strided, typename T>
void launch_box(const cuda_context& context, const box_pass<T>& pass) {
  if (pass.lines == 0 || pass.groups == 0) return;
  const cuda_launch launch(context, "spectral.box_lines");
  const std::size_t bytes = pass.memory() * sizeof(fft_number<T>);
  cudaFuncSetAttribute(box_kernel<Strided, T>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  constexpr int most_groups = 65535;
  const dim3 blocks(static_cast<unsigned>(pass.blocks_of_group()),
                    static_cast<unsigned>(pass.groups < most_groups ? pass.groups : most_groups));
  box_kernel<Strided, T><<<blocks, box_threads, bytes, context.stream()>>>(pass);
  launch.check();
}

/// The tables for passes over lines of one size, on the device.
template <typename T>
struct box_line {
  box_line() = default;
  box_line(const cuda_context& context, int size)
      : plan(plan_line(size)), places(to_device(context, plan.places)), roots(to_device(context, line_roots<T>(size))) {
    plan.digits.places = places.data();
  }
  [[nodiscard]] std::size_t bytes() const { return places.bytes() + roots.bytes(); }

  line_plan plan;
  array<std::uint16_t, cuda_context> places;
  array<fft_number<T>, cuda_context> roots;
};

/// Lines are transformed in place in the box. Axes already transformed, from the last to the first, hold numbers of the
/// box; the others hold modes.
template <typename T>
class box_lines final : public box_transform<cuda_context, T> {
 public:
  box_lines(const cuda_context& context, const box_problem& problem) : context_(context) {
    std::vector<fft_number<T>> factors;
    for (int d = 0; d < 3; ++d) {
      const box_axis& axis = problem.axis[d];
      modes_[d] = axis.modes();
      box_[d] = axis.box();
      if (axis.size > 1) lines_[d] = box_line<T>(context, axis.size);
      sizes_[d] = axis.size;
      for (const auto* numbers : {&axis.mode_factors, &axis.box_factors}) {
        for (const auto& x : *numbers) factors.push_back({static_cast<T>(x.real()), static_cast<T>(x.imag())});
      }
    }
    factors_ = to_device(context, factors);
  }

  void to_box(const mesh_view<const std::complex<T>>& modes, const mesh_view<std::complex<T>>& box, int sign) override {
    require_sizes(modes, box);
    for (int axis = 2; axis >= 0; --axis) {
      if (sizes_[axis] == 1) continue;
      box_pass<T> pass = pass_along(axis, sign);
      put_end(pass.from, axis, true, axis == 2 ? const_cast<std::complex<T>*>(modes.numbers) : box.numbers,
              axis == 2 ? modes_ : box_);
      put_end(pass.to, axis, false, box.numbers, box_);
      run(axis, pass);
    }
  }
  void to_modes(const mesh_view<std::complex<T>>& box, const mesh_view<std::complex<T>>& modes, int sign) override {
    require_sizes(modes, box);
    for (int axis = 0; axis < 3; ++axis) {
      if (sizes_[axis] == 1) continue;
      box_pass<T> pass = pass_along(axis, -sign);
      put_end(pass.from, axis, false, box.numbers, box_);
      put_end(pass.to, axis, true, axis == 2 ? modes.numbers : box.numbers, axis == 2 ? modes_ : box_);
      run(axis, pass);
    }
  }
  [[nodiscard]] std::size_t bytes() const override {
    return factors_.bytes() + lines_[0].bytes() + lines_[1].bytes() + lines_[2].bytes();
  }

 private:
  template <typename Modes>
  void require_sizes(const mesh_view<Modes>& modes, const mesh_view<std::complex<T>>& box) const {
    std::size_t of_modes = 1, of_box = 1;
    for (int axis = 0; axis < 3; ++axis) {
      of_modes *= static_cast<std::size_t>(modes_[axis]);
      of_box *= static_cast<std::size_t>(box_[axis]);
    }
    require_whole(modes, of_modes);
    require_whole(box, of_box);
  }

  /// Lines along the other axes: those after `axis` have the numbers of the box, those before it modes.
  [[nodiscard]] box_pass<T> pass_along(int axis, int sign) const {
    box_pass<T> pass{};
    pass.digits = lines_[axis].plan.digits;
    pass.roots = lines_[axis].roots.data();
    pass.sign = static_cast<T>(sign);
    pass.shift = box_shift<T>(context_, pass.digits);
    pass.lines = axis == 2 ? modes_[1] : box_[2];
    pass.groups = axis == 0 ? box_[1] : modes_[0];
    return pass;
  }

  void put_end(box_end<T>& end, int axis, bool of_modes, std::complex<T>* numbers, const int (&extent)[3]) const {
    const std::size_t row = static_cast<std::size_t>(extent[2]), plane = static_cast<std::size_t>(extent[1]) * row;
    const std::size_t step[3] = {plane, row, 1};
    const int lines = axis == 2 ? 1 : 2, groups = axis == 0 ? 1 : 0;
    end.numbers = reinterpret_cast<fft_number<T>*>(numbers);
    end.factors = factors_.data() + (of_modes ? 0 : modes_[axis]);
    for (int d = 0; d < axis; ++d) end.factors += modes_[d] + box_[d];
    end.count = of_modes ? modes_[axis] : box_[axis];
    end.step = static_cast<std::uint32_t>(step[axis]);
    end.line_step = step[lines];
    end.group_step = step[groups];
  }

  void run(int axis, const box_pass<T>& pass) {
    (axis < 2 ? launch_box<true, T> : launch_box<false, T>)(context_, pass);
  }

  cuda_context context_;
  int modes_[3], box_[3], sizes_[3];
  box_line<T> lines_[3];
  array<fft_number<T>, cuda_context> factors_;  ///< axis by axis: of the modes, of the box
};

}  // namespace

template <typename T>
bool fits_box_lines(const box_problem& problem) {
  for (const box_axis& axis : problem.axis) {
    // 16 numbers or fewer might need only one pass.
    if (axis.size > 1 && (axis.size <= 16 || axis.size > most_line_size<T> || !has_line_plan(axis.size))) return false;
  }
  return problem.axis[1].size > 1;
}

template <typename T>
std::unique_ptr<box_transform<cuda_context, T>> make_box_lines(const cuda_context& context,
                                                               const box_problem& problem) {
  return std::make_unique<box_lines<T>>(context, problem);
}

template bool fits_box_lines<float>(const box_problem&);
template bool fits_box_lines<double>(const box_problem&);
template std::unique_ptr<box_transform<cuda_context, float>> make_box_lines(const cuda_context&, const box_problem&);
template std::unique_ptr<box_transform<cuda_context, double>> make_box_lines(const cuda_context&, const box_problem&);

}  // namespace quadrat::detail
