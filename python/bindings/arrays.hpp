// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interruption.hpp"
#include "worker.hpp"

/// Arrays of any library in, on any device; the same library's arrays out, on the same device.
namespace quadrat::python {

namespace nb = nanobind;

/// The types of elements.
enum class number : std::uint8_t {
  boolean,
  int32,
  int64,
  uint32,
  uint64,
  float32,
  float64,
  complex64,
  complex128,
  other
};

/// Whose arrays. `other`: whatever speaks DLPack.
enum class library : std::uint8_t { numpy, torch, cupy, jax, other };

/// Where the arrays of a call are, and whose they are.
struct origin_of_arrays {
  library owner = library::numpy;
  int device = -1;  ///< of CUDA; -1: CPU memory

  [[nodiscard]] bool on_gpu() const { return device >= 0; }
  /// For work on the arrays. Throws ImportError with pip's command where the CUDA library is not installed.
  [[nodiscard]] place at(int threads, int level = 0) const;
  /// Whether indices are int64 unless something else is asked for: JAX has them only on request.
  [[nodiscard]] bool long_indices() const;
};

/// Of a value; lists and numbers count as NumPy's. Throws TypeError for devices that are not served.
[[nodiscard]] origin_of_arrays origin_of(nb::handle value, const char* name);

[[nodiscard]] std::string_view name_of(number type);
[[nodiscard]] constexpr bool is_wide(number type) { return type == number::float64 || type == number::complex128; }
[[nodiscard]] constexpr bool is_complex(number type) { return type == number::complex64 || type == number::complex128; }
/// The quadrat_type of a real type.
[[nodiscard]] int c_type(number type);
[[nodiscard]] constexpr int index_type(bool long_indices) { return long_indices ? QUADRAT_INT64 : QUADRAT_INT32; }
/// "(10, 3)"
[[nodiscard]] std::string shape_text(const std::vector<std::size_t>& shape);

/// An array as it was given: type and shape are known at once; the memory may be used after `receive`.
class given_array {
 public:
  /// Of the memory of `where`; throws ValueError for another device, naming both, and TypeError for what is no array.
  /// A sequence of numbers becomes an array of NumPy.
  given_array(nb::handle value, const char* name, const origin_of_arrays& where);

  [[nodiscard]] number type() const { return type_; }
  /// Integers of any width, or truth values.
  [[nodiscard]] bool integer() const;
  /// As the library writes it.
  [[nodiscard]] std::string type_text() const;
  [[nodiscard]] const std::vector<std::size_t>& shape() const { return shape_; }
  [[nodiscard]] std::size_t dimension() const { return shape_.size(); }
  [[nodiscard]] std::size_t size() const;
  /// Whether it was a list or a number, whose type is not the caller's choice.
  [[nodiscard]] bool from_numbers() const { return from_numbers_; }
  /// Another view of the same elements.
  void reshape(std::vector<std::size_t> shape) { shape_ = std::move(shape); }
  /// Changes the type, copying if it is another one.
  void convert(number type);
  /// C-ordered memory of the array, and on a GPU the reader waits for whoever writes it.
  void receive(worker& reader);
  /// The same for what the host reads.
  void receive_on_host();
  [[nodiscard]] const void* data() const { return data_; }
  [[nodiscard]] const char* name() const { return name_; }
  [[nodiscard]] quadrat_points points() const { return {data_, shape_[0], 0, 0}; }
  [[nodiscard]] quadrat_integers indices() const { return {data_, size(), c_type(type_)}; }

 private:
  void import_on_cpu();
  void look();
  void import(std::uintptr_t stream);
  void import_tensor();
  [[nodiscard]] bool contiguous() const;
  void make_contiguous();
  [[noreturn]] void refuse() const;

  nb::object value_;
  const char* name_;
  origin_of_arrays where_;
  nb::ndarray<nb::ro> held_;
  number type_ = number::other;
  std::vector<std::size_t> shape_;
  const void* data_ = nullptr;
  bool from_numbers_ = false;
};

/// An array of float32 or float64; lists become float64, or `type`. Throws TypeError for others.
[[nodiscard]] given_array floats(nb::handle value, const char* name, const origin_of_arrays& where,
                                 std::optional<number> type = std::nullopt);
/// An N x D array, D from `least` to 3. No points may have any shape with no element.
[[nodiscard]] given_array points_from(nb::handle value, const origin_of_arrays& where, int least,
                                      const char* name = "points", std::optional<number> type = std::nullopt,
                                      int dimension = 0);
/// Numbers from 0 by point; nothing for None.
[[nodiscard]] std::optional<given_array> indices_from(nb::handle value, const char* name, std::size_t count,
                                                      const origin_of_arrays& where, const char* of = "points");
[[nodiscard]] inline quadrat_integers of(const std::optional<given_array>& given) {
  return given ? given->indices() : quadrat_integers{};
}

/// The largest of the integers; -1 if there are none. Larger unsigned numbers count as the largest int64.
[[nodiscard]] std::int64_t largest_of(given_array& values, const place& where);

/// The small array of a setting, on the host, whatever it was: float64.
struct host_numbers {
  std::vector<double> values;
  std::vector<std::size_t> shape;
};
[[nodiscard]] host_numbers numbers_from(nb::handle value, const char* name);

/// The type of indices that is asked for: None (the library's own), int32 or int64.
[[nodiscard]] std::optional<bool> long_indices_from(nb::handle dtype);

/// New arrays of a library for results.
class results {
 public:
  explicit results(const origin_of_arrays& where) : where_(where) {}
  results(const results&) = delete;
  results& operator=(const results&) = delete;
  /// After an exception, waits for work that may still write.
  ~results();
  /// Adds an array that is not initialized, and returns its memory. The interpreter's lock must be held.
  void* add(number type, const std::vector<std::size_t>& shape);
  /// Makes the worker's stream wait until the memory may be written. To be called after the last `add`. The worker must
  /// outlive this.
  void prepare(worker& writer);
  /// The k-th array, as its library has it.
  [[nodiscard]] nb::object take(std::size_t k);
  [[nodiscard]] std::size_t count() const { return arrays_.size(); }

 private:
  origin_of_arrays where_;
  std::vector<nb::object> arrays_;
  worker* writer_ = nullptr;
  int exceptions_ = std::uncaught_exceptions();
};

/// Seconds that this thread has spent in the library since it was last asked: what a call takes beyond that is ours.
[[nodiscard]] double& work_seconds();

/// Runs a call of the library without the interpreter's lock.
template <typename Call>
auto unlocked(const Call& call) {
  using clock = std::chrono::steady_clock;
  struct stopwatch {
    clock::time_point start = clock::now();
    ~stopwatch() { work_seconds() += std::chrono::duration<double>(clock::now() - start).count(); }
  };
  const nb::gil_scoped_release released;
  const stopwatch running;
  work_begins();
  return call();
}

/// Makes a worker, such as a handle, without the interpreter's lock.
template <typename Worker, typename... Arguments>
[[nodiscard]] std::unique_ptr<Worker> made_at(const place& where, const Arguments&... arguments) {
  return unlocked([&] { return std::make_unique<Worker>(where, arguments...); });
}

/// Holds an object of several threads: waits without the interpreter's lock, and has it afterwards.
class turn {
 public:
  explicit turn(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
    if (lock_.try_lock()) return;
    const nb::gil_scoped_release released;
    lock_.lock();
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace quadrat::python
