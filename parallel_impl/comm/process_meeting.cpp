#include "parallel_impl/comm/process_meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/process_wait.hpp"

namespace meshparity {
namespace {

// FNV-1a over the ranks, in whatever order they are given.
std::uint64_t hash_of(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::uint64_t hash = 14695981039346656037U;
  for (const int rank : ranks) {
    hash = (hash ^ static_cast<std::uint64_t>(rank)) * 1099511628211U;
  }
  return hash;
}

// Of a broadcast, only the root has something to show.
std::size_t shown_bytes(const Collective& request) {
  const bool shows =
      request.kind != CollectiveKind::broadcast || request.peer == request.group.index;
  return shows ? static_cast<std::size_t>(request.input.count) * element_bytes(request.input.type)
               : 0;
}

}  // namespace

ProcessMeeting::ProcessMeeting(ProcessWorld& world, const Entry& mine, std::uint64_t number,
                               std::uint64_t sequence)
    : world_(world),
      mine_(mine),
      number_(number),
      group_(hash_of(mine.request->group.ranks)),
      sequence_(sequence),
      calls_(mine.request->group.ranks.size()),
      unpacked_(calls_.size()) {}

void ProcessMeeting::enter() {
  if (world_.state().failed()) {
    world_.state().throw_peer_failed(*mine_.row, rank());
  }
  show();
  advance(ProcessLine::shown);
  await([this](std::size_t index) { return calls_[index] == 0; });
  if (mine_.request->kind == CollectiveKind::all_to_all) {
    std::vector<Entry> entries;
    for (const UnpackedCall& call : unpacked_) {
      entries.push_back({&call.request, &call.row});
    }
    const std::string unlike = describe_unlike_parts(world_.state(), mine_, entries);
    if (!unlike.empty()) {
      fail_and_throw(unlike);
    }
  }
}

void ProcessMeeting::show() const {
  ProcessLine& line = world_.line(rank());
  line.progress.store(number_ * ProcessLine::kStages + ProcessLine::writing);
  const std::vector<std::byte> packed = pack_call(*mine_.request, *mine_.row);
  const std::size_t bytes = shown_bytes(*mine_.request);
  if (packed.size() > line.packed.size() || bytes > ProcessWorld::kAreaBytes) {
    fail_and_throw(
        fmt::format("{}: {} bytes of values in {} bytes of words exceed what a rank can "
                    "show to others ({} and {})",
                    describe_call(*mine_.row), bytes, packed.size(), ProcessWorld::kAreaBytes,
                    line.packed.size()));
  }
  std::copy(packed.begin(), packed.end(), line.packed.begin());
  line.packed_bytes = packed.size();
  if (bytes > 0) {
    std::memcpy(world_.exhibit(rank()), mine_.request->input.data, bytes);
  }
  line.group.store(group_);
  line.sequence.store(sequence_);
}

void ProcessMeeting::advance(ProcessLine::Stage stage) const {
  world_.line(rank()).progress.store(number_ * ProcessLine::kStages + stage);
  for (const int member : members()) {
    if (member != rank()) {
      world_.ring(member);
    }
  }
}

// A line that changes while it is read is looked at again later.
bool ProcessMeeting::shows_this_call(int member) const {
  const ProcessLine& line = world_.line(member);
  const std::uint64_t before = line.progress.load();
  const bool same = line.group.load() == group_ && line.sequence.load() == sequence_;
  return same && before % ProcessLine::kStages != ProcessLine::writing &&
         line.progress.load() / ProcessLine::kStages == before / ProcessLine::kStages;
}

void ProcessMeeting::find_members() {
  for (std::size_t index = 0; index < calls_.size(); ++index) {
    const int member = members()[index];
    if (calls_[index] == 0 && shows_this_call(member)) {
      const ProcessLine& line = world_.line(member);
      calls_[index] = line.progress.load() / ProcessLine::kStages;
      unpacked_[index] = unpack_call({line.packed.data(), line.packed_bytes});
      refuse_unlike(index);
    }
  }
}

void ProcessMeeting::refuse_unlike(std::size_t index) const {
  const UnpackedCall& other = unpacked_[index];
  const std::string difference =
      describe_difference(world_.state(), mine_, {&other.request, &other.row});
  if (!difference.empty()) {
    fail_and_throw(difference);
  }
}

std::vector<Shown> ProcessMeeting::shown() const {
  std::vector<Shown> shown;
  for (std::size_t index = 0; index < unpacked_.size(); ++index) {
    const Collective& request = unpacked_[index].request;
    Payload input = request.input;
    input.data = world_.exhibit(members()[index]);
    shown.push_back({input, &request.input_parts});
  }
  return shown;
}

void ProcessMeeting::reach(ProcessLine::Stage stage) {
  advance(stage);
  await([&](std::size_t index) {
    const std::uint64_t progress = world_.line(members()[index]).progress.load();
    return progress < calls_[index] * ProcessLine::kStages + stage;
  });
}

template <class Missing>
void ProcessMeeting::await(const Missing& missing) {
  const auto absent = [&] {
    std::vector<int> ranks;
    for (std::size_t index = 0; index < calls_.size(); ++index) {
      if (missing(index)) {
        ranks.push_back(members()[index]);
      }
    }
    return ranks;
  };
  const auto done = [&] {
    find_members();
    return absent().empty();
  };
  const auto hopeless = [&] {  // whoever came and then ended is not missed
    const std::vector<int> ranks = absent();
    const auto ended = [&](int member) { return world_.state().has_ended(member); };
    return std::any_of(ranks.begin(), ranks.end(), ended) && !done();
  };
  const WaitEnd end = wait_on_bell(world_, rank(), done, hopeless);
  if (end == WaitEnd::peer_failed) {
    world_.state().throw_peer_failed(*mine_.row, rank());
  }
  if (end != WaitEnd::done) {
    fail_and_throw(describe_wait(world_.state(), rank(), *mine_.row, absent(), end));
  }
}

void ProcessMeeting::fail_and_throw(const std::string& what) const {
  world_.poison(rank(), what);
  throw Error(what);
}

}  // namespace meshparity
