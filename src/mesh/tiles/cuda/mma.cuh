// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace quadrat::detail {

/// sum = before + left x right, as tile_mma has them, for chips whose tensor cores do not multiply numbers of this
/// type: each lane reads its rows and columns from others.
template <typename T>
__device__ __forceinline__ void add_by_shuffles(const T (&before)[4], T (&sum)[4], const T (&left)[4],
                                                const T (&right)[2]) {
  const int lane = static_cast<int>(threadIdx.x % 32), row = lane / 4 * 4, column = lane % 4 * 8;
  T own[4] = {before[0], before[1], before[2], before[3]};
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const int half = k / 4, other = k % 4;
    const T upper = __shfl_sync(~0u, left[2 * half], row + other);
    const T lower = __shfl_sync(~0u, left[2 * half + 1], row + other);
    const T even = __shfl_sync(~0u, right[half], column + other);
    const T odd = __shfl_sync(~0u, right[half], column + 4 + other);
    own[0] += upper * even, own[1] += upper * odd;
    own[2] += lower * even, own[3] += lower * odd;
  }
#pragma unroll
  for (int c = 0; c < 4; ++c) sum[c] = own[c];
}

/// One matrix product, 16 x 8 times 8 x 8, by a warp, in nearly the precision of T. Lane 4 g + t holds of the left
/// matrix (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4), of the right one (t, g), (t + 4, g), and of the sums (g, 2t),
/// (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). `multiply` gives the product, `add` adds it to sums.
template <typename T>
struct tile_mma;

/// Tensor cores use 11 bits of a float here; each factor is split into two such parts, and the three significant ones
/// of their four products are computed. Truncation errors have either sign, because the right factor is rounded to its
/// upper part: an error of some 2^-23.
template <>
struct tile_mma<float> {
  struct part {
    std::uint32_t high, low;
  };
  __device__ static part left_part(float a, float b) {
    const std::uint32_t high = __float_as_uint(a * b) & 0xffffe000u;
    return {high, __float_as_uint(__fmaf_rn(a, b, -__uint_as_float(high)))};
  }
  __device__ static part whole_part(float value) {
    const std::uint32_t high = __float_as_uint(value) & 0xffffe000u;
    return {high, __float_as_uint(value - __uint_as_float(high))};
  }
  __device__ static part right_part(float value) {
    const std::uint32_t high = (__float_as_uint(value) + 0x1000u) & 0xffffe000u;
    return {high, __float_as_uint(value - __uint_as_float(high))};
  }
  __device__ static void multiply(float (&fresh)[4], const part (&left)[4], const part (&right)[2]) {
    constexpr float none[4] = {};
    product(none, fresh, left[0].low, left[1].low, left[2].low, left[3].low, right[0].high, right[1].high);
    product(fresh, fresh, left[0].high, left[1].high, left[2].high, left[3].high, right[0].low, right[1].low);
    product(fresh, fresh, left[0].high, left[1].high, left[2].high, left[3].high, right[0].high, right[1].high);
  }
  /// Tensor cores truncate a sum's last digits instead of rounding, which accumulates: each product is summed
  /// separately.
  __device__ static void add(float (&sum)[4], const part (&left)[4], const part (&right)[2]) {
    float fresh[4];
    multiply(fresh, left, right);
#pragma unroll
    for (int c = 0; c < 4; ++c) sum[c] += fresh[c];
  }

 private:
  __device__ static void product(const float (&before)[4], float (&sum)[4], std::uint32_t a0, std::uint32_t a1,
                                 std::uint32_t a2, std::uint32_t a3, std::uint32_t b0, std::uint32_t b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(before[0]), "f"(before[1]), "f"(before[2]),
          "f"(before[3]));
#else
    const float left[4] = {__uint_as_float(a0), __uint_as_float(a1), __uint_as_float(a2), __uint_as_float(a3)};
    const float right[2] = {__uint_as_float(b0), __uint_as_float(b1)};
    add_by_shuffles(before, sum, left, right);
#endif
  }
};

template <>
struct tile_mma<double> {
  using part = double;
  __device__ static part left_part(double a, double b) { return a * b; }
  __device__ static part whole_part(double value) { return value; }
  __device__ static part right_part(double value) { return value; }
  __device__ static void multiply(double (&fresh)[4], const part (&left)[4], const part (&right)[2]) {
#pragma unroll
    for (int c = 0; c < 4; ++c) fresh[c] = 0;
    add(fresh, left, right);
  }
  __device__ static void add(double (&sum)[4], const part (&left)[4], const part (&right)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(left[0]), "d"(left[1]), "d"(left[2]), "d"(left[3]), "d"(right[0]), "d"(right[1]));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    add_quarter(sum[0], sum[1], left[0], right[0]);
    add_quarter(sum[0], sum[1], left[2], right[1]);
    add_quarter(sum[2], sum[3], left[1], right[0]);
    add_quarter(sum[2], sum[3], left[3], right[1]);
#else
    add_by_shuffles(sum, sum, left, right);
#endif
  }

 private:
  /// 8 x 4 times 4 x 8.
  __device__ static void add_quarter(double& even, double& odd, double left, double right) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(even), "+d"(odd)
        : "d"(left), "d"(right));
  }
};

}  // namespace quadrat::detail
