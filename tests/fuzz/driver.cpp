// SPDX-License-Identifier: BSD-3-Clause
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Runs a fuzz target without libFuzzer, and supports those of its arguments that a test needs:
//   files         are run unchanged
//   directories   contain inputs that are run, and then mutated -runs=N times, for at most -max_total_time=SECONDS
//   -seed=S       the same seed gives the same inputs
//   -max_len=L    longest input in bytes
// An input may take ten seconds and a gigabyte of memory (not limited under the sanitizers, which reserve more than
// exists). When the target dies, its input is written to the file crash-input in the working directory.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using input = std::vector<std::uint8_t>;

const input* running = nullptr;

extern "C" void save_input(int signal_number) {
  std::signal(signal_number, SIG_DFL);
  if (std::FILE* file = std::fopen("crash-input", "wb"); file != nullptr && running != nullptr) {
    std::fwrite(running->data(), 1, running->size(), file);
    std::fclose(file);
    std::fputs("fuzz: the target died; its input is in the file crash-input\n", stderr);
  }
  std::raise(signal_number);
}

constexpr unsigned seconds_an_input = 10;

void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr ::rlim_t most = ::rlim_t{1} << 30;
  const ::rlimit limit{most, most};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

void run(const input& one) {
  running = &one;
  ::alarm(seconds_an_input);
  LLVMFuzzerTestOneInput(one.data(), one.size());
  running = nullptr;
}

[[nodiscard]] input read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "fuzz: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Makes new inputs from known ones.
class mutator {
 public:
  mutator(std::vector<input> corpus, std::uint64_t seed, std::size_t longest)
      : corpus_(std::move(corpus)), random_(seed), longest_(longest) {
    corpus_.emplace_back();
  }

  [[nodiscard]] input next() {
    input result = corpus_[below(corpus_.size())];
    if (result.empty()) {
      result.resize(below(longest_ + 1));
      for (std::uint8_t& byte : result) byte = static_cast<std::uint8_t>(random_());
    }
    for (std::size_t changes = below(8); changes > 0; --changes) change(result);
    if (result.size() > longest_) result.resize(longest_);
    return result;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  template <typename Value>
  void overwrite(input& it, std::initializer_list<Value> values) {
    if (it.size() < sizeof(Value)) return;
    const Value value = values.begin()[below(values.size())];
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    // Numbers are mostly at multiples of their size.
    const std::size_t at = below(it.size() / sizeof(Value)) * sizeof(Value);
    std::copy(bytes, bytes + sizeof(Value), it.begin() + static_cast<std::ptrdiff_t>(at));
  }

  template <typename Real>
  void overwrite_with_number(input& it) {
    using limits = std::numeric_limits<Real>;
    overwrite<Real>(
        it, {Real(0), -Real(0), Real(1), Real(-1), Real(0.5), limits::epsilon(), limits::min(), limits::denorm_min(),
             limits::max(), limits::lowest(), limits::infinity(), -limits::infinity(), limits::quiet_NaN()});
  }

  /// Puts a word that text formats stumble over in place of a number, or inserts it.
  void replace_a_word(input& it, std::size_t at) {
    constexpr std::array<std::string_view, 30> words{"nan",
                                                     "inf",
                                                     "-inf",
                                                     "1e999",
                                                     "-1e-999",
                                                     "99999999999999999999",
                                                     "-9223372036854775808",
                                                     "1000000000000",
                                                     "0",
                                                     "-1",
                                                     "0x1",
                                                     "1_0",
                                                     "1e",
                                                     "true",
                                                     "\"\"",
                                                     "\"",
                                                     "'",
                                                     "[",
                                                     "]",
                                                     "[[",
                                                     "{",
                                                     "}",
                                                     "(",
                                                     ")",
                                                     ",",
                                                     "=",
                                                     "\n",
                                                     "\r\n",
                                                     "#",
                                                     "\xff"};
    const std::string_view word = words[below(words.size())];
    const auto is_of_number = [](std::uint8_t c) { return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == 'e'; };
    std::size_t first = at, end = at;
    while (first > 0 && is_of_number(it[first - 1])) --first;
    while (end < it.size() && is_of_number(it[end])) ++end;
    it.erase(it.begin() + static_cast<std::ptrdiff_t>(first), it.begin() + static_cast<std::ptrdiff_t>(end));
    const std::size_t times = below(20) == 0 ? below(400) : 1;  // deep nesting
    for (std::size_t k = 0; k < times; ++k) {
      it.insert(it.begin() + static_cast<std::ptrdiff_t>(first), word.begin(), word.end());
    }
  }

  void change(input& it) {
    const auto at = static_cast<std::ptrdiff_t>(below(it.size() + 1));
    const std::size_t rest = it.size() - static_cast<std::size_t>(at);
    const auto length = static_cast<std::ptrdiff_t>(below(rest < 16 ? rest + 1 : 16));
    switch (below(12)) {
      case 0:
        if (rest > 0) it[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        if (rest > 0) it[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random_());
        break;
      case 2:
        it.erase(it.begin() + at, it.begin() + at + length);
        break;
      case 3: {
        const input part(it.begin() + at, it.begin() + at + length);
        it.insert(it.begin() + static_cast<std::ptrdiff_t>(below(it.size() + 1)), part.begin(), part.end());
        break;
      }
      case 4: {
        const input& other = corpus_[below(corpus_.size())];
        it.resize(static_cast<std::size_t>(at));
        it.insert(it.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size() + 1)), other.end());
        break;
      }
      case 5:
        it.insert(it.begin() + at, static_cast<std::uint8_t>(random_()));
        break;
      case 6:
        overwrite_with_number<float>(it);
        break;
      case 7:
        it.resize(static_cast<std::size_t>(at));
        break;
      case 8:
      case 9:
        replace_a_word(it, static_cast<std::size_t>(at));
        break;
      case 10:
        overwrite<std::uint64_t>(it, {0, 1, 0x7fffffff, 0x100000000, ~std::uint64_t{0}, ~std::uint64_t{0} >> 1});
        break;
      default:
        overwrite_with_number<double>(it);
    }
  }

  std::vector<input> corpus_;
  std::mt19937_64 random_;
  std::size_t longest_;
};

}  // namespace

int main(int count, char** arguments) {
  std::uint64_t seed = 1, runs = 0, seconds = 0, longest = 4096;
  std::vector<input> corpus;
  for (int k = 1; k < count; ++k) {
    const std::string_view text = arguments[k];
    const auto number = [&] { return std::strtoull(arguments[k] + text.find('=') + 1, nullptr, 10); };
    if (text.starts_with("-seed=")) {
      seed = number();
    } else if (text.starts_with("-runs=")) {
      runs = number();
    } else if (text.starts_with("-max_total_time=")) {
      seconds = number();
    } else if (text.starts_with("-max_len=")) {
      longest = number();
    } else if (text.starts_with("-")) {
      std::fprintf(stderr, "fuzz: no such option as %s\n", arguments[k]);
      return 2;
    } else if (std::filesystem::is_directory(text)) {
      // Sorted by name, since file systems differ in their order.
      const std::filesystem::directory_iterator entries(text);
      const std::set<std::filesystem::path> files(begin(entries), end(entries));
      for (const auto& file : files) corpus.push_back(read(file));
    } else {
      corpus.push_back(read(text));
    }
  }
  for (const int one : {SIGABRT, SIGSEGV, SIGFPE, SIGALRM}) std::signal(one, save_input);
  limit_memory();
  for (const input& known : corpus) run(known);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  const std::size_t known = corpus.size();
  mutator inputs(std::move(corpus), seed, longest);
  std::uint64_t done = 0;
  for (; done < runs && (seconds == 0 || std::chrono::steady_clock::now() < end); ++done) run(inputs.next());
  std::printf("fuzz: %zu known inputs and %llu others, none of which did harm\n", known,
              static_cast<unsigned long long>(done));
  return 0;
}
