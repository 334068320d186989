// For tests: the functions of NCCL that the program uses, over a GPU that is none. Ranks are
// threads; a call is done when every rank's stream has come to it. Sums run from the last rank to
// the first, so that a sum in our own order shows.
#include <nccl.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parallel_impl/comm/nccl_fake_clique.hpp"
#include "parallel_impl/cuda/fake_gpu.hpp"

namespace {

using meshparity::Clique;
using meshparity::collective;
using meshparity::FakeComm;
using meshparity::FakeGpu;
using meshparity::Kind;
using meshparity::message;
using meshparity::Ready;

/// Calls between group start and end, which wait together.
struct OpenGroup {
  std::vector<Ready> parts;
  FakeComm* comm = nullptr;
  cudaStream_t stream = nullptr;
};
thread_local std::optional<OpenGroup> open_group;

void begin(FakeComm* comm, cudaStream_t stream, std::vector<Ready> parts) {
  FakeGpu::get().begin(
      stream, [] {},
      [comm, parts = std::move(parts)] {
        bool all = true;
        for (const Ready& part : parts) {
          all = part() && all;
        }
        return all || comm->aborted;
      });
}

ncclResult_t add(const char* function, FakeComm* comm, cudaStream_t stream, Ready ready) {
  const int code = FakeGpu::get().enter(function);
  if (FakeGpu::get().enter(std::string("inside ") + function) != 0) {
    comm->error = ncclSystemError;
    ready = [] { return false; };
  }
  if (FakeGpu::get().enter(std::string("without end in ") + function) != 0) {
    ready = [] { return false; };
  }
  if (code != 0) {
    return static_cast<ncclResult_t>(code);
  }
  if (open_group) {
    open_group->parts.push_back(std::move(ready));
    open_group->comm = comm;
    open_group->stream = stream;
  } else {
    begin(comm, stream, {std::move(ready)});
  }
  return ncclSuccess;
}

FakeComm* of(ncclComm_t comm) {
  return reinterpret_cast<FakeComm*>(comm);
}

std::shared_ptr<Clique> clique_of(const ncclUniqueId& id, int size) {
  static std::mutex lock;
  static std::map<std::string, std::shared_ptr<Clique>> cliques;
  const std::lock_guard locked(lock);
  std::shared_ptr<Clique>& clique = cliques[{id.internal, sizeof id.internal}];
  if (clique == nullptr) {
    clique = std::make_shared<Clique>();
    clique->size = size;
  }
  return clique;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> last{0};
  const int number = ++last;
  std::memcpy(id->internal, &number, sizeof number);
  return static_cast<ncclResult_t>(FakeGpu::get().enter("ncclGetUniqueId"));
}

// A rank whose call is planned to be under way for ever never joins.
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  const auto code = static_cast<ncclResult_t>(FakeGpu::get().enter("ncclCommInitRankConfig"));
  FakeGpu::get().enter(config->blocking == 0 ? "init without blocking" : "init that blocks");
  auto* const made = new FakeComm;
  made->clique = clique_of(id, size);
  made->rank = rank;
  made->clique->joined += code == ncclSuccess ? 1 : 0;
  *comm = reinterpret_cast<ncclComm_t>(made);
  return code == ncclSuccess ? ncclInProgress : code;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  const auto error = static_cast<ncclResult_t>(of(comm)->error.load());
  const bool begun = of(comm)->clique->joined == of(comm)->clique->size;
  *state = error != ncclSuccess ? error : (begun ? ncclSuccess : ncclInProgress);
  return static_cast<ncclResult_t>(FakeGpu::get().enter("ncclCommGetAsyncError"));
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  of(comm)->aborted = true;
  return static_cast<ncclResult_t>(FakeGpu::get().enter("ncclCommAbort"));
}

ncclResult_t ncclCommDestroy(ncclComm_t) {
  return static_cast<ncclResult_t>(FakeGpu::get().enter("ncclCommDestroy"));
}

ncclResult_t ncclGroupStart() {
  open_group.emplace();
  return static_cast<ncclResult_t>(FakeGpu::get().enter("ncclGroupStart"));
}

ncclResult_t ncclGroupEnd() {
  const OpenGroup group = *std::exchange(open_group, std::nullopt);
  if (group.comm != nullptr) {
    begin(group.comm, group.stream, group.parts);
  }
  return static_cast<ncclResult_t>(FakeGpu::get().enter("ncclGroupEnd"));
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  return add("ncclAllReduce", of(comm), stream,
             collective(of(comm), {Kind::all_reduce, from, to, count, type, operation, 0}));
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return add("ncclAllGather", of(comm), stream,
             collective(of(comm), {Kind::all_gather, from, to, count, type, ncclSum, 0}));
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  return add("ncclReduceScatter", of(comm), stream,
             collective(of(comm), {Kind::reduce_scatter, from, to, count, type, operation, 0}));
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream) {
  return add("ncclReduce", of(comm), stream,
             collective(of(comm), {Kind::reduce, from, to, count, type, operation, root}));
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return add("ncclBroadcast", of(comm), stream,
             collective(of(comm), {Kind::broadcast, from, to, count, type, ncclSum, root}));
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  FakeComm* const own = of(comm);
  return add("ncclSend", own, stream,
             message(own, {own->rank, peer}, own->sent[peer]++,
                     {from, nullptr, count * meshparity::bytes_of(type), false}));
}

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  FakeComm* const own = of(comm);
  return add("ncclRecv", own, stream,
             message(own, {peer, own->rank}, own->received[peer]++,
                     {nullptr, to, count * meshparity::bytes_of(type), false}));
}

ncclResult_t ncclGetVersion(int* version) {
  *version = 22809;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSystemError ? "unhandled system error" : "what NCCL says of it";
}

}  // extern "C"
