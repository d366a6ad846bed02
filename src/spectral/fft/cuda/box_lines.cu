// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/cuda/box_lines.hpp"

#include <complex>

#include "spectral/fft/cuda/lines.hpp"

namespace quadrat::detail {

namespace {

/// The box serves as the mesh on which lines are transformed, in place: after the axes from the last to the first one
/// there are numbers of the box along these, and modes along the others.
template <typename T>
class box_lines final : public box_transform<cuda_context, T> {
 public:
  box_lines(const cuda_context& context, const box_problem& problem) : context_(context) {
    std::vector<fft_number<T>> factors;
    for (int d = 0; d < 3; ++d) {
      const box_axis& axis = problem.axis[d];
      modes_[d] = axis.modes();
      box_[d] = axis.box();
      if (axis.size > 1) lines_[d] = cuda_line<T>(context, axis.size);
      sizes_[d] = axis.size;
      for (const auto* numbers : {&axis.mode_factors, &axis.box_factors}) {
        for (const auto& x : *numbers) factors.push_back({static_cast<T>(x.real()), static_cast<T>(x.imag())});
      }
    }
    factors_ = to_device(context, factors);
  }

  void to_box(const std::complex<T>* modes, std::complex<T>* box, int sign) override {
    for (int axis = 2; axis >= 0; --axis) {
      if (sizes_[axis] == 1) continue;
      line_pass<T> pass = pass_along(axis, sign);
      put_end(pass.from, axis, true, axis == 2 ? const_cast<std::complex<T>*>(modes) : box, axis == 2 ? modes_ : box_);
      put_end(pass.to, axis, false, box, box_);
      run_lines(context_, pass);
    }
  }
  void to_modes(std::complex<T>* box, std::complex<T>* modes, int sign) override {
    for (int axis = 0; axis < 3; ++axis) {
      if (sizes_[axis] == 1) continue;
      line_pass<T> pass = pass_along(axis, -sign);
      put_end(pass.from, axis, false, box, box_);
      put_end(pass.to, axis, true, axis == 2 ? modes : box, axis == 2 ? modes_ : box_);
      run_lines(context_, pass);
    }
  }
  [[nodiscard]] std::size_t bytes() const override {
    return factors_.bytes() + lines_[0].bytes() + lines_[1].bytes() + lines_[2].bytes();
  }

 private:
  /// Lines along the other axes: those after `axis` have the numbers of the box, those before it modes.
  [[nodiscard]] line_pass<T> pass_along(int axis, int sign) const {
    line_pass<T> pass = lines_[axis].pass(sign);
    pass.lines = axis == 2 ? modes_[1] : box_[2];
    pass.groups = axis == 0 ? box_[1] : modes_[0];
    return pass;
  }

  void put_end(line_end<T>& end, int axis, bool of_modes, std::complex<T>* numbers, const int (&extent)[3]) const {
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

  cuda_context context_;
  int modes_[3], box_[3], sizes_[3];
  cuda_line<T> lines_[3];
  array<fft_number<T>, cuda_context> factors_;  ///< axis by axis: of the modes, of the box
};

}  // namespace

template <typename T>
bool fits_box_lines(const box_problem& problem) {
  for (const box_axis& axis : problem.axis) {
    if (axis.size > most_line_size<T> || (axis.size > 1 && axis.size < least_line_size)) return false;
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
