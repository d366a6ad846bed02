// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/papers/cusparse.hpp"

#if QUADRAT_HAS_CUSPARSE

#include <cusparse.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>

#include "mesh/sparse/memory.hpp"
#include "quadrat/parallel/scan.hpp"

namespace quadrat::detail {

namespace {

/// The functions of cuSPARSE that are used; null where the library is missing.
struct cusparse_functions {
  cusparse_functions() {
    // Loading takes some milliseconds, so skip it where there is no driver to use it.
    if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) return;
    const std::string name = "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR);
    for (const std::string& path : {name, "/usr/local/cuda/lib64/" + name}) {
      library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
    }
    if (library == nullptr) return;
    complete = find(create, "cusparseCreate") && find(destroy, "cusparseDestroy") &&
               find(set_stream, "cusparseSetStream") && find(error, "cusparseGetErrorString") &&
               find(create_rows, "cusparseCreateCsr") && find(destroy_rows, "cusparseDestroySpMat") &&
               find(create_vector, "cusparseCreateDnVec") && find(destroy_vector, "cusparseDestroyDnVec") &&
               find(set_values, "cusparseDnVecSetValues") && find(buffer_size, "cusparseSpMV_bufferSize") &&
               find(preprocess, "cusparseSpMV_preprocess") && find(multiply, "cusparseSpMV");
  }

  template <typename Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }
  void check(cusparseStatus_t status, const char* action) const {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    throw backend_error(message("cuSPARSE: ", action, ": ", error(status)));
  }

  void* library = nullptr;  ///< stays loaded
  bool complete = false;
  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseDestroy) destroy = nullptr;
  decltype(&cusparseSetStream) set_stream = nullptr;
  decltype(&cusparseGetErrorString) error = nullptr;
  decltype(&cusparseCreateCsr) create_rows = nullptr;
  decltype(&cusparseDestroySpMat) destroy_rows = nullptr;
  decltype(&cusparseCreateDnVec) create_vector = nullptr;
  decltype(&cusparseDestroyDnVec) destroy_vector = nullptr;
  decltype(&cusparseDnVecSetValues) set_values = nullptr;
  decltype(&cusparseSpMV_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMV_preprocess) preprocess = nullptr;
  decltype(&cusparseSpMV) multiply = nullptr;
};

[[nodiscard]] const cusparse_functions& cusparse() {
  static const cusparse_functions functions;
  return functions;
}

/// Real numbers, or complex ones with a real part of type T.
template <typename T>
[[nodiscard]] constexpr cudaDataType data_type(int components) {
  if (std::is_same_v<T, float>) return components == 1 ? CUDA_R_32F : CUDA_C_32F;
  return components == 1 ? CUDA_R_64F : CUDA_C_64F;
}

/// A product of the rows with vectors of real or complex values: its descriptors and its buffer.
template <typename T>
struct prepared_product {
  prepared_product() = default;
  prepared_product(const prepared_product&) = delete;
  prepared_product& operator=(const prepared_product&) = delete;
  ~prepared_product() { release(); }

  void release() {
    if (rows != nullptr) cusparse().destroy_rows(rows);
    if (values != nullptr) cusparse().destroy_vector(values);
    if (mesh != nullptr) cusparse().destroy_vector(mesh);
    rows = nullptr;
    values = mesh = nullptr;
  }

  cusparseSpMatDescr_t rows = nullptr;
  cusparseDnVecDescr_t values = nullptr;
  cusparseDnVecDescr_t mesh = nullptr;
  array<std::byte, cuda_context> buffer;
};

}  // namespace

bool cusparse_present() { return cusparse().complete; }

template <typename Context, typename T>
struct cusparse_engine<Context, T>::descriptors {
  explicit descriptors(const Context& context) {
    context.activate();
    cusparse().check(cusparse().create(&handle), "create");
    cusparse().check(cusparse().set_stream(handle, context.stream()), "set the stream");
  }
  descriptors(const descriptors&) = delete;
  descriptors& operator=(const descriptors&) = delete;
  ~descriptors() {
    if (handle != nullptr) cusparse().destroy(handle);
  }

  /// The factors 1, and 0 or 1, in the type of the computation: a real number is the first half of a complex one.
  static constexpr std::array<T, 2> one{T(1), T(0)};
  static constexpr std::array<T, 2> zero{T(0), T(0)};
  static constexpr cusparseSpMVAlg_t algorithm = CUSPARSE_SPMV_CSR_ALG1;

  /// The pointers to values and mesh are placeholders, set for each product.
  void prepare(const Context& context, int components, const cusparse_engine& engine, std::size_t entries) {
    const cusparse_functions& api = cusparse();
    prepared_product<T>& product = products[static_cast<std::size_t>(components - 1)];
    product.release();
    const auto nodes = static_cast<std::int64_t>(engine.setup().shape.size());
    // cuSPARSE refuses more entries than rows times columns. A mesh smaller than a footprint has more, because a point
    // then adds to a mesh point several times. So empty columns are added, which are never read.
    const auto points =
        std::max(static_cast<std::int64_t>(engine.count()), (static_cast<std::int64_t>(entries) + nodes - 1) / nodes);
    const auto writable = [](const auto* data) { return const_cast<void*>(static_cast<const void*>(data)); };
    void* stand_in = writable(engine.points());
    const cudaDataType type = data_type<T>(components);
    api.check(api.create_rows(&product.rows, nodes, points, static_cast<std::int64_t>(entries),
                              writable(engine.offsets_.data()), writable(engine.columns_.data()),
                              writable(engine.weights_.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_BASE_ZERO, data_type<T>(1)),
              "describe the matrix");
    api.check(api.create_vector(&product.values, points, stand_in, type), "describe the values");
    api.check(api.create_vector(&product.mesh, nodes, stand_in, type), "describe the mesh");
    std::size_t bytes = 0;
    api.check(api.buffer_size(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, one.data(), product.rows, product.values,
                              zero.data(), product.mesh, type, algorithm, &bytes),
              "size a buffer");
    product.buffer.resize_discarding(context, bytes);
    api.check(api.preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, one.data(), product.rows, product.values,
                             zero.data(), product.mesh, type, algorithm, product.buffer.data()),
              "prepare a product");
  }

  cusparseHandle_t handle = nullptr;
  std::array<prepared_product<T>, 2> products;
};

template <typename Context, typename T>
cusparse_engine<Context, T>::cusparse_engine(const Context& context, const spread_setup<T>& setup)
    : placed_points_engine<Context, T>(context, setup) {
  if (!cusparse_present()) throw backend_error("cuSPARSE is not installed here (its library was not found)");
  descriptors_ = std::make_unique<descriptors>(context);
}
template <typename Context, typename T>
cusparse_engine<Context, T>::~cusparse_engine() = default;

template <typename Context, typename T>
std::size_t cusparse_engine<Context, T>::bytes_needed(std::size_t count) const {
  const mesh_shape& shape = this->setup().shape;
  const std::size_t entries = count * static_cast<std::size_t>(shape.footprint_size());
  const std::size_t entry_bytes = entries * (sizeof(std::uint32_t) + sizeof(T));
  require(entries <= max_count, "the method cusparse takes at most ", max_count, " contributions; these points have ",
          entries, " (", entry_bytes, " bytes). The method single_mesh takes them");
  // cuSPARSE's own buffers are a small part of the matrix.
  return placed_points_engine<Context, T>::bytes_needed(count) + shape.size() * 2 * sizeof(std::uint32_t) +
         scan_bytes(shape.size()) + entry_bytes + entry_bytes / 32;
}

template <typename Context, typename T>
std::size_t cusparse_engine<Context, T>::bytes() const {
  std::size_t buffers = 0;
  for (const auto& product : descriptors_->products) buffers += product.buffer.bytes();
  return placed_points_engine<Context, T>::bytes() + counts_.bytes() + offsets_.bytes() + columns_.bytes() +
         weights_.bytes() + scratch_.bytes() + buffers;
}

template <typename Context, typename T>
void cusparse_engine<Context, T>::set_points(const point_placement<T>& points) {
  placed_points_engine<Context, T>::set_points(points);
  const Context& context = this->context();
  const contribution_source<T> source{this->setup().shape, this->setup().window, this->points(), this->count()};
  const std::size_t nodes = source.shape.size();
  counts_.resize_discarding(context, nodes);
  offsets_.resize_discarding(context, nodes + 1);
  fill_bytes(context, counts_.data(), 0, nodes * sizeof(std::uint32_t));
  count_contributions(context, source, counts_.data());
  exclusive_scan_with_total(context, counts_.data(), offsets_.data(), nodes, scratch_);
  const std::size_t entries = contribution_total(context, source, offsets_.data() + nodes);
  columns_.resize_discarding(context, entries);
  weights_.resize_discarding(context, entries);
  insert_contributions(context, source, counts_.data(),
                       split_rows<T>{offsets_.data(), columns_.data(), weights_.data()});
  if (entries == 0) return;
  for (const int components : {1, 2}) descriptors_->prepare(context, components, *this, entries);
  context.synchronize();
}

template <typename Context, typename T>
void cusparse_engine<Context, T>::spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) {
  if (columns_.size() == 0) return this->clear(layout, mesh, accumulate);
  this->context().activate();
  const cusparse_functions& api = cusparse();
  const prepared_product<T>& product = descriptors_->products[static_cast<std::size_t>(layout.components - 1)];
  for (int vector = 0; vector < layout.vectors; ++vector) {
    const int channel = vector * layout.components;
    // The const_cast is needed because prepared products take no descriptors of constant vectors; cuSPARSE does not
    // write them.
    api.check(api.set_values(product.values, const_cast<T*>(values + layout.value(0, channel))), "take the values");
    api.check(api.set_values(product.mesh, mesh + layout.node(0, channel)), "take the mesh");
    api.check(
        api.multiply(descriptors_->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, descriptors::one.data(), product.rows,
                     product.values, accumulate ? descriptors::one.data() : descriptors::zero.data(), product.mesh,
                     data_type<T>(layout.components), descriptors::algorithm,
                     const_cast<std::byte*>(product.buffer.data())),
        "multiply");
  }
}

template class cusparse_engine<cuda_context, float>;
template class cusparse_engine<cuda_context, double>;

}  // namespace quadrat::detail

#else

namespace quadrat::detail {

bool cusparse_present() { return false; }

}  // namespace quadrat::detail

#endif
