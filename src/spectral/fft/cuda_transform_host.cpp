// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/core/array.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "spectral/fft/libraries.hpp"

#if QUADRAT_HAS_CUDA && __has_include(<cufft.h>)

#include <cufft.h>
#include <dlfcn.h>

#include <string>
#include <type_traits>

namespace quadrat::detail {

namespace {

/// The functions of cuFFT that are used; null where the library is missing.
struct cufft_functions {
  cufft_functions() {
    const std::string name = "libcufft.so." + std::to_string(CUFFT_VER_MAJOR);
    for (const std::string& path : {name, "/usr/local/cuda/lib64/" + name}) {
      library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
    }
    if (library == nullptr) return;
    complete = find(create, "cufftCreate") && find(destroy, "cufftDestroy") &&
               find(set_allocation, "cufftSetAutoAllocation") && find(set_stream, "cufftSetStream") &&
               find(set_work_area, "cufftSetWorkArea") && find(plan, "cufftMakePlanMany") &&
               find(c2c, "cufftExecC2C") && find(z2z, "cufftExecZ2Z") && find(r2c, "cufftExecR2C") &&
               find(d2z, "cufftExecD2Z") && find(c2r, "cufftExecC2R") && find(z2d, "cufftExecZ2D");
  }

  template <typename Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }

  void* library = nullptr;  ///< stays loaded
  bool complete = false;
  decltype(&cufftCreate) create = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;
  decltype(&cufftSetAutoAllocation) set_allocation = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftSetWorkArea) set_work_area = nullptr;
  decltype(&cufftMakePlanMany) plan = nullptr;
  decltype(&cufftExecC2C) c2c = nullptr;
  decltype(&cufftExecZ2Z) z2z = nullptr;
  decltype(&cufftExecR2C) r2c = nullptr;
  decltype(&cufftExecD2Z) d2z = nullptr;
  decltype(&cufftExecC2R) c2r = nullptr;
  decltype(&cufftExecZ2D) z2d = nullptr;
};

[[nodiscard]] const cufft_functions& cufft() {
  static const cufft_functions functions;
  return functions;
}

void check_cufft(cufftResult status, const char* action) {
  if (status == CUFFT_SUCCESS) return;
  throw backend_error(message("cuFFT: ", action, ": error ", static_cast<int>(status)));
}

/// Transforms over the last `rank` axes of several meshes, with the row lengths of input and output and the distances
/// between meshes.
struct many_transforms {
  const transform_shape& shape;
  int rank;
  int from_row, to_row;
  std::size_t from_apart, to_apart;
};

/// A plan of cuFFT with its work area in the memory of the context.
class cufft_plan {
 public:
  cufft_plan() = default;
  cufft_plan(const cufft_plan&) = delete;
  cufft_plan& operator=(const cufft_plan&) = delete;
  ~cufft_plan() {
    if (made_) cufft().destroy(handle_);
  }

  void make(const cuda_context& context, const many_transforms& what, cufftType type) {
    check_cufft(cufft().create(&handle_), "create a plan");
    made_ = true;
    check_cufft(cufft().set_allocation(handle_, 0), "leave the work area to the caller");
    check_cufft(cufft().set_stream(handle_, context.stream()), "set the stream");
    const int* const extent = what.shape.extent;
    int sizes[3] = {extent[0], extent[1], extent[2]};
    int from[3] = {extent[0], extent[1], what.from_row}, to[3] = {extent[0], extent[1], what.to_row};
    const int first = 3 - what.rank;
    std::size_t bytes = 0;
    check_cufft(cufft().plan(handle_, what.rank, sizes + first, from + first, 1, static_cast<int>(what.from_apart),
                             to + first, 1, static_cast<int>(what.to_apart), type, what.shape.count, &bytes),
                "make a plan");
    work_ = array<std::byte, cuda_context>(context, bytes);
    check_cufft(cufft().set_work_area(handle_, work_.data()), "take the work area");
  }
  [[nodiscard]] cufftHandle handle() const { return handle_; }
  [[nodiscard]] std::size_t bytes() const { return work_.bytes(); }

 private:
  cufftHandle handle_{};
  bool made_ = false;
  array<std::byte, cuda_context> work_;
};

/// Whole transforms, because cuFFT cannot skip lines.
template <typename T>
class cuda_mode_transform final : public mode_transform<T> {
 public:
  static constexpr bool single = std::is_same_v<T, float>;

  cuda_mode_transform(const cuda_context& context, const transform_shape& shape) : context_(context), shape_(shape) {
    if (!cufft().complete) throw backend_error("cuFFT is not installed here (its library was not found)");
    context.activate();
    const int rank = shape.extent[0] > 1 ? 3 : shape.extent[1] > 1 ? 2 : 1;
    const int n = shape.extent[2], row = static_cast<int>(spectrum_row());
    const std::size_t mesh = mesh_apart(), spectrum = shape.rows() * spectrum_row();
    if (shape.real) {
      to_modes_.make(context, {shape, rank, n, row, mesh, spectrum}, single ? CUFFT_R2C : CUFFT_D2Z);
      to_mesh_.make(context, {shape, rank, row, n, spectrum, mesh}, single ? CUFFT_C2R : CUFFT_Z2D);
    } else {
      to_modes_.make(context, {shape, rank, n, n, mesh, mesh}, single ? CUFFT_C2C : CUFFT_Z2Z);
    }
  }

  [[nodiscard]] std::size_t spectrum_row() const override {
    return static_cast<std::size_t>(shape_.real ? shape_.extent[2] / 2 + 1 : shape_.extent[2]);
  }
  [[nodiscard]] std::size_t spectrum_size() const override { return shape_.real ? spectra() : 0; }
  [[nodiscard]] std::size_t bytes() const override { return to_modes_.bytes() + to_mesh_.bytes(); }

  void clear(T* mesh, std::complex<T>* spectrum) override {
    const std::size_t numbers = shape_.real ? spectra() : static_cast<std::size_t>(shape_.count) * mesh_apart();
    fill_bytes(context_, shape_.real ? static_cast<void*>(spectrum) : mesh, 0, numbers * sizeof(std::complex<T>));
  }

  void to_modes(T* mesh, std::complex<T>* spectrum, int sign) override {
    context_.activate();
    if (!shape_.real) return transform(mesh, spectrum == nullptr ? mesh : reinterpret_cast<T*>(spectrum), sign);
    const cufftHandle plan = to_modes_.handle();
    if constexpr (single) {
      check_cufft(cufft().r2c(plan, mesh, reinterpret_cast<cufftComplex*>(spectrum)), "transform");
    } else {
      check_cufft(cufft().d2z(plan, mesh, reinterpret_cast<cufftDoubleComplex*>(spectrum)), "transform");
    }
  }

  void to_mesh(std::complex<T>* spectrum, T* mesh, int sign) override {
    context_.activate();
    if (!shape_.real) return transform(mesh, mesh, sign);
    const cufftHandle plan = to_mesh_.handle();
    if constexpr (single) {
      check_cufft(cufft().c2r(plan, reinterpret_cast<cufftComplex*>(spectrum), mesh), "transform");
    } else {
      check_cufft(cufft().z2d(plan, reinterpret_cast<cufftDoubleComplex*>(spectrum), mesh), "transform");
    }
  }

 private:
  [[nodiscard]] std::size_t mesh_apart() const {
    return shape_.count > 1 ? shape_.apart : shape_.rows() * static_cast<std::size_t>(shape_.extent[2]);
  }
  [[nodiscard]] std::size_t spectra() const {
    return static_cast<std::size_t>(shape_.count) * shape_.rows() * spectrum_row();
  }

  void transform(T* from, T* to, int sign) {
    const int direction = sign < 0 ? CUFFT_FORWARD : CUFFT_INVERSE;
    const cufftHandle plan = to_modes_.handle();
    if constexpr (single) {
      check_cufft(
          cufft().c2c(plan, reinterpret_cast<cufftComplex*>(from), reinterpret_cast<cufftComplex*>(to), direction),
          "transform");
    } else {
      check_cufft(cufft().z2z(plan, reinterpret_cast<cufftDoubleComplex*>(from),
                              reinterpret_cast<cufftDoubleComplex*>(to), direction),
                  "transform");
    }
  }

  cuda_context context_;
  transform_shape shape_;
  cufft_plan to_modes_;
  cufft_plan to_mesh_;  ///< of real meshes
};

}  // namespace

bool has_cufft() { return cufft().complete; }

template <typename T>
std::unique_ptr<mode_transform<T>> make_cufft_transform(const cuda_context& context, const transform_shape& shape) {
  return std::make_unique<cuda_mode_transform<T>>(context, shape);
}

#else

namespace quadrat::detail {

bool has_cufft() { return false; }

template <typename T>
std::unique_ptr<mode_transform<T>> make_cufft_transform(const cuda_context& context, const transform_shape&) {
  context.activate();
  throw backend_error("this build has no cuFFT: its header was not found");
}

#endif

template std::unique_ptr<mode_transform<float>> make_cufft_transform(const cuda_context&, const transform_shape&);
template std::unique_ptr<mode_transform<double>> make_cufft_transform(const cuda_context&, const transform_shape&);

}  // namespace quadrat::detail
