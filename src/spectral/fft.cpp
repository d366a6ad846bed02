// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/spectral/fft.hpp"

#include <string_view>
#include <type_traits>

#include "core/automatic.hpp"
#include "core/backend.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "spectral/transform.hpp"

namespace quadrat {

namespace {

/// All modes of a mesh.
template <int D>
[[nodiscard]] detail::transform_shape whole_shape(const vec<int, D>& mesh, bool real) {
  detail::require_fft_extents(mesh.component, D, real);
  double size = 1;
  for (int d = 0; d < D; ++d) size *= mesh[d];
  require(size <= static_cast<double>(max_count), "the mesh has ", size, " points; at most ", max_count,
          " are possible");
  detail::transform_shape shape{{1, 1, 1}, {{1, 0}, {1, 0}, {1, 0}}, real};
  for (int d = 0; d < D; ++d) {
    const int axis = 3 - D + d;
    shape.extent[axis] = mesh[d];
    shape.band[axis] = {real && axis == 2 ? mesh[d] / 2 + 1 : mesh[d], 0};
  }
  return shape;
}

/// With all modes wanted no lines can be skipped, so GPUs use cuFFT.
template <typename Context>
[[nodiscard]] std::string_view library_for_all_modes(std::string_view asked) {
  return detail::is_automatic(asked) && std::is_same_v<Context, cuda_context> ? "cufft" : asked;
}

template <typename Context, typename T>
struct whole_transform {
  whole_transform(const Context& where, const detail::transform_shape& of, const fft_options& options)
      : context(where),
        size(of.rows() * static_cast<std::size_t>(of.extent[2])),
        modes(of.rows() * static_cast<std::size_t>(of.band[2].low)),
        transform(detail::make_mode_transform<T>(where, of, library_for_all_modes<Context>(options.library))) {}

  Context context;
  std::size_t size, modes;
  std::unique_ptr<detail::mode_transform<T>> transform;
};

}  // namespace

template <typename Context, typename T, int D>
struct fft<Context, T, D>::implementation : whole_transform<Context, T> {
  using whole_transform<Context, T>::whole_transform;
};
template <typename Context, typename T, int D>
struct real_fft<Context, T, D>::implementation : whole_transform<Context, T> {
  using whole_transform<Context, T>::whole_transform;
};

template <typename Context, typename T, int D>
fft<Context, T, D>::fft(const Context& context, const vec<int, D>& mesh, const fft_options& options)
    : implementation_(std::make_unique<implementation>(context, whole_shape(mesh, false), options)) {}

template <typename Context, typename T, int D>
void fft<Context, T, D>::forward_async(std::complex<T>* mesh) {
  require_pointer(mesh, mesh_size(), "mesh values");
  implementation_->transform->to_modes(reinterpret_cast<T*>(mesh), nullptr, -1);
}
template <typename Context, typename T, int D>
void fft<Context, T, D>::inverse_async(std::complex<T>* mesh) {
  require_pointer(mesh, mesh_size(), "mesh values");
  implementation_->transform->to_mesh(nullptr, reinterpret_cast<T*>(mesh), 1);
}
template <typename Context, typename T, int D>
void fft<Context, T, D>::wait() const {
  implementation_->context.synchronize();
}
template <typename Context, typename T, int D>
std::size_t fft<Context, T, D>::mesh_size() const {
  return implementation_->size;
}
template <typename Context, typename T, int D>
std::size_t fft<Context, T, D>::bytes() const {
  return implementation_->transform->bytes();
}

template <typename Context, typename T, int D>
real_fft<Context, T, D>::real_fft(const Context& context, const vec<int, D>& mesh, const fft_options& options)
    : implementation_(std::make_unique<implementation>(context, whole_shape(mesh, true), options)) {}

template <typename Context, typename T, int D>
void real_fft<Context, T, D>::forward_async(T* mesh, std::complex<T>* modes) {
  require_pointer(mesh, mesh_size(), "mesh values");
  require_pointer(modes, mode_size(), "modes");
  implementation_->transform->to_modes(mesh, modes, -1);
}
template <typename Context, typename T, int D>
void real_fft<Context, T, D>::inverse_async(std::complex<T>* modes, T* mesh) {
  require_pointer(modes, mode_size(), "modes");
  require_pointer(mesh, mesh_size(), "mesh values");
  implementation_->transform->to_mesh(modes, mesh, 1);
}
template <typename Context, typename T, int D>
void real_fft<Context, T, D>::wait() const {
  implementation_->context.synchronize();
}
template <typename Context, typename T, int D>
std::size_t real_fft<Context, T, D>::mesh_size() const {
  return implementation_->size;
}
template <typename Context, typename T, int D>
std::size_t real_fft<Context, T, D>::mode_size() const {
  return implementation_->modes;
}
template <typename Context, typename T, int D>
std::size_t real_fft<Context, T, D>::mode_row() const {
  return implementation_->transform->spectrum_row();
}
template <typename Context, typename T, int D>
std::size_t real_fft<Context, T, D>::bytes() const {
  return implementation_->transform->bytes();
}

template class fft<backend_context, float, 1>;
template class fft<backend_context, float, 2>;
template class fft<backend_context, float, 3>;
template class fft<backend_context, double, 1>;
template class fft<backend_context, double, 2>;
template class fft<backend_context, double, 3>;
template class real_fft<backend_context, float, 1>;
template class real_fft<backend_context, float, 2>;
template class real_fft<backend_context, float, 3>;
template class real_fft<backend_context, double, 1>;
template class real_fft<backend_context, double, 2>;
template class real_fft<backend_context, double, 3>;

}  // namespace quadrat
