#include "parallel_impl/comm/collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

constexpr std::array<std::string_view, 8> kKindNames = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all",
    "broadcast",  "send",       "receive",        "barrier"};

void require(bool holds, const Collective& request, int rank, std::string_view what) {
  if (!holds) {
    throw Error(fmt::format("rank {}: {} at {}: {}", rank, collective_name(request.kind),
                            format_site(request.site), what));
  }
}

bool same_buffer(const Payload& a, const Payload& b) {
  return a.data == b.data && a.count == b.count;
}

std::int64_t total(const std::vector<std::int64_t>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
}

bool fits(const std::vector<std::int64_t>& parts, const CommGroup& group) {
  return parts.size() == group.ranks.size() &&
         std::all_of(parts.begin(), parts.end(), [](std::int64_t part) { return part >= 0; });
}

void require_buffers(const Collective& request, int rank) {
  const std::int64_t in = request.input.count;
  const std::int64_t out = request.output.count;
  const auto own = static_cast<std::size_t>(request.group.index);
  switch (request.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::broadcast:
      require(same_buffer(request.input, request.output), request, rank,
              "input and output are one buffer");
      break;
    case CollectiveKind::all_gather:
      require(total(request.output_parts) == out, request, rank,
              "the parts do not fill the output");
      require(request.output_parts[own] == in, request, rank, "the input is not this rank's part");
      break;
    case CollectiveKind::reduce_scatter:
      require(total(request.output_parts) == in, request, rank, "the parts do not fill the input");
      require(request.output_parts[own] == out, request, rank,
              "the output is not this rank's part");
      break;
    case CollectiveKind::all_to_all:
      require(fits(request.input_parts, request.group), request, rank, "one input part a rank");
      require(total(request.input_parts) == in, request, rank, "the parts do not fill the input");
      require(total(request.output_parts) == out, request, rank,
              "the parts do not fill the output");
      break;
    case CollectiveKind::send:
    case CollectiveKind::receive:
    case CollectiveKind::barrier:
      break;
  }
}

bool has_parts(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_to_all;
}

bool has_peer(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive ||
         kind == CollectiveKind::broadcast;
}

std::byte* element(const Payload& payload, std::int64_t index) {
  return payload.data + index * static_cast<std::int64_t>(element_bytes(payload.type));
}

}  // namespace

std::string format_site(const Site& site) {
  return site.layer < 0 ? fmt::format("{}/{}", site.role, site.phase)
                        : fmt::format("layer{}.{}/{}", site.layer, site.role, site.phase);
}

std::string format_ranks(const CommGroup& group) {
  std::string text;
  for (const int rank : group.ranks) {
    text += text.empty() ? "" : " ";
    text += std::to_string(rank);
  }
  return text;
}

std::string_view collective_name(CollectiveKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::int64_t part_offset(const std::vector<std::int64_t>& parts, int index) {
  return std::accumulate(parts.begin(), parts.begin() + index, std::int64_t{0});
}

ElementType moved_type(const Collective& request) {
  return request.kind == CollectiveKind::receive ? request.output.type : request.input.type;
}

std::int64_t element_total(const Collective& request) {
  switch (request.kind) {
    case CollectiveKind::all_gather:
    case CollectiveKind::receive:
      return request.output.count;
    default:
      return request.input.count;
  }
}

CollectiveRow ledger_row(const Collective& request) {
  CollectiveRow row;
  row.site = format_site(request.site);
  row.kind = collective_name(request.kind);
  row.axis = request.group.axis;
  row.group = format_ranks(request.group);
  row.count = element_total(request);
  row.type = element_type_name(moved_type(request));
  row.bytes = row.count * static_cast<std::int64_t>(element_bytes(moved_type(request)));
  row.phase = request.site.phase;
  row.step = request.site.step;
  row.mb = request.site.mb;
  return row;
}

void require_well_formed(const Collective& request, int rank) {
  const CommGroup& group = request.group;
  const bool placed = group.index >= 0 && group.index < group.size() &&
                      group.ranks[static_cast<std::size_t>(group.index)] == rank;
  require(placed, request, rank, "the group does not hold this rank at its index");
  require(!has_parts(request.kind) || fits(request.output_parts, group), request, rank,
          "one output part a rank");
  require(!has_peer(request.kind) || (request.peer >= 0 && request.peer < group.size()), request,
          rank, "the peer is no index in the group");
  const bool pairwise =
      request.kind == CollectiveKind::send || request.kind == CollectiveKind::receive;
  require(!pairwise || request.peer != group.index, request, rank, "the peer is this rank itself");
  require(pairwise || request.input.type == request.output.type, request, rank,
          "input and output are of one element type");
  require_buffers(request, rank);
}

OwnContribution own_contribution(const Collective& request) {
  const int own = request.group.index;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
  switch (request.kind) {
    case CollectiveKind::all_gather:
      to = part_offset(request.output_parts, own);
      count = request.input.count;
      break;
    case CollectiveKind::reduce_scatter:
      from = part_offset(request.output_parts, own);
      count = request.output.count;
      break;
    case CollectiveKind::all_to_all:
      from = part_offset(request.input_parts, own);
      to = part_offset(request.output_parts, own);
      count = std::min(request.input_parts[static_cast<std::size_t>(own)],
                       request.output_parts[static_cast<std::size_t>(own)]);
      break;
    default:
      return {};  // one buffer, or nothing of one's own to keep
  }
  return {element(request.input, from), element(request.output, to),
          static_cast<std::size_t>(count) * element_bytes(request.input.type)};
}

void keep_own_contribution(const Collective& request) {
  const OwnContribution own = own_contribution(request);
  if (own.bytes > 0) {
    std::memmove(own.to, own.from, own.bytes);
  }
}

}  // namespace meshparity
