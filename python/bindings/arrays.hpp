// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "quadrat/core/context.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/lattice.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/views.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Arrays of Python as the library's views, and the library's results as arrays. The Python part has checked shapes and
/// made arrays contiguous.
namespace quadrat::python {

namespace nb = nanobind;

template <typename T>
using array_in = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
/// N x D.
template <typename T, int D>
using points_in = nb::ndarray<const T, nb::shape<-1, D>, nb::c_contig, nb::device::cpu>;

template <typename T, int D>
[[nodiscard]] points_view<T, D> view_of(const points_in<T, D>& points) {
  return strided_points<D>(points.data(), points.shape(0));
}

/// A C-ordered NumPy array that owns its memory, which is not initialized.
template <typename T>
class new_array {
 public:
  explicit new_array(std::vector<std::size_t> shape) : shape_(std::move(shape)) {
    std::size_t size = 1;
    for (const std::size_t extent : shape_) size *= extent;
    values_.reset(static_cast<T*>(allocate(size * sizeof(T))));
  }
  [[nodiscard]] T* data() { return values_.get(); }
  /// Passes the memory on. The interpreter's lock must be held.
  [[nodiscard]] nb::object release() {
    T* const values = values_.get();
    const nb::capsule owner(values, [](void* memory) noexcept { std::free(memory); });
    values_.release();
    return nb::ndarray<nb::numpy, T>(values, shape_.size(), shape_.data(), owner).cast();
  }

 private:
  struct deallocate {
    void operator()(T* memory) const { std::free(memory); }
  };
  /// Large arrays in large pages, as NumPy's: most of the time for a long list would go into page faults.
  [[nodiscard]] static void* allocate(std::size_t bytes) {
    constexpr std::size_t page = std::size_t{1} << 21;
    const bool large = bytes >= 2 * page;
    void* const memory =
        large ? std::aligned_alloc(page, (bytes + page - 1) / page * page) : std::malloc(bytes > 0 ? bytes : 1);
    if (memory == nullptr) throw std::bad_alloc();
    if (large) madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
  }

  std::vector<std::size_t> shape_;
  std::unique_ptr<T, deallocate> values_;
};

/// result[i] = convert(i) for all i, by the threads of the context.
template <typename T, typename Convert>
[[nodiscard]] new_array<T> fill_array(const cpu_context& context, std::vector<std::size_t> shape, std::size_t size,
                                      const Convert& convert) {
  new_array<T> result(std::move(shape));
  T* const to = result.data();
  for_each(context, "python.fill", size, [=](std::size_t i) { to[i] = convert(i); });
  return result;
}

/// Indices as Python has them; -1 for none.
[[nodiscard]] inline std::int64_t index_of(particle_id id) {
  return id == no_particle ? std::int64_t{-1} : static_cast<std::int64_t>(id);
}

/// Boxes of B systems: vectors (B, D, D), origins (B, D), periodic (B, D).
struct boxes_in {
  nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu> vectors;
  nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> origins;
  nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu> periodic;

  template <typename T, int D>
  [[nodiscard]] std::vector<lattice<T, D>> lattices() const {
    std::vector<lattice<T, D>> result;
    for (std::size_t s = 0; s < vectors.shape(0); ++s) {
      vec<T, D> origin{};
      vec<vec<T, D>, D> sides{};
      vec<bool, D> wraps{};
      for (std::size_t a = 0; a < D; ++a) {
        origin[static_cast<int>(a)] = static_cast<T>(origins(s, a));
        wraps[static_cast<int>(a)] = periodic(s, a);
        for (std::size_t b = 0; b < D; ++b) {
          sides[static_cast<int>(a)][static_cast<int>(b)] = static_cast<T>(vectors(s, a, b));
        }
      }
      result.push_back(make_lattice(origin, sides, wraps));
    }
    return result;
  }
};

/// One index per point, or none.
using systems_in = std::optional<nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>;

[[nodiscard]] inline const std::uint32_t* pointer_of(const systems_in& systems) {
  return systems ? systems->data() : nullptr;
}

/// Throws backend_error in a process that was forked from one that has run threads: they do not exist there.
inline void require_own_threads(int threads) {
  static std::atomic<pid_t> user{0};
  const pid_t self = getpid();
  pid_t first = 0;
  if (user.compare_exchange_strong(first, self) || first == self || threads == 1) return;
  throw backend_error(
      "this process was forked from one that has used quadrat with several threads; start processes with the method "
      "'spawn', or pass threads=1");
}

[[nodiscard]] inline cpu_context context_with(int threads, bool run_to_run = false) {
  require_own_threads(threads);
  cpu_context::options options;
  options.threads = threads;
  if (run_to_run) options.reproducibility = determinism::run_to_run;
  return cpu_context(options);
}

}  // namespace quadrat::python
