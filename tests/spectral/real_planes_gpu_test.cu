// SPDX-License-Identifier: BSD-3-Clause
#include "spectral/fft/cuda/real_planes.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/backend.hpp"
#include "support/random.hpp"

namespace quadrat::test {

namespace {

/// A factor that differs from mode to mode, and is that of the mode's negative.
template <typename T>
struct test_factor {
  int extent[3];

  QUADRAT_HD void operator()(const int (&place)[3], T* parts) const {
    T factor = T(1);
    for (int axis = 0; axis < 3; ++axis) {
      const int mode = 2 * place[axis] > extent[axis] ? extent[axis] - place[axis] : place[axis];
      factor += static_cast<T>((axis + 2) * mode * mode);
    }
    parts[0] /= factor;
    parts[1] /= factor;
  }
};

template <typename T>
class real_planes_test : public backend_test {
 protected:
  /// Compares with transforms on the CPU, twice.
  void expect_like_cpu(const std::array<int, 3>& extent) {
    const cuda_context context;
    detail::transform_shape shape{};
    for (int axis = 0; axis < 3; ++axis) {
      shape.extent[axis] = extent[static_cast<std::size_t>(axis)];
      shape.band[axis] = {shape.extent[axis] - shape.extent[axis] / 2, shape.extent[axis] / 2};
    }
    shape.band[2] = {shape.extent[2] / 2 + 1, 0};
    shape.real = true;
    ASSERT_TRUE(detail::real_planes<T>::serves(context, shape));
    const std::size_t row = static_cast<std::size_t>(shape.extent[2]);
    std::mt19937_64 random(row);
    std::vector<T> mesh(shape.rows() * row);
    for (T& x : mesh) x = 2 * random_unit<T>(random) - 1;
    const test_factor<T> factor{{shape.extent[0], shape.extent[1], shape.extent[2]}};
    const detail::real_planes<T> planes(context, shape);
    auto found = to_device(context, mesh);
    array<std::complex<T>, cuda_context> spectrum(context, shape.rows() * (row / 2 + 1));
    for (int round = 0; round < 2; ++round) {
      planes.weigh(found.data(), spectrum.data(), factor);
      weigh_on_cpu(shape, factor, mesh);
      compare(to_host(context, found), mesh);
    }
  }

 private:
  static void weigh_on_cpu(const detail::transform_shape& shape, const test_factor<T>& factor, std::vector<T>& mesh) {
    const auto transform = detail::make_mode_transform<T>(cpu_context(), shape, "own");
    std::vector<std::complex<T>> spectrum(transform->spectrum_size());
    transform->to_modes(mesh.data(), spectrum.data(), -1);
    for (int x = 0; x < shape.extent[0]; ++x) {
      for (int y = 0; y < shape.extent[1]; ++y) {
        auto* const modes =
            spectrum.data() + static_cast<std::size_t>(x * shape.extent[1] + y) * transform->spectrum_row();
        for (int z = 0; z <= shape.extent[2] / 2; ++z) factor({x, y, z}, reinterpret_cast<T*>(modes + z));
      }
    }
    transform->to_mesh(spectrum.data(), mesh.data(), 1);
  }

  static void compare(const std::vector<T>& found, const std::vector<T>& expected) {
    T largest = 0;
    for (const T x : expected) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 200 * std::numeric_limits<T>::epsilon() * largest) << "mesh point " << i;
    }
  }
};

using real_planes_precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(real_planes_test, real_planes_precisions);

TYPED_TEST(real_planes_test, agree_with_transforms_on_the_cpu) {
  for (const std::array<int, 3>& extent : {std::array<int, 3>{54, 54, 54},
                                           {2, 2, 2},
                                           {2, 3, 2},
                                           {5, 4, 6},
                                           {3, 2, 4},
                                           {27, 25, 30},
                                           {16, 8, 128},
                                           {60, 54, 72},
                                           {75, 80, 90},
                                           {60, 108, 108}}) {
    SCOPED_TRACE(testing::Message() << extent[0] << " x " << extent[1] << " x " << extent[2]);
    this->expect_like_cpu(extent);
  }
}

TYPED_TEST(real_planes_test, serve_real_meshes_that_fit_a_block) {
  const cuda_context context;
  const detail::mode_band any{1, 0};
  const auto serves = [&](int x, int y, int z, bool real, int count) {
    return detail::real_planes<TypeParam>::serves(context, {{x, y, z}, {any, any, any}, real, count});
  };
  EXPECT_TRUE(serves(16, 16, 16, true, 1));
  EXPECT_FALSE(serves(16, 16, 16, false, 1));
  EXPECT_FALSE(serves(16, 16, 16, true, 2));
  EXPECT_FALSE(serves(1, 16, 16, true, 1));
  EXPECT_FALSE(serves(10'000, 16, 16, true, 1));
  EXPECT_FALSE(serves(16, 400, 400, true, 1));
}

}  // namespace

}  // namespace quadrat::test
