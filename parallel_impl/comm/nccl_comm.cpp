#include "parallel_impl/comm/nccl_comm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "parallel_impl/comm/nccl_puts.hpp"

namespace meshparity {
namespace {

bool is_pairwise(const Collective& request) {
  return request.kind == CollectiveKind::send || request.kind == CollectiveKind::receive;
}

bool is_sum(const Collective& request) {
  const bool sums =
      request.kind == CollectiveKind::all_reduce || request.kind == CollectiveKind::reduce_scatter;
  return sums && request.op == ReduceOp::sum;
}

bool is_floating(ElementType type) {
  return type == ElementType::float64 || type == ElementType::float32;
}

}  // namespace

NcclComm::NcclComm(NcclSide side, CudaStream& stream, NcclChoice choice)
    : Comm(), side_(side), stream_(stream), choice_(std::move(choice)) {}

// What was sent must have gone before its buffers do; a failure ends that wait.
NcclComm::~NcclComm() {
  try {
    for (const Call& call : sent_) {
      await_end(call);
    }
  } catch (const std::exception& error) {
    poison(error.what());
  }
}

void NcclComm::poison(const std::string& why) {
  side_.host.poison(why);
  for (const auto& [ranks, group] : groups_) {
    group->abort();
  }
}

/// Whatever a call ends in, but well: this rank's communicators are aborted and all peers told.
template <class Body>
void NcclComm::guarded(const Body& body) {
  try {
    body();
  } catch (const std::exception& error) {
    poison(error.what());
    throw;
  }
}

Ticket NcclComm::transport_start(const Collective& request, const CollectiveRow& row) {
  Ticket ticket;
  guarded([&] { ticket = start_call(request, row); });
  return ticket;
}

Ticket NcclComm::start_call(const Collective& request, const CollectiveRow& row) {
  Call call;
  call.row = row;
  call.waits = request.kind != CollectiveKind::send;
  if (is_pairwise(request)) {
    // All of the group begin here with their first message, whoever it is for.
    call.group = &group_of(request, row);
    leave_note(request);
  } else {
    meet(request);
    call.group = &group_of(request, row);
  }
  call.buffers = std::make_unique<GpuBuffers>(stream_);
  Collective on_gpu = call.buffers->on_gpu(request);
  if (!call.waits) {
    on_gpu.input = call.buffers->copy_of(on_gpu.input);
    CudaEvent copied;
    copied.record(stream_.get());
    copied.hold(sends_.get());
  }
  put(on_gpu, call);
  call.end = std::make_unique<CudaEvent>();
  call.end->record(stream_of(request).get());
  pending_.emplace(tickets_, std::move(call));
  return {tickets_++};
}

// The host's own call has no elements; what is entered stands in its site, so that ranks which
// enter something else are told apart.
void NcclComm::meet(const Collective& request) {
  Collective note;
  note.group = request.group;
  note.site = request.site;
  note.site.role = fmt::format("{} of {} at {}", collective_name(request.kind),
                               element_total(request), request.site.role);
  side_.host.carry_out(note);
}

// A send does not wait for its receiver, which takes the note before it asks for the message. The
// sender's clock comes with the note.
void NcclComm::leave_note(const Collective& request) {
  Collective note;
  note.kind = request.kind;
  note.group = request.group;
  note.peer = request.peer;
  note.clock = request.clock;
  note.site = request.site;
  note.site.role = fmt::format("{} elements at {}", moved_count(request), request.site.role);
  side_.host.carry_out(note);
}

NcclGroup& NcclComm::group_of(const Collective& request, const CollectiveRow& row) {
  const std::pair key{request.group.ranks, is_pairwise(request)};
  const auto known = groups_.find(key);
  if (known != groups_.end()) {
    return *known->second;
  }
  auto group = std::make_unique<NcclGroup>(side_, request.group, row);
  return *groups_.emplace(key, std::move(group)).first->second;
}

CudaStream& NcclComm::stream_of(const Collective& request) {
  return request.kind == CollectiveKind::send ? sends_ : stream_;
}

void NcclComm::put(const Collective& on_gpu, Call& call) {
  const bool ordered = choice_.ordered && is_sum(on_gpu) && is_floating(on_gpu.input.type);
  if (ordered) {
    put_ordered(on_gpu, call);
    return;
  }
  const NcclPut put{*call.group, stream_of(on_gpu).get(), call.row};
  put.carry_out(on_gpu);
}

/// What each member holds of this rank's part is gathered, and added here.
void NcclComm::put_ordered(const Collective& on_gpu, Call& call) {
  const NcclPut put{*call.group, stream_.get(), call.row};
  const CommGroup& group = on_gpu.group;
  const std::int64_t own = on_gpu.output.count;
  const Payload parts = call.buffers->scratch(own * group.size(), on_gpu.input.type);
  Collective gather = on_gpu;
  gather.output = parts;
  gather.output_parts.assign(group.ranks.size(), own);
  if (on_gpu.kind == CollectiveKind::all_reduce) {
    gather.kind = CollectiveKind::all_gather;
  } else {
    gather.kind = CollectiveKind::all_to_all;
    gather.input_parts = on_gpu.output_parts;
  }
  put.carry_out(gather);
  add_in_order(parts, on_gpu.output);
}

void NcclComm::add_in_order(const Payload& parts, const Payload& out) {
  if (out.count == 0) {
    return;
  }
  stream_.copy(parts.data, out.data, bytes_of(out), "beginning an ordered sum");
  for (std::int64_t first = out.count; first < parts.count; first += out.count) {
    choice_.add(part_of(parts, first, out.count), out);
  }
}

// What was sent is kept until it has gone.
void NcclComm::forget_ended_sends() {
  std::erase_if(sent_, [](const Call& call) { return call.end->passed("looking after a send"); });
}

void NcclComm::await_end(const Call& call) {
  const std::string doing = fmt::format("{}, waiting on the GPU for {}", side_.state.name(rank()),
                                        describe_call(call.row));
  call.group->await([&] { return call.end->passed(doing.c_str()); }, call.row,
                    "waiting on the GPU");
}

void NcclComm::transport_wait(Ticket ticket) {
  const auto found = pending_.find(ticket.id);
  Call call = std::move(found->second);
  pending_.erase(found);
  guarded([&] {
    if (call.waits) {
      await_end(call);
      call.buffers->bring_back();
    } else {
      sent_.push_back(std::move(call));
    }
    forget_ended_sends();
  });
}

void NcclComm::keep_own(const Collective& request) {
  const OwnContribution own = own_contribution(request);
  if (own.from != own.to) {
    stream_.copy(own.from, own.to, own.bytes, "keeping a contribution");
    stream_.finish("waiting for a contribution");
  }
}

}  // namespace meshparity
