// SPDX-License-Identifier: BSD-3-Clause

// Included by insert_host.cpp for each instruction set, QUADRAT_INSERT_SET, and compiled for QUADRAT_INSERT_TARGET;
// hence no include guard. The set has `lanes`, and before(a, b): the last lane of a, then all lanes of b but the last.

template <>
struct insert_lanes<QUADRAT_INSERT_SET> {
  static constexpr int lanes = QUADRAT_INSERT_SET::lanes;
  using numbers = typename cpu_vector<double, lanes>::type;
  using words = typename cpu_vector<std::uint64_t, lanes>::type;
  using signed_words = typename cpu_vector<std::int64_t, lanes>::type;  // signed words compare faster

  template <std::size_t Vectors>
  QUADRAT_INSERT_TARGET static void into(const nearest_list::candidates& candidates, std::size_t count,
                                         nearest_list& list) {
    auto* const distances = reinterpret_cast<numbers*>(list.squared + nearest_group);
    auto* const ids = reinterpret_cast<words*>(list.key + nearest_group);
    numbers s[Vectors];
    words k[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) s[v] = distances[v], k[v] = ids[v];
    for (std::size_t candidate = 0; candidate < count; ++candidate) {
      const numbers d = numbers{} + candidates.squared[candidate];
      const words c = words{} + candidates.key[candidate];
      for (std::size_t v = Vectors; v-- > 0;) {
        const numbers s_before = QUADRAT_INSERT_SET::before(v > 0 ? s[v - 1] : numbers{} - 1, s[v]);
        const words k_before = QUADRAT_INSERT_SET::before(v > 0 ? k[v - 1] : words{}, k[v]);
        // A place takes the value before it, takes the candidate, or keeps its own.
        const auto moves = (d < s_before) | ((d == s_before) & (c < k_before));
        const auto takes = (d < s[v]) | ((d == s[v]) & (c < k[v]));
        s[v] = moves ? s_before : (takes ? d : s[v]);
        k[v] = moves ? k_before : (takes ? c : k[v]);
      }
    }
    for (std::size_t v = 0; v < Vectors; ++v) distances[v] = s[v], ids[v] = k[v];
  }

  /// A place gets the smaller of its word and the larger of the candidate and the word before.
  template <std::size_t Vectors>
  QUADRAT_INSERT_TARGET static void into(const packed_nearest_list::candidates& candidates, std::size_t count,
                                         packed_nearest_list& list) {
    auto* const places = reinterpret_cast<signed_words*>(list.word + nearest_group);
    signed_words w[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) w[v] = places[v];
    for (std::size_t candidate = 0; candidate < count; ++candidate) {
      const signed_words c = signed_words{} + static_cast<std::int64_t>(candidates.word[candidate]);
      for (std::size_t v = Vectors; v-- > 0;) {
        const signed_words before = QUADRAT_INSERT_SET::before(v > 0 ? w[v - 1] : signed_words{}, w[v]);
        const signed_words larger = before > c ? before : c;
        w[v] = w[v] < larger ? w[v] : larger;
      }
    }
    for (std::size_t v = 0; v < Vectors; ++v) places[v] = w[v];
  }

  template <typename List>
  static void run(const typename List::candidates& candidates, std::size_t count, List& list, std::size_t groups) {
    constexpr std::size_t vectors = nearest_group / static_cast<std::size_t>(lanes);
    if (groups == 1) return into<vectors>(candidates, count, list);
    if (groups == 2) return into<2 * vectors>(candidates, count, list);
    if (groups == 4) return into<4 * vectors>(candidates, count, list);
    into<8 * vectors>(candidates, count, list);
  }
};

#undef QUADRAT_INSERT_SET
#undef QUADRAT_INSERT_TARGET
