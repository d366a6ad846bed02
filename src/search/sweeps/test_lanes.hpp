// SPDX-License-Identifier: BSD-3-Clause

// Included by lanes_host.cpp for each instruction set, QUADRAT_LANES_SET, and compiled for QUADRAT_LANES_TARGET; hence
// no include guard. The set has `bytes`, the size of a register, and below(x, limit), a bit for each lane.

template <>
struct lanes_test<QUADRAT_LANES_SET> {
  template <typename T, int D>
  QUADRAT_LANES_TARGET static unsigned run(const candidate_lanes<T, D>& candidates, std::size_t first, std::size_t last,
                                           const vec<T, D>& from, const vec<T, D>& translation, T squared_reach,
                                           std::uint64_t* words) {
    // Adding 0 changes no square.
    const row_radius<T> none{};
    if (translation == vec<T, D>{})
      return test<false, cutoff_use::one>(candidates, first, last, from, translation, squared_reach, none, words);
    return test<true, cutoff_use::one>(candidates, first, last, from, translation, squared_reach, none, words);
  }

  template <cutoff_use Use, typename T, int D>
  QUADRAT_LANES_TARGET static unsigned run_radii(const candidate_lanes<T, D>& candidates, std::size_t first,
                                                 std::size_t last, const vec<T, D>& from, const vec<T, D>& translation,
                                                 const row_radius<T>& row, std::uint64_t* words) {
    if (translation == vec<T, D>{})
      return test<false, Use>(candidates, first, last, from, translation, T(0), row, words);
    return test<true, Use>(candidates, first, last, from, translation, T(0), row, words);
  }

 private:
  template <bool Translated, cutoff_use Use, typename T, int D>
  QUADRAT_LANES_TARGET static unsigned test(const candidate_lanes<T, D>& candidates, std::size_t first,
                                            std::size_t last, const vec<T, D>& from, const vec<T, D>& translation,
                                            T squared_reach, const row_radius<T>& row, std::uint64_t* words) {
    constexpr int count = QUADRAT_LANES_SET::bytes / sizeof(T);
    using vector = typename cpu_vector<T, count>::type;
    using anywhere = typename cpu_vector<T, count>::anywhere;
    unsigned char* bytes = cleared_bytes(words, last - first);
    vector limit = vector{} + squared_reach;
    [[maybe_unused]] const vector own = vector{} + row.radius;
    unsigned found = 0;
    for (std::size_t k = first; k < last; k += lanes_a_step) {
      unsigned mask = 0;
      for (unsigned part = 0; part < lanes_a_step; part += count) {
        vector sum{};
        for (int axis = 0; axis < D; ++axis) {
          const vector to = *reinterpret_cast<const anywhere*>(candidates.position[axis] + k + part);
          vector r = to - from[axis];
          if constexpr (Translated) r = r + translation[axis];
          sum = axis == 0 ? r * r : sum + r * r;
        }
        if constexpr (Use != cutoff_use::one) {
          const vector other = *reinterpret_cast<const anywhere*>(candidates.radius + k + part);
          vector cutoff = own + other;
          if constexpr (Use == cutoff_use::larger) cutoff = own < other ? other : own;
          cutoff = cutoff + row.skin;
          limit = cutoff * cutoff;
        }
        mask |= QUADRAT_LANES_SET::below(sum, limit) << part;
      }
      *bytes++ = static_cast<unsigned char>(mask);
      found += static_cast<unsigned>(__builtin_popcount(mask));
    }
    return found;
  }
};

#undef QUADRAT_LANES_SET
#undef QUADRAT_LANES_TARGET
