// SPDX-License-Identifier: BSD-3-Clause
#include <omp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "quadrat/core/array.hpp"
#include "spectral/fft/groups.hpp"
#include "spectral/fft/libraries.hpp"

namespace quadrat::detail {

namespace {

/// Transforms one axis after the other, only the lines that hold modes of the bands: with twice as many mesh points as
/// modes in three dimensions, 7/12 of all lines. A single line is transformed as a matrix (the four-step algorithm:
/// Bailey 1990). If there are several meshes that are lines, each is a row.
template <typename T>
class cpu_mode_transform final : public mode_transform<T> {
 public:
  cpu_mode_transform(const cpu_context& context, const transform_shape& shape)
      : context_(context),
        shape_(shape),
        functions_(best_fft_functions<T>()),
        row_(static_cast<std::size_t>(shape.real ? shape.band[2].low : shape.extent[2])),
        one_line_(shape.rows() == 1 && shape.count == 1),
        mesh_apart_(shape.count > 1 ? shape.apart : shape.rows() * static_cast<std::size_t>(shape.extent[2])),
        spectrum_apart_(shape.real ? shape.rows() * row_ : mesh_apart_) {
    if (one_line_) {
      prepare_line(shape.real ? shape.extent[2] / 2 : shape.extent[2]);
    } else {
      prepare_axes();
    }
    int most = 1;
    for (const auto& size : sizes_) {
      if (size) most = std::max(most, size->points);
    }
    room_ = fft_scratch(most, functions_.lanes);
    scratch_ = array<T, cpu_context>(context, room_ * static_cast<std::size_t>(context.threads()));
  }

  [[nodiscard]] std::size_t spectrum_row() const override { return row_; }
  [[nodiscard]] std::size_t spectrum_size() const override {
    return shape_.real ? static_cast<std::size_t>(shape_.count) * spectrum_apart_ : 0;
  }
  [[nodiscard]] std::size_t bytes() const override { return scratch_.bytes() + line_.bytes(); }
  void clear(T* /*mesh*/, std::complex<T>* /*spectrum*/) override {}

  void to_modes(T* mesh, std::complex<T>* spectrum, int sign) override {
    if (to_modes_anywhere(mesh, spectrum, sign) == line_.data()) copy_line(mesh, shape_.extent[2], shape_.band[2]);
  }
  void to_mesh(std::complex<T>* spectrum, T* mesh, int sign) override {
    const int n = shape_.real ? shape_.extent[2] / 2 : shape_.extent[2];
    if (to_mesh_anywhere(spectrum, mesh, sign) == line_.data()) copy_line(mesh, n, all_of(n));
  }

  T* to_modes_anywhere(T* mesh, std::complex<T>* spectrum, int sign) override {
    T* const modes = shape_.real ? reinterpret_cast<T*>(spectrum) : mesh;
    if (one_line_ && shape_.real) {
      const mode_band all = all_of(shape_.extent[2] / 2);
      transform_line(mesh, all, all, sign);
      split_modes(modes);
      return modes;
    }
    if (one_line_) {
      transform_line(mesh, all_of(shape_.extent[2]), shape_.band[2], sign);
      return line_.data();
    }
    rows(true, mesh, modes, all_of(shape_.extent[2]), shape_.band[2], sign);
    columns(1, modes, all_of(shape_.extent[1]), shape_.band[1], sign);
    columns(0, modes, all_of(shape_.extent[0]), shape_.band[0], sign);
    return modes;
  }

  T* to_mesh_anywhere(std::complex<T>* spectrum, T* mesh, int sign) override {
    T* const modes = shape_.real ? reinterpret_cast<T*>(spectrum) : mesh;
    if (one_line_) {
      const int n = shape_.real ? shape_.extent[2] / 2 : shape_.extent[2];
      if (shape_.real) join_modes(modes, mesh);
      transform_line(mesh, shape_.real ? all_of(n) : shape_.band[2], all_of(n), sign);
      return line_.data();
    }
    columns(0, modes, shape_.band[0], all_of(shape_.extent[0]), sign);
    columns(1, modes, shape_.band[1], all_of(shape_.extent[1]), sign);
    rows(false, modes, mesh, shape_.band[2], all_of(shape_.extent[2]), sign);
    return mesh;
  }

 private:
  void prepare_axes() {
    for (int axis = 0; axis < 3; ++axis) {
      if (shape_.extent[axis] > 1) sizes_[axis].emplace(shape_.extent[axis]);
    }
    const int lanes = functions_.lanes, all = lines() ? shape_.count : shape_.extent[0] * shape_.extent[1];
    // A lane transforms two real lines as one complex line, which mixes their rounding errors, so both must belong to
    // one mesh.
    const int most = shape_.real && !lines() ? 2 * lanes : lanes;
    for (int i = 0; i < all; i += most) groups_[2].push_back({static_cast<std::size_t>(i), std::min(most, all - i)});
    const int across = shape_.real ? static_cast<int>(row_) : shape_.extent[2];
    const column_groups columns{shape_.extent[1], shape_.extent[0], shape_.band[1], row_, across, shape_.band[2]};
    for (const int axis : {0, 1}) groups_[axis] = columns.along(axis, lanes);
  }

  void prepare_line(int n) {
    int rows = 1;
    for (int i = 1; static_cast<double>(i) * i <= n; ++i) {
      if (n % i == 0) rows = i;
    }
    sizes_[0].emplace(rows);
    sizes_[1].emplace(n / rows);
    turns_.emplace(n, rows, functions_.lanes);
    line_ = array<T, cpu_context>(context_, 2 * static_cast<std::size_t>(n));
    add_groups(groups_[0], 0, n / rows, all_of(n / rows), functions_.lanes);
    add_groups(groups_[1], 0, rows, all_of(rows), functions_.lanes);
    if (!shape_.real) return;
    halves_.resize(static_cast<std::size_t>(n) + 2);
    const fft_turns<T> roots(2 * n, 1, 1);
    for (int k = 0; k <= n / 2; ++k) roots.root(static_cast<std::size_t>(k), halves_.data() + 2 * k);
  }

  /// Whether the meshes are lines, which are then rows of one mesh.
  [[nodiscard]] bool lines() const { return shape_.rows() == 1; }

  /// Calls body(lines, group, mesh) for each group of each mesh; `lines` already has the thread's scratch
  /// memory.
  template <typename Body>
  void for_each_group(int axis, const fft_lines<T>& common, const Body& body) {
    const std::vector<line_group>& all = groups_[axis];
    const auto groups = static_cast<std::int64_t>(all.size());
    const std::int64_t count = groups * (lines() ? 1 : shape_.count);
#pragma omp parallel for schedule(static) num_threads(context_.threads()) if (count > 1)
    for (std::int64_t i = 0; i < count; ++i) {
      fft_lines<T> work = common;
      const line_group& group = all[static_cast<std::size_t>(i % groups)];
      work.lines = group.lines;
      work.scratch = scratch_.data() + room_ * static_cast<std::size_t>(omp_get_thread_num());
      body(work, group, static_cast<std::size_t>(i / groups));
    }
  }

  /// Lines along axis 0 or 1, in place; one lane per adjacent number.
  void columns(int axis, T* data, const mode_band& in, const mode_band& out, int sign) {
    if (!sizes_[axis]) return;
    fft_lines<T> work{};
    work.size = &*sizes_[axis];
    work.from_step = work.to_step = axis == 0 ? static_cast<std::size_t>(shape_.extent[1]) * row_ : row_;
    work.from_apart = work.to_apart = 1;
    work.in = in;
    work.out = out;
    work.sign = static_cast<T>(sign);
    for_each_group(axis, work, [&](fft_lines<T>& lines, const line_group& group, std::size_t mesh) {
      lines.from = lines.to = data + 2 * (group.first + mesh * spectrum_apart_);
      functions_.transform(lines);
    });
  }

  /// Lines along the last axis.
  void rows(bool forward, const T* from, T* to, const mode_band& in, const mode_band& out, int sign) {
    if (!sizes_[2]) return;
    fft_lines<T> work{};
    work.size = &*sizes_[2];
    work.from_step = work.to_step = 1;
    work.in = in;
    work.out = out;
    work.sign = static_cast<T>(sign);
    const std::size_t n = lines() ? mesh_apart_ : static_cast<std::size_t>(shape_.extent[2]);
    work.from_apart = shape_.real && !forward ? row_ : n;
    work.to_apart = shape_.real && forward ? row_ : n;
    const std::size_t from_mesh = forward ? mesh_apart_ : spectrum_apart_;
    const std::size_t to_mesh = forward ? spectrum_apart_ : mesh_apart_;
    const std::size_t from_parts = shape_.real && forward ? 1 : 2, to_parts = shape_.real && !forward ? 1 : 2;
    for_each_group(2, work, [&](fft_lines<T>& lines, const line_group& group, std::size_t mesh) {
      lines.from = from + from_parts * (work.from_apart * group.first + from_mesh * mesh);
      lines.to = to + to_parts * (work.to_apart * group.first + to_mesh * mesh);
      (!shape_.real ? functions_.transform : forward ? functions_.from_real : functions_.to_real)(lines);
    });
  }

  /// One line of n complex numbers, from `data` through a matrix to line_: column by column in place, then row_ by
  /// row_.
  void transform_line(T* data, const mode_band& in, const mode_band& out, int sign) {
    const int n1 = sizes_[0]->points, n2 = sizes_[1]->points, n = n1 * n2;
    const auto up = [](int a, int b) { return (a + b - 1) / b; };
    mode_band rows_in{up(in.low, n2), up(in.high, n2)}, columns_out{up(out.low, n1), up(out.high, n1)};
    if (rows_in.count() >= n1) {
      rows_in = all_of(n1);
      std::fill(data + 2 * in.low, data + 2 * (n - in.high), T(0));
    } else {
      std::fill(data + 2 * in.low, data + 2 * rows_in.low * n2, T(0));
      std::fill(data + 2 * (n - rows_in.high * n2), data + 2 * (n - in.high), T(0));
    }
    if (columns_out.count() >= n2) columns_out = all_of(n2);
    fft_lines<T> work{};
    work.size = &*sizes_[0];
    work.from_step = work.to_step = static_cast<std::size_t>(n2);
    work.from_apart = work.to_apart = 1;
    work.in = rows_in;
    work.out = all_of(n1);
    work.sign = static_cast<T>(sign);
    work.turns = &*turns_;
    for_each_group(0, work, [&](fft_lines<T>& lines, const line_group& group, std::size_t) {
      lines.from = lines.to = data + 2 * group.first;
      lines.column = group.first;
      functions_.transform(lines);
    });
    work.size = &*sizes_[1];
    work.from_step = 1;
    work.from_apart = static_cast<std::size_t>(n2);
    work.to_step = static_cast<std::size_t>(n1);
    work.in = all_of(n2);
    work.out = columns_out;
    work.turns = nullptr;
    for_each_group(1, work, [&](fft_lines<T>& lines, const line_group& group, std::size_t) {
      lines.from = data + 2 * group.first * static_cast<std::size_t>(n2);
      lines.to = line_.data() + 2 * group.first;
      functions_.transform(lines);
    });
  }

  /// Copies what line_ holds of a band of n numbers.
  void copy_line(T* to, int n, const mode_band& band) const {
    const T* from = line_.data();
    std::copy(from, from + 2 * band.low, to);
    std::copy(from + 2 * (n - band.high), from + 2 * n, to + 2 * (n - band.high));
  }

  /// The modes of a real line from those of its even and odd numbers, taken as real and imaginary parts.
  void split_modes(T* modes) const {
    const std::size_t m = line_.size() / 2;
    for (std::size_t k = 0; k < row_; ++k) {
      const T* a = line_.data() + 2 * (k % m);
      const T* b = line_.data() + 2 * ((m - k % m) % m);
      const T even[2] = {T(0.5) * (a[0] + b[0]), T(0.5) * (a[1] - b[1])};
      const T odd[2] = {T(0.5) * (a[1] + b[1]), T(0.5) * (b[0] - a[0])};
      const auto [re, im] = half_root(k, m);
      modes[2 * k] = even[0] + (odd[0] * re - odd[1] * im);
      modes[2 * k + 1] = even[1] + (odd[0] * im + odd[1] * re);
    }
  }

  /// The reverse: the modes of even and odd numbers, in `data`, from the modes from 0 to row_ - 1.
  void join_modes(const T* modes, T* data) const {
    const std::size_t m = line_.size() / 2;
    for (std::size_t k = 0; k < m; ++k) {
      T a[2] = {T(0), T(0)}, b[2] = {T(0), T(0)};
      if (k < row_) a[0] = modes[2 * k], a[1] = k == 0 ? T(0) : modes[2 * k + 1];
      if (m - k < row_) b[0] = modes[2 * (m - k)], b[1] = k == 0 ? T(0) : -modes[2 * (m - k) + 1];
      const T odd[2] = {a[0] - b[0], a[1] - b[1]};
      const auto [re, im] = half_root(k, m);
      const T turned[2] = {odd[0] * re + odd[1] * im, odd[1] * re - odd[0] * im};
      data[2 * k] = a[0] + b[0] - turned[1];
      data[2 * k + 1] = a[1] + b[1] + turned[0];
    }
  }

  /// exp(-pi i k / m) for k up to m, from the stored first half.
  [[nodiscard]] std::pair<T, T> half_root(std::size_t k, std::size_t m) const {
    if (2 * k <= m) return {halves_[2 * k], halves_[2 * k + 1]};
    return {-halves_[2 * (m - k)], halves_[2 * (m - k) + 1]};
  }

  cpu_context context_;
  transform_shape shape_;
  const fft_functions<T>& functions_;
  std::size_t row_;  ///< complex numbers of the spectrum along the last axis
  bool one_line_;
  std::size_t mesh_apart_;               ///< numbers from one mesh to the next
  std::size_t spectrum_apart_;           ///< complex numbers; of complex meshes that of the meshes
  std::optional<fft_size<T>> sizes_[3];  ///< by axis; of a single line: rows and columns of its matrix
  std::vector<line_group> groups_[3];    ///< likewise
  std::optional<fft_turns<T>> turns_;    ///< of a single line
  std::vector<T> halves_;                ///< of a single real line: exp(-pi i k / m)
  array<T, cpu_context> line_;           ///< a single line, transformed
  array<T, cpu_context> scratch_;
  std::size_t room_ = 0;  ///< of a thread's scratch memory
};

}  // namespace

template <typename T>
std::unique_ptr<mode_transform<T>> make_own_transform(const cpu_context& context, const transform_shape& shape) {
  return std::make_unique<cpu_mode_transform<T>>(context, shape);
}

template std::unique_ptr<mode_transform<float>> make_own_transform(const cpu_context&, const transform_shape&);
template std::unique_ptr<mode_transform<double>> make_own_transform(const cpu_context&, const transform_shape&);

}  // namespace quadrat::detail
