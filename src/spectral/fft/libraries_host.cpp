// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/libraries.hpp"

#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/automatic.hpp"
#include "core/method_choice.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/spectral/fft_libraries.hpp"
#include "spectral/fft/each_mesh.hpp"
#include "spectral/fft/fftw.hpp"

namespace quadrat {

namespace detail {

namespace {

constexpr std::string_view fft_library_kind = "FFT library";

/// MKL's sums depend on where arrays are in memory.
[[nodiscard]] std::array<method_info, 4> libraries(bool fftw, bool mkl) {
  constexpr auto canonical = determinism::canonical;
  return {{{"own", "this project's: wanted lines only; on GPUs complex meshes in three dimensions", true,
            QUADRAT_HAS_CUDA != 0, canonical},
           {"fftw", "FFTW 3, if found at run time", fftw, false, canonical},
           {"mkl", "Intel's MKL, if found at run time", mkl, false, determinism::none},
           {"cufft", "NVIDIA's cuFFT", false, has_cufft(), canonical}}};
}

template <typename T>
void require_library(std::string_view name, bool cuda, determinism level) {
  if (is_automatic(name) || (name == "own" && !cuda)) return;
  const bool fftw = fftw_library<T>() != nullptr, mkl = mkl_library<T>() != nullptr;
  const bool missing = (name == "fftw" && !fftw) || (name == "mkl" && !mkl);
  if (missing && !cuda) {
    const char* const precision = std::is_same_v<T, float> ? "single" : "double";
    throw argument_error(message("the FFT library ", name, " was not found for ", precision,
                                 " precision; these are there: auto, own", fftw ? ", fftw" : "", mkl ? ", mkl" : ""));
  }
  const auto infos = libraries(fftw, mkl);
  require_method({fft_library_kind, cuda, level, true}, name, {infos.begin(), infos.end()});
}

}  // namespace

void require_fft_extents(const int* extent, int dimension, bool real) {
  for (int axis = 0; axis < dimension; ++axis) {
    const int n = extent[axis];
    require(n >= 1 && good_fft_size(n, false) == n, "the mesh has ", n, " points along axis ", axis,
            "; a product of 2, 3 and 5 is needed");
  }
  require(!real || extent[dimension - 1] % 2 == 0, "the real mesh has ", extent[dimension - 1], " points along axis ",
          dimension - 1, "; an even number is needed");
}

template <typename T>
void require_fft_library(std::string_view name, const cpu_context& context) {
  require_library<T>(name, false, context.reproducibility());
}
template <typename T>
void require_fft_library(std::string_view name, const cuda_context& context) {
  require_library<T>(name, true, context.reproducibility());
}

template <typename T>
std::unique_ptr<mode_transform<T>> make_mode_transform(const cpu_context& context, const transform_shape& shape,
                                                       std::string_view library) {
  require_fft_library<T>(library, context);
  const auto* const found = library == "fftw" ? fftw_library<T>() : (library == "mkl" ? mkl_library<T>() : nullptr);
  if (found == nullptr) return make_own_transform<T>(context, shape);
  transform_shape one = shape;
  one.count = 1;
  one.apart = 0;
  auto transform = make_fftw_transform(*found, context, one);
  if (shape.count == 1) return transform;
  return std::make_unique<each_mesh<T>>(std::move(transform), shape);
}
template <typename T>
std::unique_ptr<mode_transform<T>> make_mode_transform(const cuda_context& context, const transform_shape& shape,
                                                       std::string_view library) {
  require_fft_library<T>(library, context);
#if QUADRAT_HAS_CUDA
  // On smaller meshes the launches of three kernels cost more than skipping lines saves.
  constexpr std::size_t least_nodes = std::size_t{160} * 160 * 160;
  const bool own = library == "own";
  if (own || (library != "cufft" && shape.rows() * static_cast<std::size_t>(shape.extent[2]) >= least_nodes)) {
    if (auto lines = make_mode_lines<T>(context, shape)) return lines;
    require(!own,
            "the FFT library own transforms on GPUs only complex meshes in three dimensions, of at most 1024 points "
            "along each, on devices with less shared memory of fewer");
  }
#endif
  return make_cufft_transform<T>(context, shape);
}

template void require_fft_library<float>(std::string_view, const cpu_context&);
template void require_fft_library<double>(std::string_view, const cpu_context&);
template void require_fft_library<float>(std::string_view, const cuda_context&);
template void require_fft_library<double>(std::string_view, const cuda_context&);
template std::unique_ptr<mode_transform<float>> make_mode_transform(const cpu_context&, const transform_shape&,
                                                                    std::string_view);
template std::unique_ptr<mode_transform<double>> make_mode_transform(const cpu_context&, const transform_shape&,
                                                                     std::string_view);
template std::unique_ptr<mode_transform<float>> make_mode_transform(const cuda_context&, const transform_shape&,
                                                                    std::string_view);
template std::unique_ptr<mode_transform<double>> make_mode_transform(const cuda_context&, const transform_shape&,
                                                                     std::string_view);

}  // namespace detail

std::span<const method_info> fft_libraries() {
  using namespace detail;
  static const auto infos = libraries(fftw_library<float>() != nullptr || fftw_library<double>() != nullptr,
                                      mkl_library<float>() != nullptr || mkl_library<double>() != nullptr);
  return infos;
}

}  // namespace quadrat
