// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "instances.hpp"
#include "quadrat/contacts/methods.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/keyed/methods.hpp"
#include "quadrat/mesh/methods.hpp"
#include "quadrat/search/neighbor_list.hpp"
#include "worker.hpp"

namespace quadrat::python {

namespace {

/// As int64; uint64 beyond it count as the largest.
template <typename Value>
struct as_signed {
  const Value* values;
  QUADRAT_HD std::int64_t operator()(std::size_t i) const {
    if constexpr (std::is_same_v<Value, std::uint64_t>) {
      constexpr std::uint64_t most = ~std::uint64_t{0} >> 1;
      return static_cast<std::int64_t>(values[i] < most ? values[i] : most);
    } else {
      return static_cast<std::int64_t>(values[i]);
    }
  }
};

template <typename Context>
class session_on final : public worker_on<session, Context> {
 public:
  explicit session_on(const place& where) : worker_on<session, Context>(where) {}

  void nearest(bool wide, int dimension, const points_given& points, const points_given& queries,
               const boxes_given& box, const nearest_settings& settings, bool long_indices,
               const nearest_results& results) override {
    [[maybe_unused]] const auto visit = this->enter();
    find_nearest(this->context(), wide, dimension, points, queries, box, settings, long_indices, results);
  }
  cluster_counts clusters(bool wide, int dimension, const points_given& points, const boxes_given& box, double cutoff,
                          std::uint32_t min_points, bool long_indices, void* labels, bool members) override {
    [[maybe_unused]] const auto visit = this->enter();
    found_ = find_clusters(this->context(), wide, dimension, points, box, cutoff, min_points, long_indices, labels);
    return found_->counts(members);
  }
  void write_members(bool long_indices, void* offsets, void* members, void* centers) override {
    [[maybe_unused]] const auto visit = this->enter();
    found_->write(long_indices, offsets, members, centers);
  }
  void reduce(const reduction& wanted, void* results) override {
    [[maybe_unused]] const auto visit = this->enter();
    reduce_keys(this->context(), wanted, results);
  }
  void type_3(bool wide, int dimension, const points_given& points, const points_given& targets, const void* values,
              int vectors, double tolerance, int sign, void* results) override {
    [[maybe_unused]] const auto visit = this->enter();
    transform_to_targets(this->context(), wide, dimension, points, targets, values, vectors, tolerance, sign, results);
  }
  [[nodiscard]] std::int64_t largest(const integers& values) override {
    [[maybe_unused]] const auto visit = this->enter();
    if (values.type == number::uint64) return largest_of<std::uint64_t>(values);
    return with_integer_type(values.type, [&](auto type) { return largest_of<decltype(type)>(values); });
  }
  void to_host(const void* from, void* to, std::size_t bytes) override {
    [[maybe_unused]] const auto visit = this->enter();
    copy_bytes(this->context(), from, to, bytes);
    this->context().synchronize();
  }

 private:
  std::unique_ptr<found_clusters> found_;

  template <typename Value>
  [[nodiscard]] std::int64_t largest_of(const integers& values) {
    const as_signed<Value> map{static_cast<const Value*>(values.data)};
    workspace<Context> scratch;
    return quadrat::reduce(this->context(), "python.largest", values.count, map, maximum_operation{}, std::int64_t{-1},
                           scratch);
  }
};

template <typename Context>
class backend_on final : public backend {
 public:
  std::unique_ptr<neighbor_search> make_neighbor_search(const place& where, bool wide, int dimension,
                                                        const neighbor_settings& settings) override {
    return python::make_neighbor_search<Context>(where, wide, dimension, settings);
  }
  std::unique_ptr<histogram> make_histogram(const place& where, bool wide, int dimension,
                                            const histogram_settings& settings) override {
    return python::make_histogram<Context>(where, wide, dimension, settings);
  }
  std::unique_ptr<spreading> make_spreading(const place& where, bool wide, const spread_settings& settings) override {
    return python::make_spreading<Context>(where, wide, settings);
  }
  std::unique_ptr<transform> make_transform(const place& where, bool wide,
                                            const transform_settings& settings) override {
    return python::make_transform<Context>(where, wide, settings);
  }
  std::unique_ptr<ewald_sums> make_ewald(const place& where, bool wide,
                                         const electrostatics_options& options) override {
    return python::make_ewald<Context>(where, wide, options);
  }
  std::unique_ptr<contact_search> make_contact_search(const place& where, bool wide, const domain_given& domain,
                                                      const std::string& method, bool sorted,
                                                      double bin_size) override {
    return python::make_contact_search<Context>(where, wide, domain, method, sorted, bin_size);
  }
  std::unique_ptr<cell_search> make_cell_search(const place& where, bool wide, const domain_given& domain,
                                                const std::vector<int>& cells, double cutoff,
                                                bool accept_outside) override {
    return python::make_cell_search<Context>(where, wide, domain, cells, cutoff, accept_outside);
  }
  std::unique_ptr<session> make_session(const place& where) override {
    return std::make_unique<session_on<Context>>(where);
  }
  std::size_t devices() override { return std::is_same_v<Context, cpu_context> ? 1 : cuda_devices().size(); }
  std::vector<std::string> methods(method_task task) override {
    switch (task) {
      case method_task::spread:
        return names_of(spread_methods());
      case method_task::reduce:
        return names_of(key_methods());
      case method_task::neighbors:
        return names_of(neighbor_methods());
      case method_task::contacts:
        break;
    }
    return names_of(contact_methods());
  }
  explanation choose(const place& where, method_task task, const described_load& load) override {
    home<Context> there(where);
    [[maybe_unused]] const auto visit = there.enter();
    return choose_method(task, load, there.context());
  }
  std::unique_ptr<scene_run> open_scene(const scene_settings& settings) override {
    return python::open_scene(settings);
  }
  void* allocate(int device, std::size_t bytes) override {
#if defined(__CUDACC__)
    const current_device scope(device);
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes > 0 ? bytes : 1) != cudaSuccess) {
      cudaGetLastError();
      throw std::bad_alloc();
    }
    return memory;
#else
    static_cast<void>(device);
    return host_memory().allocate(bytes, nullptr);
#endif
  }
  void deallocate(int device, void* memory) noexcept override {
#if defined(__CUDACC__)
    const current_device scope(device);
    cudaFree(memory);
#else
    static_cast<void>(device);
    host_memory().deallocate(memory, 0, nullptr);
#endif
  }

 private:
  template <typename Method>
  [[nodiscard]] static std::vector<std::string> names_of(std::span<const Method> methods) {
    std::vector<std::string> names;
    for (const Method& method : methods) {
      if constexpr (requires { method.wrong_results; }) {
        if (method.wrong_results) continue;
      }
      if (std::is_same_v<Context, cpu_context> ? method.on_cpu : method.on_cuda) names.emplace_back(method.name);
    }
    return names;
  }
};

}  // namespace

#if QUADRAT_BACKEND_CUDA

/// What the extension module asks a library for: of which interface it is, and then the backend.
extern "C" __attribute__((visibility("default"))) int quadrat_python_interface() { return interface_version; }
extern "C" __attribute__((visibility("default"))) const char* quadrat_python_version() { return QUADRAT_VERSION; }
extern "C" __attribute__((visibility("default"))) backend* quadrat_python_backend() {
  static backend_on<cuda_context> made;
  return &made;
}

#else

memory_resource*& cpu_memory() {
  static memory_resource* memory = nullptr;
  return memory;
}

backend& cpu_backend() {
  static backend_on<cpu_context> made;
  return made;
}

#endif

}  // namespace quadrat::python
