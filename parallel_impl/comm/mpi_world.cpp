#include "parallel_impl/comm/mpi_world.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstring>
#include <list>
#include <thread>
#include <utility>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/mpi_calls.hpp"
#include "parallel_impl/comm/patient_wait.hpp"
#include "parallel_impl/comm/thread_world.hpp"

namespace meshparity {
namespace {

constexpr int kFailureTag = 99;
constexpr std::chrono::microseconds kBreath{50};
// A message may still be on its way when its sender is known to have ended.
constexpr std::chrono::milliseconds kOnItsWay{300 * kSlowness};

int tag_of(MpiWorld::Stream stream) {
  return static_cast<int>(stream);
}

}  // namespace

struct MpiWorld::Handles {
  struct Sent {
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  MPI_Comm comm = MPI_COMM_NULL;  // of the case; null where this process takes no part
  MPI_Comm node = MPI_COMM_NULL;  // its ranks on this machine
  MPI_Win window = MPI_WIN_NULL;  // the memory they share
  std::list<Sent> sent;

  std::byte* share(std::size_t bytes);
};

// The first rank of a machine has all the memory, the others look at it.
std::byte* MpiWorld::Handles::share(std::size_t bytes) {
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
            "finding the ranks of this machine");
  int place = 0;
  MPI_Comm_rank(node, &place);
  void* own = nullptr;
  const MPI_Aint asked = place == 0 ? static_cast<MPI_Aint>(bytes) : 0;
  check_mpi(MPI_Win_allocate_shared(asked, 1, MPI_INFO_NULL, node, &own, &window),
            "sharing memory between the ranks of this machine");
  void* first = nullptr;
  MPI_Aint size = 0;
  int unit = 0;
  check_mpi(MPI_Win_shared_query(window, 0, &size, &unit, &first), "finding the shared memory");
  if (place == 0) {
    std::memset(first, 0, bytes);
  }
  check_mpi(MPI_Barrier(node), "beginning a case together");
  return static_cast<std::byte*>(first);
}

MpiWorld::MpiWorld(std::vector<std::string> coordinates, std::chrono::milliseconds limit)
    : handles_(std::make_unique<Handles>()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  const auto size = static_cast<int>(coordinates.size());
  check_mpi(
      MPI_Comm_split(MPI_COMM_WORLD, rank_ < size ? 0 : MPI_UNDEFINED, rank_, &handles_->comm),
      "choosing the ranks of a case");
  if (rank_ >= size) {
    state_.emplace(std::move(coordinates), limit);
    return;
  }
  std::byte* const shared = handles_->share(WorldState::bytes_for(coordinates.size()));
  state_.emplace(std::move(coordinates), limit, shared);
}

// After a failure messages may be under way: what they are read from must stay, and so it is left
// to the end of the process.
MpiWorld::~MpiWorld() {
  if (!takes_part()) {
    return;
  }
  const bool failed = state_->failed();
  state_.reset();
  MPI_Win_free(&handles_->window);
  MPI_Comm_free(&handles_->node);
  if (failed) {
    static_cast<void>(handles_.release());
  } else {
    MPI_Comm_free(&handles_->comm);
  }
}

void MpiWorld::send(int to, Stream stream, std::vector<std::byte> bytes) {
  Handles::Sent& sent = handles_->sent.emplace_back();
  sent.bytes = std::move(bytes);
  check_mpi(MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, to,
                      tag_of(stream), handles_->comm, &sent.request),
            "sending to another rank");
}

std::vector<std::byte> MpiWorld::take(int from, Stream stream, const CollectiveRow& row) {
  std::optional<std::chrono::steady_clock::time_point> seen_ended;
  const auto done = [&] { return arrived(from, stream); };
  const auto hopeless = [&] {
    if (!state_->has_ended(from)) {
      return false;
    }
    const auto now = std::chrono::steady_clock::now();
    seen_ended = seen_ended.value_or(now);
    return now - *seen_ended > kOnItsWay;
  };
  const auto sleep = [&](std::chrono::milliseconds longest) { return nap(done, longest); };
  const WaitEnd end =
      yield_until(done) ? WaitEnd::done : wait_patiently(sleep, *state_, done, hopeless);
  if (end == WaitEnd::peer_failed) {
    state_->throw_peer_failed(row, rank_);
  }
  if (end != WaitEnd::done) {
    const std::string why = describe_wait(*state_, rank_, row, {from}, end);
    poison(why);
    throw Error(why);
  }
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  check_mpi(MPI_Mprobe(from, tag_of(stream), handles_->comm, &message, &status),
            "finding a message");
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  check_mpi(MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, &status), "receiving a message");
  return bytes;
}

bool MpiWorld::arrived(int from, Stream stream) {
  int found = 0;
  check_mpi(MPI_Iprobe(from, tag_of(stream), handles_->comm, &found, MPI_STATUS_IGNORE),
            "looking for a message");
  return found != 0;
}

// Lets messages go, and hears of failures on other machines.
bool MpiWorld::progress() {
  handles_->sent.remove_if([](Handles::Sent& sent) {
    int gone = 0;
    check_mpi(MPI_Test(&sent.request, &gone, MPI_STATUS_IGNORE), "letting a message go");
    return gone != 0;
  });
  int found = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, kFailureTag, handles_->comm, &found, &status),
            "looking for failures");
  if (found == 0) {
    return false;
  }
  int size = 0;
  MPI_Get_count(&status, MPI_CHAR, &size);
  std::string why(static_cast<std::size_t>(size), '\0');
  check_mpi(MPI_Recv(why.data(), size, MPI_CHAR, status.MPI_SOURCE, kFailureTag, handles_->comm,
                     MPI_STATUS_IGNORE),
            "hearing of a failure");
  state_->fail(status.MPI_SOURCE, why);
  return true;
}

template <class Done>
bool MpiWorld::nap(const Done& done, std::chrono::milliseconds longest) {
  const auto until = std::chrono::steady_clock::now() + longest;
  while (std::chrono::steady_clock::now() < until) {
    if (done() || progress() || state_->failed()) {
      return true;
    }
    std::this_thread::sleep_for(kBreath);
  }
  return false;
}

void MpiWorld::poison(const std::string& why) {
  const bool first = !state_->failed();
  state_->fail(rank_, why);
  for (int other = 0; first && other < size(); ++other) {
    Handles::Sent& sent = handles_->sent.emplace_back();
    const auto* const begin = reinterpret_cast<const std::byte*>(why.data());
    sent.bytes.assign(begin, begin + why.size());
    check_mpi(MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_CHAR, other,
                        kFailureTag, handles_->comm, &sent.request),
              "telling of a failure");
  }
}

// No limit: a rank may compute for long after its last call. Whoever started the ranks watches the
// board.
std::int64_t MpiWorld::await_all(std::int64_t value) {
  std::int64_t total = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(&value, &total, 1, MPI_INT64_T, MPI_SUM, handles_->comm, &request),
            "ending a case together");
  const auto all_came = [&] {
    int came = 0;
    check_mpi(MPI_Test(&request, &came, MPI_STATUS_IGNORE), "ending a case together");
    return came != 0;
  };
  while (!all_came()) {
    nap(all_came, state_->limit());
    if (state_->failed()) {
      const RankFailure failure = state_->first_failure().value();
      throw PeerFailed(fmt::format("{} failed: {}", state_->name(failure.rank), failure.what));
    }
  }
  return total;
}

}  // namespace meshparity
