// SPDX-License-Identifier: BSD-3-Clause
// Handlers of XLA's foreign function interface, which JAX calls from compiled functions; quadrat/_jax/operators.py
// declares them. Arrays may have any number of leading axes (vmap): each entry of them is a call of its own. The same
// handlers serve CPUs and GPUs, by the backend of the device. Compiled with JAX's headers where the build has found
// them.
#include <nanobind/nanobind.h>

#include "modules.hpp"

#ifdef QUADRAT_JAX_FFI

#include <dlfcn.h>
#include <xla/ffi/api/ffi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "quadrat/core/error.hpp"
#include "worker.hpp"

namespace quadrat::python {

namespace {

namespace nb = nanobind;
namespace ffi = xla::ffi;
using numbers_in = ffi::Span<const std::int64_t>;
using array_in = ffi::AnyBuffer;
using array_out = ffi::Result<ffi::AnyBuffer>;

/// A function of CUDA's driver, which JAX has loaded where there is a GPU.
template <typename Function>
[[nodiscard]] Function driver_function(const char* name) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* const found = driver != nullptr ? dlsym(driver, name) : nullptr;
  if (found == nullptr) throw backend_error(std::string("CUDA's driver has no function ") + name);
  return reinterpret_cast<Function>(found);
}

/// Where a call works, and the stream of XLA's that its arrays belong to.
struct site {
  int device = -1;  ///< -1: the CPU
  void* stream = nullptr;

  [[nodiscard]] place with(std::int64_t threads) const {
    const auto number = static_cast<int>(threads);
    if (device < 0) return {.threads = number};
    const nb::gil_scoped_acquire locked;
    return {&cuda_functions(), device, number};
  }
  /// Waits for what writes the arrays of a call.
  void wait() const {
    if (device < 0) return;
    static const auto synchronize = driver_function<int (*)(void*)>("cuStreamSynchronize");
    if (synchronize(stream) != 0) throw backend_error("earlier work of JAX on this GPU has failed");
  }
  /// `values` from the device.
  template <typename T>
  [[nodiscard]] std::vector<T> to_host(const void* from, std::size_t count) const {
    std::vector<T> result(count);
    if (device < 0) {
      std::memcpy(result.data(), from, count * sizeof(T));
    } else {
      worker(with(1)).on_context(&c_functions::copy, from, result.data(), count * sizeof(T));
    }
    return result;
  }
  template <typename T>
  void to_device(const std::vector<T>& from, void* to) const {
    const std::size_t bytes = from.size() * sizeof(T);
    if (device < 0) {
      std::memcpy(to, from.data(), bytes);
      return;
    }
    using copy = int (*)(std::uintptr_t, const void*, std::size_t);
    static const auto upload = driver_function<copy>("cuMemcpyHtoD_v2");
    if (upload(reinterpret_cast<std::uintptr_t>(to), from.data(), bytes) != 0) {
      throw backend_error("a result cannot be copied to the GPU");
    }
  }
};

/// The library's errors as XLA's: JAX raises them with the same words.
template <typename Call>
[[nodiscard]] ffi::Error guarded(const site& where, const Call& call) {
  try {
    where.wait();
    call();
    return ffi::Error::Success();
  } catch (const std::bad_alloc& e) {
    return {ffi::ErrorCode::kResourceExhausted, e.what()};
  } catch (const std::exception& e) {
    return {ffi::ErrorCode::kInvalidArgument, e.what()};
  }
}

/// The quadrat_type of points.
[[nodiscard]] int type_of(const array_in& points) {
  switch (points.element_type()) {
    case ffi::DataType::F32:
      return QUADRAT_FLOAT32;
    case ffi::DataType::F64:
      return QUADRAT_FLOAT64;
    default:
      throw argument_error("points are neither of float32 nor of float64");
  }
}

/// One array out of a batch: `own` last axes belong to each.
template <typename Array>
struct part_of {
  Array* array;
  std::size_t own;

  [[nodiscard]] std::int64_t extent(std::size_t axis) const {
    const auto shape = array->dimensions();
    return shape[shape.size() - own + axis];
  }
  [[nodiscard]] int count(std::size_t axis) const { return static_cast<int>(extent(axis)); }
  [[nodiscard]] std::size_t size() const {
    std::size_t result = 1;
    for (std::size_t axis = 0; axis < own; ++axis) result *= static_cast<std::size_t>(extent(axis));
    return result;
  }
  [[nodiscard]] std::size_t batch() const {
    const auto shape = array->dimensions();
    std::size_t result = 1;
    for (std::size_t axis = 0; axis + own < shape.size(); ++axis) result *= static_cast<std::size_t>(shape[axis]);
    return result;
  }
  [[nodiscard]] void* at(std::size_t entry) const {
    return static_cast<char*>(array->untyped_data()) + entry * size() * ffi::ByteWidth(array->element_type());
  }
  /// Of points (N, D).
  [[nodiscard]] quadrat_points points(std::size_t entry) const {
    return {at(entry), static_cast<std::size_t>(extent(0)), 0, 0};
  }
};

[[nodiscard]] part_of<array_in> part(array_in& array, std::size_t own) { return {&array, own}; }
[[nodiscard]] part_of<array_in> part(array_out& array, std::size_t own) { return {&*array, own}; }

/// What no call is using, with what it was made for: making it can take longer than using it.
template <typename Key, typename Worker>
class spare_workers {
 public:
  template <typename Make>
  [[nodiscard]] std::unique_ptr<Worker> take(const Key& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one.first == key; });
      if (found != kept_.end()) {
        std::unique_ptr<Worker> result = std::move(found->second);
        kept_.erase(found);
        return result;
      }
    }
    return make();
  }
  void give_back(const Key& key, std::unique_ptr<Worker> worker) {
    constexpr std::size_t most = 4;
    const std::lock_guard lock(mutex_);
    if (kept_.size() == most) kept_.erase(kept_.begin());
    kept_.emplace_back(key, std::move(worker));
  }
  /// Never destroyed: calls may come from threads that outlive static objects.
  static spare_workers& shared() {
    static auto* const result = new spare_workers();
    return *result;
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<Key, std::unique_ptr<Worker>>> kept_;
};

[[nodiscard]] std::vector<int> as_ints(numbers_in numbers) { return {numbers.begin(), numbers.end()}; }
/// The first three numbers, for a struct of the C interface.
void copy_to(int (&to)[3], numbers_in numbers) {
  std::copy_n(numbers.begin(), std::min<std::size_t>(numbers.size(), 3), to);
}

enum class mesh_operation : std::int64_t { spread, interpolate, gradient };

/// points (N, D) as fractions of a unit box. spread: values (V, N) to meshes (V, K...); interpolate: meshes to values;
/// gradient: meshes to (V, N, D).
ffi::Error run_mesh(const site& where, array_in points, array_in input, array_out output, numbers_in mesh,
                    numbers_in periodic, std::int64_t order, std::int64_t operation, std::int64_t threads) {
  return guarded(where, [&] {
    const auto which = static_cast<mesh_operation>(operation);
    const std::size_t dimension = mesh.size();
    auto options = sized<quadrat_spread_options>();
    options.type = type_of(points);
    options.dimension = static_cast<int>(dimension);
    options.domain.length[0] = options.domain.length[1] = options.domain.length[2] = 1;
    copy_to(options.domain.periodic, periodic);
    copy_to(options.mesh, mesh);
    options.order = static_cast<int>(order);
    const auto at = part(points, 2);
    const auto from = part(input, which == mesh_operation::spread ? 2 : 1 + dimension);
    const auto to = part(output, which == mesh_operation::spread     ? 1 + dimension
                                 : which == mesh_operation::gradient ? 3
                                                                     : 2);
    auto call = sized<quadrat_mesh_call>();
    call.vectors = from.count(0);
    call.complex_values = input.element_type() == ffi::DataType::C64 || input.element_type() == ffi::DataType::C128;
    spread_handle plan(where.with(threads), &options);
    const auto function = which == mesh_operation::spread        ? &c_functions::spread_plan_spread_async
                          : which == mesh_operation::interpolate ? &c_functions::spread_plan_interpolate_async
                                                                 : &c_functions::spread_plan_interpolate_gradient_async;
    for (std::size_t entry = 0; entry < at.batch(); ++entry) {
      const quadrat_points given = at.points(entry);
      plan.call(&c_functions::spread_plan_set_points, &given);
      plan.call(function, static_cast<const void*>(from.at(entry)), to.at(entry), &call);
      plan.finish();
    }
  });
}

/// points (N, D) as angles. Type 1: values (V, N) to modes (V, K...); type 2: modes to values. Complex.
ffi::Error run_transform(const site& where, array_in points, array_in input, array_out output, numbers_in modes,
                         double tolerance, std::int64_t type, std::int64_t sign, std::int64_t centered,
                         std::int64_t threads) {
  return guarded(where, [&] {
    using key_type = std::tuple<int, int, std::vector<int>, double, std::int64_t, std::int64_t>;
    const key_type key(where.device, type_of(points), as_ints(modes), tolerance, centered, threads);
    auto& spare = spare_workers<key_type, nufft_handle>::shared();
    auto plan = spare.take(key, [&] {
      auto options = sized<quadrat_nufft_options>();
      options.type = type_of(points);
      options.dimension = static_cast<int>(modes.size());
      copy_to(options.modes, modes);
      options.tolerance = tolerance;
      options.fft_order = centered != 0 ? 0 : 1;
      return std::make_unique<nufft_handle>(where.with(threads), &options);
    });
    const auto at = part(points, 2);
    const auto from = part(input, type == 1 ? 2 : 1 + modes.size());
    const auto to = part(output, type == 1 ? 1 + modes.size() : 2);
    const auto function = type == 1 ? &c_functions::nufft_plan_type_1_async : &c_functions::nufft_plan_type_2_async;
    const quadrat_nufft_call call{sizeof(call), from.count(0), static_cast<int>(sign)};
    for (std::size_t entry = 0; entry < at.batch(); ++entry) {
      const quadrat_points given = at.points(entry);
      plan->call(&c_functions::nufft_plan_set_points, &given, nullptr);
      plan->call(function, static_cast<const void*>(from.at(entry)), to.at(entry), &call);
      plan->finish();
    }
    spare.give_back(key, std::move(plan));
  });
}

/// points (N, D), values (V, N), targets (M, D): results (V, M).
ffi::Error run_type_3(const site& where, array_in points, array_in values, array_in targets, array_out results,
                      double tolerance, std::int64_t sign, std::int64_t threads) {
  return guarded(where, [&] {
    const auto at = part(points, 2), from = part(values, 2), of = part(targets, 2), to = part(results, 2);
    auto options = sized<quadrat_nufft_target_options>();
    options.type = type_of(points);
    options.dimension = at.count(1);
    options.tolerance = tolerance;
    target_handle plan(where.with(threads), &options);
    const quadrat_nufft_call call{sizeof(call), from.count(0), static_cast<int>(sign)};
    for (std::size_t entry = 0; entry < at.batch(); ++entry) {
      const quadrat_points given = at.points(entry), frequencies = of.points(entry);
      plan.call(&c_functions::nufft_target_plan_set_points, &given, &frequencies);
      plan.call(&c_functions::nufft_target_plan_type_3, from.at(entry), to.at(entry), &call);
    }
  });
}

/// The box of an entry, from vectors (D, D) in the precision of the points.
struct box_of_entry {
  std::vector<double> vectors;
  std::vector<int> periodic;
  [[nodiscard]] quadrat_boxes view() const { return {vectors.data(), nullptr, periodic.data(), 1}; }
};
[[nodiscard]] box_of_entry box_at(const site& where, const part_of<array_in>& vectors, std::size_t entry, int type,
                                  numbers_in periodic) {
  box_of_entry result{{}, as_ints(periodic)};
  if (type == QUADRAT_FLOAT64) {
    result.vectors = where.to_host<double>(vectors.at(entry), vectors.size());
  } else {
    const std::vector<float> narrow = where.to_host<float>(vectors.at(entry), vectors.size());
    result.vectors.assign(narrow.begin(), narrow.end());
  }
  return result;
}

/// points (N, D), box vectors (D, D): i and j (P,), shifts (P, D), of which the first `count` () are written. A count
/// above the capacity P is an error; without `strict` it is a result, and nothing else is written.
ffi::Error run_pairs(const site& where, array_in points, array_in vectors, array_out first, array_out second,
                     array_out shifts, array_out count, numbers_in periodic, double cutoff, std::int64_t half,
                     std::int64_t sorted, std::int64_t strict, std::int64_t threads) {
  return guarded(where, [&] {
    auto options = sized<quadrat_neighbor_options>();
    options.type = type_of(points);
    options.cutoff = cutoff;
    options.half = half != 0 ? 1 : 0;
    options.sorted = sorted != 0 ? 1 : 0;
    options.outputs = QUADRAT_NEIGHBOR_FIRST | QUADRAT_NEIGHBOR_SHIFTS;
    options.accept_outside = std::find(periodic.begin(), periodic.end(), 0) != periodic.end() ? 1 : 0;
    const auto at = part(points, 2), boxes = part(vectors, 2);
    const auto i = part(first, 1), j = part(second, 1), moved = part(shifts, 2), total = part(count, 0);
    options.dimension = at.count(1);
    neighbor_list_handle search(where.with(threads), &options);
    for (std::size_t entry = 0; entry < at.batch(); ++entry) {
      const box_of_entry box = box_at(where, boxes, entry, options.type, periodic);
      auto given = sized<quadrat_neighbor_input>();
      given.points = at.points(entry);
      given.boxes = box.view();
      search.call(&c_functions::neighbor_list_build, &given);
      const auto found = static_cast<std::size_t>(search.get(&c_functions::neighbor_list_view).entries);
      const bool fits = found <= static_cast<std::size_t>(i.extent(0));
      if (found > std::numeric_limits<std::int32_t>::max() || (strict != 0 && !fits)) {
        const std::string there = "there are " + std::to_string(found) + " pairs; ";
        throw overflow_error(there + "the capacity is " + std::to_string(i.extent(0)), found);
      }
      where.to_device(std::vector{static_cast<std::int32_t>(found)}, total.at(entry));
      if (!fits) continue;
      const auto write = [&](int array, void* to) {
        search.call(&c_functions::neighbor_list_write_async, array, int{QUADRAT_INT32}, to);
      };
      write(QUADRAT_NEIGHBOR_FIRST, i.at(entry));
      write(QUADRAT_NEIGHBOR_INDICES, j.at(entry));
      write(QUADRAT_NEIGHBOR_SHIFTS, moved.at(entry));
      search.synchronize();
    }
  });
}

/// Converts doubles of the library to an array of the points' precision.
void deliver(const site& where, int type, const void* from, std::size_t count, void* to) {
  const std::vector<double> values = where.to_host<double>(from, count);
  if (type == QUADRAT_FLOAT64) return where.to_device(values, to);
  std::vector<float> narrow;
  for (const double value : values) narrow.push_back(static_cast<float>(value));
  where.to_device(narrow, to);
}

/// points (N, 3), charges (N,), cell (3, 3): the energy (), forces (N, 3), potentials (N,), virial (3, 3).
ffi::Error run_charges(const site& where, array_in points, array_in charges, array_in cells, array_out energy,
                       array_out forces, array_out potentials, array_out virial, numbers_in periodic, double accuracy,
                       double constant, std::int64_t dispersion, std::string_view method, std::int64_t threads) {
  return guarded(where, [&] {
    using key_type = std::tuple<int, int, double, double, std::int64_t, std::string, std::int64_t>;
    const int type = type_of(points);
    const key_type key(where.device, type, accuracy, constant, dispersion, method, threads);
    auto& spare = spare_workers<key_type, ewald_handle>::shared();
    auto sums = spare.take(key, [&] {
      auto options = sized<quadrat_ewald_options>();
      options.type = type;
      options.law = dispersion != 0 ? QUADRAT_DISPERSION : QUADRAT_COULOMB;
      const std::string name(method);
      options.method = name.c_str();
      options.accuracy = meant(accuracy);
      options.coulomb_constant = meant(constant);
      return std::make_unique<ewald_handle>(where.with(threads), &options);
    });
    constexpr std::size_t doubles = 10;  // the energy, the virial
    const device_memory sum(where.with(threads), doubles * sizeof(double));
    double* const strain = static_cast<double*>(sum.get()) + 1;
    const auto at = part(points, 2), with = part(charges, 1), boxes = part(cells, 2);
    const auto total = part(energy, 0), pull = part(forces, 2), potential = part(potentials, 1),
               stress = part(virial, 2);
    for (std::size_t entry = 0; entry < at.batch(); ++entry) {
      const box_of_entry cell = box_at(where, boxes, entry, type, periodic);
      auto given = sized<quadrat_ewald_input>();
      given.points = at.points(entry);
      given.charges = with.at(entry);
      given.cells = cell.view();
      auto results = sized<quadrat_ewald_output>();
      results.energy = strain - 1;
      results.forces = pull.at(entry);
      results.potentials = potential.at(entry);
      results.virial = strain;
      sums->call(&c_functions::electrostatics_compute, &given, &results);
      deliver(where, type, results.energy, 1, total.at(entry));
      deliver(where, type, strain, 9, stress.at(entry));
    }
    spare.give_back(key, std::move(sums));
  });
}

/// Handlers of one function for CPUs and for CUDA.
template <auto Run>
constexpr auto on_cpu = [](auto... given) { return Run(site{}, given...); };
template <auto Run>
constexpr auto on_gpu = [](void* stream, std::int32_t device, auto... given) {
  return Run(site{device, stream}, given...);
};

[[nodiscard]] auto for_cpu() { return ffi::Ffi::Bind(); }
[[nodiscard]] auto for_gpu() { return ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void*>>().Ctx<ffi::DeviceOrdinal>(); }

template <typename Binding>
[[nodiscard]] auto bind_mesh(Binding&& start) {
  return std::forward<Binding>(start)
      .template Arg<array_in>()
      .template Arg<array_in>()
      .template Ret<array_in>()
      .template Attr<numbers_in>("mesh")
      .template Attr<numbers_in>("periodic")
      .template Attr<std::int64_t>("order")
      .template Attr<std::int64_t>("operation")
      .template Attr<std::int64_t>("threads");
}
template <typename Binding>
[[nodiscard]] auto bind_transform(Binding&& start) {
  return std::forward<Binding>(start)
      .template Arg<array_in>()
      .template Arg<array_in>()
      .template Ret<array_in>()
      .template Attr<numbers_in>("modes")
      .template Attr<double>("tolerance")
      .template Attr<std::int64_t>("type")
      .template Attr<std::int64_t>("sign")
      .template Attr<std::int64_t>("centered")
      .template Attr<std::int64_t>("threads");
}
template <typename Binding>
[[nodiscard]] auto bind_type_3(Binding&& start) {
  return std::forward<Binding>(start)
      .template Arg<array_in>()
      .template Arg<array_in>()
      .template Arg<array_in>()
      .template Ret<array_in>()
      .template Attr<double>("tolerance")
      .template Attr<std::int64_t>("sign")
      .template Attr<std::int64_t>("threads");
}
template <typename Binding>
[[nodiscard]] auto bind_pairs(Binding&& start) {
  return std::forward<Binding>(start)
      .template Arg<array_in>()
      .template Arg<array_in>()
      .template Ret<array_in>()
      .template Ret<array_in>()
      .template Ret<array_in>()
      .template Ret<array_in>()
      .template Attr<numbers_in>("periodic")
      .template Attr<double>("cutoff")
      .template Attr<std::int64_t>("half")
      .template Attr<std::int64_t>("sorted")
      .template Attr<std::int64_t>("strict")
      .template Attr<std::int64_t>("threads");
}
template <typename Binding>
[[nodiscard]] auto bind_charges(Binding&& start) {
  return std::forward<Binding>(start)
      .template Arg<array_in>()
      .template Arg<array_in>()
      .template Arg<array_in>()
      .template Ret<array_in>()
      .template Ret<array_in>()
      .template Ret<array_in>()
      .template Ret<array_in>()
      .template Attr<numbers_in>("periodic")
      .template Attr<double>("accuracy")
      .template Attr<double>("constant")
      .template Attr<std::int64_t>("dispersion")
      .template Attr<std::string_view>("method")
      .template Attr<std::int64_t>("threads");
}

XLA_FFI_DEFINE_HANDLER(mesh_on_cpu, on_cpu<run_mesh>, bind_mesh(for_cpu()));
XLA_FFI_DEFINE_HANDLER(mesh_on_gpu, on_gpu<run_mesh>, bind_mesh(for_gpu()));
XLA_FFI_DEFINE_HANDLER(transform_on_cpu, on_cpu<run_transform>, bind_transform(for_cpu()));
XLA_FFI_DEFINE_HANDLER(transform_on_gpu, on_gpu<run_transform>, bind_transform(for_gpu()));
XLA_FFI_DEFINE_HANDLER(type_3_on_cpu, on_cpu<run_type_3>, bind_type_3(for_cpu()));
XLA_FFI_DEFINE_HANDLER(type_3_on_gpu, on_gpu<run_type_3>, bind_type_3(for_gpu()));
XLA_FFI_DEFINE_HANDLER(pairs_on_cpu, on_cpu<run_pairs>, bind_pairs(for_cpu()));
XLA_FFI_DEFINE_HANDLER(pairs_on_gpu, on_gpu<run_pairs>, bind_pairs(for_gpu()));
XLA_FFI_DEFINE_HANDLER(charges_on_cpu, on_cpu<run_charges>, bind_charges(for_cpu()));
XLA_FFI_DEFINE_HANDLER(charges_on_gpu, on_gpu<run_charges>, bind_charges(for_gpu()));

}  // namespace

/// jax_handlers: by name the capsules for CPUs and for CUDA.
void add_jax(nb::module_& module) {
  const auto capsule = [](XLA_FFI_Handler* handler) { return nb::capsule(reinterpret_cast<void*>(handler)); };
  nb::dict handlers;
  handlers["quadrat_mesh"] = nb::make_tuple(capsule(mesh_on_cpu), capsule(mesh_on_gpu));
  handlers["quadrat_transform"] = nb::make_tuple(capsule(transform_on_cpu), capsule(transform_on_gpu));
  handlers["quadrat_type_3"] = nb::make_tuple(capsule(type_3_on_cpu), capsule(type_3_on_gpu));
  handlers["quadrat_pairs"] = nb::make_tuple(capsule(pairs_on_cpu), capsule(pairs_on_gpu));
  handlers["quadrat_charges"] = nb::make_tuple(capsule(charges_on_cpu), capsule(charges_on_gpu));
  module.attr("jax_handlers") = handlers;
}

}  // namespace quadrat::python

#else

namespace quadrat::python {

void add_jax(nanobind::module_& module) { module.attr("jax_handlers") = nanobind::dict(); }

}  // namespace quadrat::python

#endif
