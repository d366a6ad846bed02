// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/tiles/cpu/loops.hpp"

namespace quadrat::detail {

namespace {

/// For CPUs without a vector implementation here. Products are rounded: a fused operation would be a function call.
template <typename T>
struct plain_lanes {
  using value = T;
  static constexpr int count = 4;
  template <int Size>
  struct pack {
    T lane[Size];
  };
  using vector = pack<count>;
  using eight = pack<8>;

  static vector zero() { return vector{}; }
  static vector fill(T x) { return {{x, x, x, x}}; }
  static vector load(const T* from) { return {{from[0], from[1], from[2], from[3]}}; }
  static vector load_any(const T* from) { return load(from); }
  static void store(T* to, const vector& x) {
    for (int k = 0; k < count; ++k) to[k] = x.lane[k];
  }
  static void store_any(T* to, const vector& x) { store(to, x); }
  static vector add(const vector& a, const vector& b) { return fused(a, fill(T(1)), b); }
  static vector multiply(const vector& a, const vector& b) {
    vector c;
    for (int k = 0; k < count; ++k) c.lane[k] = a.lane[k] * b.lane[k];
    return c;
  }
  template <int Size>
  static pack<Size> fused(const pack<Size>& a, const pack<Size>& b, const pack<Size>& c) {
    pack<Size> d;
    for (int k = 0; k < Size; ++k) d.lane[k] = a.lane[k] * b.lane[k] + c.lane[k];
    return d;
  }
  static vector fused_where_not_zero(const vector& a, const vector& b, const vector& c) {
    vector d;
    for (int k = 0; k < count; ++k) d.lane[k] = a.lane[k] != T(0) ? a.lane[k] * b.lane[k] + c.lane[k] : c.lane[k];
    return d;
  }
  template <int Components>
  static vector fill_repeated(const T* values) {
    constexpr int second = Components - 1;
    return {{values[0], values[second], values[0], values[second]}};
  }
  template <int Components>
  static void sum(const vector& x, T* to) {
    const T even = x.lane[0] + x.lane[2], odd = x.lane[1] + x.lane[3];
    if constexpr (Components == 1) {
      to[0] = even + odd;
    } else {
      to[0] = even;
      to[1] = odd;
    }
  }

  static eight eight_fill(T x) { return {{x, x, x, x, x, x, x, x}}; }
  static eight eight_load(const T* from) {
    eight x;
    for (int k = 0; k < 8; ++k) x.lane[k] = from[k];
    return x;
  }
  static void eight_store(T* to, const eight& x) {
    for (int k = 0; k < 8; ++k) to[k] = x.lane[k];
  }
  static eight eight_fused(const eight& a, const eight& b, const eight& c) { return fused(a, b, c); }
  template <int Components>
  static void put_repeated(T* to, const eight& x) {
    for (int k = 0; k < 8 * Components; ++k) to[k] = x.lane[k / Components];
  }
};

}  // namespace

const tile_functions<float>* plain_tile_functions(float) {
  static const tile_functions<float> functions = make_tile_functions<plain_lanes<float>>();
  return &functions;
}
const tile_functions<double>* plain_tile_functions(double) {
  static const tile_functions<double> functions = make_tile_functions<plain_lanes<double>>();
  return &functions;
}

}  // namespace quadrat::detail
