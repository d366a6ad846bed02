// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "functions.hpp"

/// Handles of the C interface. Each has a context that no other uses at the time.
namespace quadrat::python {

/// The library, device, threads and level of determinism of work.
struct place {
  const c_functions* library = &cpu_functions();
  int device = -1;  ///< of CUDA; -1: the CPU
  int threads = 0;  ///< of the CPU; 0: all
  int level = 0;    ///< quadrat_determinism

  friend bool operator==(const place&, const place&) = default;
};

/// A context from a pool, returned at the end. Making one takes longer than many calls, because of its stream.
class lent_context {
 public:
  explicit lent_context(const place& where);
  lent_context(const lent_context&) = delete;
  lent_context& operator=(const lent_context&) = delete;
  ~lent_context();
  operator quadrat_context*() const { return context_; }  // NOLINT(google-explicit-constructor): where it is passed on

 private:
  place where_;
  quadrat_context* context_;
};

/// The base of objects that work on a device. Calls need no interpreter lock, and throw what `check` throws. They wait,
/// except those whose name ends with _async.
class worker {
 public:
  /// `can_be_captured`: all calls are `_async` ones that end with `finish`, where `captured`.
  explicit worker(const place& where, bool can_be_captured = false);
  /// The stream that work runs on, as an integer; 0 on CPUs.
  [[nodiscard]] std::uintptr_t stream() const;
  void synchronize() { on_context(&c_functions::context_synchronize); }
  /// Later calls wait for the work that another stream of the device has now. Does nothing on CPUs. If
  /// that stream is being captured in a graph, the work becomes part of it; throws argument_error if it cannot.
  void wait_for(std::uintptr_t other);
  /// Whether the current call is captured in a graph.
  [[nodiscard]] bool captured() const { return captured_by_ != nullptr; }
  /// Throws argument_error, as for a call that waits, if the current call is captured.
  void refuse_capture() const;
  /// Ends calls that do not wait: waits for the work, or makes the capturing stream wait for it.
  void finish();

  /// Calls a function with the context and these arguments.
  template <typename Function, typename... Arguments>
  void on_context(Function c_functions::*function, const Arguments&... arguments) {
    begin();
    check(library(), (library().*function)(context_, arguments...));
  }

 protected:
  /// Throws backend_error in a process that was forked from one with threads. Waits for the other stream, once.
  void begin();
  [[nodiscard]] const c_functions& library() const { return *where_.library; }

 private:
  place where_;
  bool can_be_captured_;
  int threads_ = 1;  ///< of the CPU, or of a GPU's host
  lent_context context_;
  std::optional<void*> awaited_;
  void* captured_by_ = nullptr;
};

/// Memory of a device. The destructor waits for the work of the device, which may still use it.
class device_memory {
 public:
  device_memory(const place& where, std::size_t bytes);
  device_memory(const device_memory&) = delete;
  device_memory& operator=(const device_memory&) = delete;
  ~device_memory();
  [[nodiscard]] void* get() const { return memory_; }

 private:
  place where_;
  void* memory_ = nullptr;
};

/// A worker that owns a handle. `Create` and `Destroy` are the functions that make and destroy it.
template <auto Create, auto Destroy, bool CanBeCaptured = false>
class handle : public worker {
  template <typename Handle>
  static Handle* handle_of(void (*c_functions::*destroy)(Handle*));
  using pointer = decltype(handle_of(Destroy));

 public:
  template <typename... Arguments>
  explicit handle(const place& where, const Arguments&... arguments) : worker(where, CanBeCaptured) {
    on_context(Create, arguments..., &handle_);
  }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() { (library().*Destroy)(handle_); }

  /// Calls a function with the handle and these arguments.
  template <typename Function, typename... Arguments>
  void call(Function c_functions::*function, const Arguments&... arguments) {
    begin();
    check(library(), (library().*function)(handle_, arguments...));
  }
  /// The struct, such as a view or a report, that a function writes.
  template <typename Struct>
  [[nodiscard]] Struct get(int (*c_functions::*function)(std::remove_pointer_t<pointer>*, Struct*)) {
    Struct result{};
    result.size = sizeof(result);
    call(function, &result);
    return result;
  }

 private:
  pointer handle_ = nullptr;
};

/// A struct of the C interface with its size set, and zeros.
template <typename Struct>
[[nodiscard]] Struct sized() {
  Struct result{};
  result.size = sizeof(result);
  return result;
}

/// Writes a 0 as -0.0, for fields where 0 stands for another default.
[[nodiscard]] constexpr double meant(double value) { return value == 0 ? -0.0 : value; }

using neighbor_list_handle = handle<&c_functions::neighbor_list_create, &c_functions::neighbor_list_destroy, true>;
using nearest_handle = handle<&c_functions::nearest_neighbors_create, &c_functions::nearest_neighbors_destroy>;
using cluster_handle = handle<&c_functions::cluster_finder_create, &c_functions::cluster_finder_destroy>;
using histogram_handle = handle<&c_functions::pair_histogram_create, &c_functions::pair_histogram_destroy>;
using counts_handle = handle<&c_functions::pair_counts_create, &c_functions::pair_counts_destroy>;
using spectrum_handle = handle<&c_functions::power_spectrum_create, &c_functions::power_spectrum_destroy>;
using contact_handle = handle<&c_functions::contact_detector_create, &c_functions::contact_detector_destroy>;
using cell_list_handle = handle<&c_functions::cell_list_create, &c_functions::cell_list_destroy>;
using spread_handle = handle<&c_functions::spread_plan_create, &c_functions::spread_plan_destroy, true>;
using nufft_handle = handle<&c_functions::nufft_plan_create, &c_functions::nufft_plan_destroy, true>;
using normal_handle = handle<&c_functions::normal_operator_create, &c_functions::normal_operator_destroy>;
using target_handle = handle<&c_functions::nufft_target_plan_create, &c_functions::nufft_target_plan_destroy>;
using ewald_handle = handle<&c_functions::electrostatics_create, &c_functions::electrostatics_destroy>;
using mobility_handle = handle<&c_functions::mobility_create, &c_functions::mobility_destroy>;
using key_handle = handle<&c_functions::key_reducer_create, &c_functions::key_reducer_destroy>;
using choice_handle = handle<&c_functions::choice_create, &c_functions::choice_destroy>;

/// Gives new points to a plan.
template <typename Plan, typename Function, typename Twin, typename... Arguments>
void set_points(Plan& plan, Function c_functions::*waits, Twin c_functions::*async, const Arguments&... arguments) {
  if (!plan.captured()) return plan.call(waits, arguments...);
  plan.call(async, arguments...);
  plan.finish();
}

}  // namespace quadrat::python
