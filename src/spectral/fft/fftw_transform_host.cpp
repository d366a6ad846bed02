// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <mutex>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "spectral/fft/fftw.hpp"
#include "spectral/fft/groups.hpp"

namespace quadrat::detail {

namespace {

/// FFTW can make plans in only one thread at a time.
std::mutex planning;

/// FFTW_UNALIGNED and FFTW_ESTIMATE: for arrays at any address, without timing runs that overwrite them.
constexpr unsigned flags = (1u << 1) | (1u << 6);

/// Plans for lines of n numbers, by number of lines: plans_[lines].
template <typename T>
class line_plans {
 public:
  using plan = typename fftw_functions<T>::plan;

  explicit line_plans(const fftw_functions<T>& library) : library_(&library) {}
  line_plans(const line_plans&) = delete;
  line_plans& operator=(const line_plans&) = delete;
  ~line_plans() {
    const std::lock_guard lock(planning);
    for (const plan one : plans_) {
      if (one != nullptr) library_->destroy(one);
    }
  }

  /// For all groups; make(lines) returns a plan.
  template <typename Make>
  void make(const std::vector<line_group>& groups, const Make& make) {
    const std::lock_guard lock(planning);
    const int threads = library_->set_local_threads != nullptr ? library_->set_local_threads(1) : 0;
    for (const line_group& group : groups) {
      const auto lines = static_cast<std::size_t>(group.lines);
      if (plans_.size() <= lines) plans_.resize(lines + 1, nullptr);
      if (plans_[lines] == nullptr) plans_[lines] = make(group.lines);
      if (plans_[lines] == nullptr) break;
    }
    if (library_->set_local_threads != nullptr) library_->set_local_threads(threads);
    for (const line_group& group : groups) {
      if (plans_[static_cast<std::size_t>(group.lines)] == nullptr) throw backend_error("the FFT library has no plan");
    }
  }
  [[nodiscard]] plan operator[](int lines) const { return plans_[static_cast<std::size_t>(lines)]; }

 private:
  const fftw_functions<T>* library_;
  std::vector<plan> plans_;
};

/// Transforms only lines of the bands, in groups over the context's threads.
template <typename T>
class fftw_mode_transform final : public mode_transform<T> {
 public:
  using complex = typename fftw_functions<T>::complex;

  fftw_mode_transform(const fftw_functions<T>& library, const cpu_context& context, const transform_shape& shape)
      : library_(library),
        context_(context),
        shape_(shape),
        row_(static_cast<std::size_t>(shape.real ? shape.extent[2] / 2 + 1 : shape.extent[2])) {
    make_rows();
    const column_groups columns{shape.extent[1],        shape.extent[0], shape.band[1], row_,
                                static_cast<int>(row_), shape.band[2]};
    for (const int axis : {0, 1}) {
      if (shape.extent[axis] > 1) make_columns(axis, columns.along(axis, columns_at_once));
    }
  }

  [[nodiscard]] std::size_t spectrum_row() const override { return row_; }
  [[nodiscard]] std::size_t spectrum_size() const override { return shape_.real ? rows() * row_ : 0; }
  [[nodiscard]] std::size_t bytes() const override { return 0; }

  void clear(T* mesh, std::complex<T>* spectrum) override {
    fill_bytes(context_, shape_.real ? static_cast<void*>(spectrum) : mesh, 0, rows() * row_ * sizeof(std::complex<T>));
  }

  void to_modes(T* mesh, std::complex<T>* spectrum, int sign) override {
    const complex modes = reinterpret_cast<complex>(shape_.real ? reinterpret_cast<T*>(spectrum) : mesh);
    if (shape_.real) {
      for_each_group(rows_, [&](const line_group& group) {
        const std::size_t first = group.first * static_cast<std::size_t>(shape_.extent[2]);
        library_.execute_from_real(row_plans_[0][group.lines], mesh + first, modes + group.first * row_);
      });
    } else {
      complex_rows(modes, sign);
    }
    columns(1, modes, sign);
    columns(0, modes, sign);
  }

  void to_mesh(std::complex<T>* spectrum, T* mesh, int sign) override {
    const complex modes = reinterpret_cast<complex>(shape_.real ? reinterpret_cast<T*>(spectrum) : mesh);
    columns(0, modes, sign);
    columns(1, modes, sign);
    if (!shape_.real) return complex_rows(modes, sign);
    for_each_group(rows_, [&](const line_group& group) {
      const std::size_t first = group.first * static_cast<std::size_t>(shape_.extent[2]);
      library_.execute_to_real(row_plans_[1][group.lines], modes + group.first * row_, mesh + first);
    });
  }

 private:
  static constexpr int columns_at_once = 16, numbers_at_once = 4096;

  [[nodiscard]] std::size_t rows() const {
    return static_cast<std::size_t>(shape_.extent[0]) * static_cast<std::size_t>(shape_.extent[1]);
  }

  /// Plans are made for dummy addresses, which are never read: one address for both sides if in place.
  void make_rows() {
    const int n = shape_.extent[2], all = static_cast<int>(rows()), most = std::max(1, numbers_at_once / n);
    for (int i = 0; i < all; i += most) rows_.push_back({static_cast<std::size_t>(i), std::min(most, all - i)});
    const auto places = reinterpret_cast<complex>(places_);
    T* const reals = places_ + 32;
    const int row = static_cast<int>(row_);
    for (const int side : {0, 1}) {
      row_plans_[side].make(rows_, [&](int lines) {
        if (!shape_.real) {
          return library_.many(1, &n, lines, places, nullptr, 1, n, places, nullptr, 1, n, 2 * side - 1, flags);
        }
        if (side == 0) {
          return library_.many_from_real(1, &n, lines, reals, nullptr, 1, n, places, nullptr, 1, row, flags);
        }
        return library_.many_to_real(1, &n, lines, places, nullptr, 1, row, reals, nullptr, 1, n, flags);
      });
    }
  }

  void make_columns(int axis, std::vector<line_group> groups) {
    const int n = shape_.extent[axis];
    const int step = (axis == 0 ? shape_.extent[1] : 1) * static_cast<int>(row_);
    const auto places = reinterpret_cast<complex>(places_);
    columns_[axis] = std::move(groups);
    for (const int side : {0, 1}) {
      column_plans_[axis][side].make(columns_[axis], [&](int lines) {
        return library_.many(1, &n, lines, places, nullptr, step, 1, places, nullptr, step, 1, 2 * side - 1, flags);
      });
    }
  }

  template <typename Body>
  void for_each_group(const std::vector<line_group>& groups, const Body& body) {
    const auto count = static_cast<std::int64_t>(groups.size());
#pragma omp parallel for schedule(static) num_threads(context_.threads()) if (count > 1)
    for (std::int64_t i = 0; i < count; ++i) body(groups[static_cast<std::size_t>(i)]);
  }

  void complex_rows(complex data, int sign) {
    for_each_group(rows_, [&](const line_group& group) {
      const complex first = data + group.first * row_;
      library_.execute(row_plans_[sign > 0][group.lines], first, first);
    });
  }
  void columns(int axis, complex data, int sign) {
    for_each_group(columns_[axis], [&](const line_group& group) {
      const complex first = data + group.first;
      library_.execute(column_plans_[axis][sign > 0][group.lines], first, first);
    });
  }

  const fftw_functions<T>& library_;
  cpu_context context_;
  transform_shape shape_;
  std::size_t row_;  ///< complex numbers of the transform along the last axis
  std::vector<line_group> rows_, columns_[2];
  line_plans<T> row_plans_[2] = {line_plans<T>(library_), line_plans<T>(library_)};  ///< by sign; real: by direction
  line_plans<T> column_plans_[2][2] = {{line_plans<T>(library_), line_plans<T>(library_)},
                                       {line_plans<T>(library_), line_plans<T>(library_)}};
  alignas(64) T places_[64] = {};
};

}  // namespace

template <typename T>
std::unique_ptr<mode_transform<T>> make_fftw_transform(const fftw_functions<T>& library, const cpu_context& context,
                                                       const transform_shape& shape) {
  return std::make_unique<fftw_mode_transform<T>>(library, context, shape);
}

template std::unique_ptr<mode_transform<float>> make_fftw_transform(const fftw_functions<float>&, const cpu_context&,
                                                                    const transform_shape&);
template std::unique_ptr<mode_transform<double>> make_fftw_transform(const fftw_functions<double>&, const cpu_context&,
                                                                     const transform_shape&);

}  // namespace quadrat::detail
