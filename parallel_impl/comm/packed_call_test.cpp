#include "parallel_impl/comm/packed_call.hpp"

#include <gtest/gtest.h>

#include <span>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

Collective an_exchange() {
  Collective request;
  request.kind = CollectiveKind::all_to_all;
  request.group = {"dp,tp", {4, 0, 2}, 1};
  request.input = {nullptr, 5, ElementType::float32};
  request.output = {nullptr, 7, ElementType::float32};
  request.input_parts = {0, 2, 3};
  request.output_parts = {3, 2, 2};
  request.peer = 2;
  request.op = ReduceOp::max;
  request.site = {3, "mlp.down", "backward", 2, 1};
  return request;
}

TEST(PackedCall, ComesOutAsItWentIn) {
  const Collective request = an_exchange();
  CollectiveRow row = ledger_row(request);
  row.sequence = 17;

  const UnpackedCall call = unpack_call(pack_call(request, row));

  EXPECT_EQ(call.request.kind, request.kind);
  EXPECT_EQ(call.request.group.axis, request.group.axis);
  EXPECT_EQ(call.request.group.ranks, request.group.ranks);
  EXPECT_EQ(call.request.group.index, 1);
  EXPECT_EQ(call.request.input.count, 5);
  EXPECT_EQ(call.request.input.type, ElementType::float32);
  EXPECT_EQ(call.request.output.count, 7);
  EXPECT_EQ(call.request.input_parts, request.input_parts);
  EXPECT_EQ(call.request.output_parts, request.output_parts);
  EXPECT_EQ(call.request.peer, 2);
  EXPECT_EQ(call.request.op, ReduceOp::max);
  EXPECT_EQ(call.row.site, "layer3.mlp.down/backward");
  EXPECT_EQ(call.row.sequence, 17);
  EXPECT_EQ(call.row.step, 2);
  EXPECT_EQ(call.row.mb, 1);
}

TEST(PackedCall, CutShortOrTooLongIsRefused) {
  const Collective request = an_exchange();
  std::vector<std::byte> bytes = pack_call(request, ledger_row(request));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(unpack_call(std::span(bytes).first(size)), Error) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_THROW(unpack_call(bytes), Error);
}

}  // namespace
}  // namespace meshparity
