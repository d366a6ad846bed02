// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/fft.hpp"

#include <algorithm>
#include <utility>

#include "core/backend.hpp"
#include "distributed/fft/pencils.hpp"
#include "distributed/fft/slab_transform.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

/// The common parts of both transforms.
template <typename Context, typename T>
struct transform_over_ranks {
  transform_over_ranks(const Context& where, communicator& ranks, const detail::transposed_mesh& wanted,
                       const distributed_fft_options& options)
      : context(where), mesh(wanted), transposed(options.transposed) {
    const vec<int, 3>& points = mesh.points;
    detail::require_fft_extents(points.component, 3, mesh.real);
    detail::require_fft_library<T>(options.library, context);
    const bool few_layers = ranks.size() > std::min(points[0], points[1]);
    in_pencils = options.layout == fft_layout::pencils || (options.layout == fft_layout::automatic && few_layers);
    if (in_pencils) {
      // The same arrangement as pencil_decomposition, which is in mesh points.
      work = std::make_unique<detail::pencil_transform<Context, T>>(
          context, ranks, mesh, detail::arranged_ranks(points, ranks.size()), options.library);
    } else {
      work = std::make_unique<detail::slab_transform<Context, T>>(context, ranks, mesh, options.library);
    }
  }

  /// Mesh points of this rank.
  [[nodiscard]] cell_block<3> block() const {
    cell_block<3> own = work->first_block();
    if (own.end[2] > 0) own.end[2] = mesh.points[2];
    return own;
  }
  [[nodiscard]] std::size_t mesh_size() const {
    const cell_block<3> own = block();
    std::size_t points = 1;
    for (int axis = 0; axis < 3; ++axis) points *= static_cast<std::size_t>(own.end[axis] - own.first[axis]);
    return points;
  }
  void forward(T* real, std::complex<T>* modes) {
    auto* const data = reinterpret_cast<detail::moved_number<T>*>(modes);
    work->forward(real, data);
    if (!transposed) work->to_natural(data);
  }
  void inverse(std::complex<T>* modes, T* real) {
    auto* const data = reinterpret_cast<detail::moved_number<T>*>(modes);
    if (!transposed) work->to_transposed(data);
    work->inverse(data, real);
  }

  Context context;
  detail::transposed_mesh mesh;
  bool transposed;
  bool in_pencils = false;
  std::unique_ptr<detail::transposed_transform<T>> work;
};

}  // namespace

template <typename Context, typename T>
struct distributed_fft<Context, T>::implementation : transform_over_ranks<Context, T> {
  using transform_over_ranks<Context, T>::transform_over_ranks;
};
template <typename Context, typename T>
struct distributed_real_fft<Context, T>::implementation : transform_over_ranks<Context, T> {
  using transform_over_ranks<Context, T>::transform_over_ranks;
};

template <typename Context, typename T>
distributed_fft<Context, T>::distributed_fft(const Context& context, communicator& ranks, const vec<int, 3>& mesh,
                                             const distributed_fft_options& options) {
  together(ranks, [&] {
    implementation_ = std::make_unique<implementation>(context, ranks, detail::transposed_mesh{mesh, false}, options);
  });
}

template <typename Context, typename T>
void distributed_fft<Context, T>::forward_async(std::complex<T>* mesh) {
  implementation_->forward(nullptr, mesh);
}
template <typename Context, typename T>
void distributed_fft<Context, T>::inverse_async(std::complex<T>* mesh) {
  implementation_->inverse(mesh, nullptr);
}
template <typename Context, typename T>
void distributed_fft<Context, T>::wait() const {
  implementation_->context.synchronize();
}
template <typename Context, typename T>
std::size_t distributed_fft<Context, T>::mesh_size() const {
  return implementation_->mesh_size();
}
template <typename Context, typename T>
std::size_t distributed_fft<Context, T>::room() const {
  return implementation_->work->room();
}
template <typename Context, typename T>
bool distributed_fft<Context, T>::in_pencils() const {
  return implementation_->in_pencils;
}
template <typename Context, typename T>
cell_block<3> distributed_fft<Context, T>::block() const {
  return implementation_->block();
}
template <typename Context, typename T>
cell_block<3> distributed_fft<Context, T>::transposed_block() const {
  return implementation_->work->last_block();
}
template <typename Context, typename T>
index_range distributed_fft<Context, T>::layers() const {
  return {block().first[0], block().end[0] - 1};
}
template <typename Context, typename T>
index_range distributed_fft<Context, T>::transposed_layers() const {
  return {transposed_block().first[1], transposed_block().end[1] - 1};
}
template <typename Context, typename T>
std::size_t distributed_fft<Context, T>::bytes() const {
  return implementation_->work->bytes();
}

template <typename Context, typename T>
distributed_real_fft<Context, T>::distributed_real_fft(const Context& context, communicator& ranks,
                                                       const vec<int, 3>& mesh,
                                                       const distributed_fft_options& options) {
  together(ranks, [&] {
    implementation_ = std::make_unique<implementation>(context, ranks, detail::transposed_mesh{mesh, true}, options);
  });
}

template <typename Context, typename T>
void distributed_real_fft<Context, T>::forward_async(T* mesh, std::complex<T>* modes) {
  implementation_->forward(mesh, modes);
}
template <typename Context, typename T>
void distributed_real_fft<Context, T>::inverse_async(std::complex<T>* modes, T* mesh) {
  implementation_->inverse(modes, mesh);
}
template <typename Context, typename T>
void distributed_real_fft<Context, T>::wait() const {
  implementation_->context.synchronize();
}
template <typename Context, typename T>
std::size_t distributed_real_fft<Context, T>::mesh_size() const {
  return implementation_->mesh_size();
}
template <typename Context, typename T>
std::size_t distributed_real_fft<Context, T>::room() const {
  return implementation_->work->room();
}
template <typename Context, typename T>
bool distributed_real_fft<Context, T>::in_pencils() const {
  return implementation_->in_pencils;
}
template <typename Context, typename T>
cell_block<3> distributed_real_fft<Context, T>::block() const {
  return implementation_->block();
}
template <typename Context, typename T>
cell_block<3> distributed_real_fft<Context, T>::mode_block() const {
  return implementation_->transposed ? implementation_->work->last_block() : implementation_->work->first_block();
}
template <typename Context, typename T>
std::size_t distributed_real_fft<Context, T>::bytes() const {
  return implementation_->work->bytes();
}

template class distributed_fft<backend_context, float>;
template class distributed_fft<backend_context, double>;
template class distributed_real_fft<backend_context, float>;
template class distributed_real_fft<backend_context, double>;

}  // namespace quadrat
