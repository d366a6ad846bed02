// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/in_process.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "distributed/ranks/device_parcels.hpp"
#include "distributed/ranks/direct_ranks.hpp"

namespace quadrat {

namespace {

using detail::parcel;

/// The state that the ranks of one process share. Everything that another rank reads is here or behind shared pointers,
/// so that a rank that fails takes nothing away from the others. Waiting ranks poll atomic variables. The mutex
/// protects the mail, and ranks that have stopped polling and sleep.
class hub {
 public:
  explicit hub(int size)
      : size_(size),
        looks_(static_cast<unsigned>(4 * size) <= std::thread::hardware_concurrency()),
        places_(static_cast<std::size_t>(size)),
        mail_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)),
        marks_(static_cast<std::size_t>(size)) {}

  [[nodiscard]] int size() const { return size_; }

  /// Waits until all ranks are here, then calls take(data of a rank) for each rank in order.
  template <typename Take>
  void meet(int rank, std::span<const std::byte> mine, const Take& take) {
    place& own = places_[static_cast<std::size_t>(rank)];
    const std::uint64_t all = ++own.rounds * static_cast<std::uint64_t>(size_);
    // Double buffer: no rank enters round k + 2 before all have read round k.
    const std::size_t turn = own.rounds % 2;
    own.given[turn].assign(mine.begin(), mine.end());
    if (arrived_.fetch_add(1) + 1 == all) {
      wake();
    } else {
      await([&] { return arrived_.load() >= all; });
    }
    for (const place& one : places_) take(one.given[turn]);
  }

  void post(int from, const std::shared_ptr<parcel>& one) {
    box& target = box_of(from, one->to);
    {
      const std::lock_guard lock(mutex_);
      target.parcels.push_back(one);
    }
    target.count.fetch_add(1);
    wake();
  }
  [[nodiscard]] std::shared_ptr<parcel> next(int from, int to) {
    box& source = box_of(from, to);
    await([&] { return source.count.load() > 0; });
    source.count.fetch_sub(1);
    const std::lock_guard lock(mutex_);
    auto one = source.parcels.front();
    source.parcels.pop_front();
    return one;
  }
  void mark_taken(parcel& one) {
    one.taken.store(true);
    wake();
  }
  void wait_until_taken(const parcel& one) {
    await([&] { return one.taken.load(); });
  }

  /// Stores the first failure and wakes all waiting ranks.
  void fail(int rank, const std::exception_ptr& problem, const std::string& words) {
    {
      const std::lock_guard lock(mutex_);
      if (failed_.load() < 0) {
        problem_ = problem;
        words_ = words;
        failed_.store(rank);
      }
      stop_.set();
    }
    wake();
  }
  /// A word that kernels poll; nonzero when a rank has failed.
  [[nodiscard]] const std::uint32_t* stop_flag(const cuda_context& context) {
    const std::lock_guard lock(mutex_);
    return stop_.open_to(context);
  }
  [[nodiscard]] const std::exception_ptr& problem() const { return problem_; }
  /// The marks of a rank. Kept here, because others may still read the marks of a rank that has ended.
  [[nodiscard]] detail::stream_marks& marks(int rank) { return marks_[static_cast<std::size_t>(rank)]; }

 private:
  /// A rank's number of meetings, and its data at even and odd ones. One cache line.
  struct alignas(64) place {
    std::uint64_t rounds = 0;  ///< only its rank reads this
    std::vector<std::byte> given[2];
  };
  /// Parcels on their way from one rank to another; `count` of them are ready.
  struct box {
    std::atomic<std::size_t> count{0};
    std::deque<std::shared_ptr<parcel>> parcels;
  };

  [[nodiscard]] box& box_of(int from, int to) {
    return mail_[static_cast<std::size_t>(from) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(to)];
  }

  /// To be called after each change that others may wait for. A rank that goes to sleep first counts itself, then
  /// checks its condition once more. All these variables are sequentially consistent, so either the rank sees the
  /// change, or it is seen here.
  void wake() {
    if (sleepers_.load() == 0) return;
    { const std::lock_guard lock(mutex_); }
    changed_.notify_all();
  }
  /// Polls for a while before it sleeps, if there are enough cores. Waking a thread takes ten times as long as most
  /// waits between ranks that have a device each.
  template <typename Condition>
  void await(const Condition& condition) {
    using clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds patience(200);
    const auto over = [&] { return condition() || failed_.load() >= 0; };
    bool done = over();
    if (!done && looks_) {
      for (const auto begin = clock::now(); !done && clock::now() - begin < patience;) done = over();
    }
    if (!done) {
      std::unique_lock lock(mutex_);
      sleepers_.fetch_add(1);
      changed_.wait(lock, over);
      sleepers_.fetch_sub(1);
    }
    if (failed_.load() >= 0) throw rank_error(failed_.load(), words_);
  }

  // All that waiting ranks poll is in one cache line.
  alignas(64) std::atomic<std::uint64_t> arrived_{0};  ///< arrivals of all ranks in all rounds together
  std::atomic<int> failed_{-1};                        ///< the first rank that has failed
  std::atomic<int> sleepers_{0};
  int size_;
  bool looks_;
  std::vector<place> places_;
  std::vector<box> mail_;  ///< [from][to]
  std::vector<detail::stream_marks> marks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr problem_;
  std::string words_;
  detail::device_flag stop_;
};

class thread_communicator final : public communicator, public detail::direct_ranks {
 public:
  thread_communicator(hub& all, int rank) : hub_(all), rank_(rank), marks_(static_cast<std::size_t>(all.size())) {
    for (int other = 0; other < all.size(); ++other) {
      if (other != rank) others_.push_back(other);
    }
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return hub_.size(); }
  [[nodiscard]] std::string name() const override { return "threads"; }

  void barrier() override {
    hub_.meet(rank_, {}, [](const auto&) {});
  }
  void all_gather(const void* mine, void* all, std::size_t bytes) override {
    auto* place = static_cast<std::byte*>(all);
    hub_.meet(rank_, {static_cast<const std::byte*>(mine), bytes}, [&](const std::vector<std::byte>& one) {
      require(one.size() == bytes, "a rank gathers ", one.size(), " bytes, but rank ", rank_, " gathers ", bytes);
      if (bytes > 0) std::memcpy(place, one.data(), bytes);
      place += bytes;
    });
  }
  void all_to_all(const void* sent, void* received, std::size_t bytes) override {
    auto* place = static_cast<std::byte*>(received);
    const std::size_t all_bytes = bytes * static_cast<std::size_t>(size());
    hub_.meet(rank_, {static_cast<const std::byte*>(sent), all_bytes}, [&](const std::vector<std::byte>& one) {
      require(one.size() == all_bytes, "a rank sends ", one.size(), " bytes to all, but rank ", rank_, " sends ",
              all_bytes);
      if (bytes > 0) std::memcpy(place, one.data() + static_cast<std::size_t>(rank_) * bytes, bytes);
      place += bytes;
    });
  }
  void add_up(std::uint64_t* values, std::size_t count) override {
    const std::size_t bytes = count * sizeof(std::uint64_t);
    std::vector<std::uint64_t> sums(count);
    hub_.meet(rank_, std::as_bytes(std::span(values, count)), [&](const std::vector<std::byte>& one) {
      require(one.size() == bytes, "a rank adds up ", one.size(), " bytes, but rank ", rank_, " adds up ", bytes);
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t value = 0;
        std::memcpy(&value, one.data() + i * sizeof(value), sizeof(value));
        sums[i] += value;
      }
    });
    std::copy(sums.begin(), sums.end(), values);
  }

  /// Copies host memory at once, so that the sender need not wait.
  void start(const cpu_context&, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override {
    expect(sends, receives);
    for (const outgoing_message& one : sends) {
      auto posted = std::make_shared<parcel>(one.to, one.data, one.bytes);
      const auto* const first = static_cast<const std::byte*>(one.data);
      posted->copy.assign(first, first + one.bytes);
      hub_.post(rank_, posted);
    }
  }
  void finish(const cpu_context&) override {
    receive([](const parcel& one, void* to) { std::memcpy(to, one.copy.data(), one.bytes); });
  }
  void start(const cuda_context& context, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override {
    expect(sends, receives);
    for (const outgoing_message& one : sends) {
      sent_.push_back(std::make_shared<parcel>(one.to, one.data, one.bytes));
      detail::mark_ready(context, *sent_.back());
      hub_.post(rank_, sent_.back());
    }
  }
  void finish(const cuda_context& context) override {
    receive([&](parcel& one, void* to) {
      detail::take_parcel(context, one, to);
      hub_.mark_taken(one);
    });
    for (const auto& one : sent_) {
      hub_.wait_until_taken(*one);
      detail::wait_until_copied(context, *one);
    }
    sent_.clear();
  }

  [[nodiscard]] bool reach(const cuda_context& context) override {
    int open = 1;
    const auto devices = all_values(*this, context.device());
    for (const int device : devices) {
      if (!detail::open_memory(context, device)) open = 0;
    }
    // For debugging, this variable makes each launch wait for its kernel. Then kernels cannot wait for each other.
    const bool apart = std::getenv("CUDA_LAUNCH_BLOCKING") == nullptr &&
                       std::set(devices.begin(), devices.end()).size() == devices.size();
    stop_ = apart ? hub_.stop_flag(context) : nullptr;
    const auto all = all_values(*this, open);
    return std::find(all.begin(), all.end(), 0) == all.end();
  }
  [[nodiscard]] const std::uint32_t* stop_flag() const override { return stop_; }
  void count_written(std::size_t bytes) override {
    const outgoing_message to_another{rank_ == 0 ? 1 : 0, nullptr, bytes};
    if (size() > 1) count({&to_another, 1});
  }
  void mark(const cuda_context& context) override { hub_.marks(rank_).set(context); }
  [[nodiscard]] std::span<const int> others() const override { return others_; }
  void pass_marks(const cuda_context& context, std::span<const int> whose, const void* mine, void* all,
                  std::size_t bytes) override {
    marked_.resize(sizeof(void*) + bytes);
    void* const last = hub_.marks(rank_).last();
    std::memcpy(marked_.data(), &last, sizeof(last));
    if (bytes > 0) std::memcpy(marked_.data() + sizeof(last), mine, bytes);
    auto* place = static_cast<std::byte*>(all);
    std::size_t rank = 0;
    hub_.meet(rank_, marked_, [&](const std::vector<std::byte>& one) {
      require(one.size() == marked_.size(), "a rank gathers ", one.size(), " bytes, but rank ", rank_, " gathers ",
              marked_.size());
      std::memcpy(&marks_[rank++], one.data(), sizeof(void*));
      if (bytes > 0) std::memcpy(place, one.data() + sizeof(void*), bytes);
      place += bytes;
    });
    for (const int other : whose) detail::wait_for_mark(context, marks_[static_cast<std::size_t>(other)]);
  }

 private:
  void expect(std::span<const outgoing_message> sends, std::span<const incoming_message> receives) {
    for (const outgoing_message& one : sends) {
      require(one.to >= 0 && one.to < size(), "a message is for rank ", one.to, "; there are ", size());
    }
    for (const incoming_message& one : receives) {
      require(one.from >= 0 && one.from < size(), "a message is from rank ", one.from, "; there are ", size());
    }
    count(sends);
    expected_.assign(receives.begin(), receives.end());
  }
  template <typename Take>
  void receive(const Take& take) {
    for (const incoming_message& one : expected_) {
      const auto arrived = hub_.next(one.from, rank_);
      require(arrived->bytes == one.bytes, "a message of rank ", one.from, " has ", arrived->bytes, " bytes; rank ",
              rank_, " expects ", one.bytes);
      take(*arrived, one.data);
    }
    expected_.clear();
  }

  hub& hub_;
  int rank_;
  std::vector<std::shared_ptr<parcel>> sent_;
  std::vector<incoming_message> expected_;
  std::vector<int> others_;
  std::vector<std::byte> marked_;  ///< the data that this rank gives with its mark
  std::vector<void*> marks_;       ///< by rank
  const std::uint32_t* stop_ = nullptr;
};

void run_one(hub& all, int rank, const std::function<void(communicator&)>& body) {
  thread_communicator ranks(all, rank);
  try {
    body(ranks);
  } catch (const std::exception& problem) {
    all.fail(rank, std::current_exception(), problem.what());
  } catch (...) {
    all.fail(rank, std::current_exception(), "an exception without words");
  }
}

}  // namespace

void run_ranks(int count, const std::function<void(communicator&)>& body) {
  constexpr int most = 4096;
  require(count >= 1 && count <= most, "the number of ranks is ", count, "; 1 to ", most, " are possible");
  hub all(count);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  try {
    for (int rank = 0; rank < count; ++rank) threads.emplace_back(run_one, std::ref(all), rank, std::cref(body));
  } catch (const std::exception& problem) {
    all.fail(static_cast<int>(threads.size()), std::current_exception(), problem.what());
  }
  for (std::thread& one : threads) one.join();
  if (all.problem() != nullptr) std::rethrow_exception(all.problem());
}

}  // namespace quadrat
