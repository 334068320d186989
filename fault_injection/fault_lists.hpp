// The registry's rows by kind, and the short ways to write their case ids.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "fault_injection/fault_registry.hpp"

namespace meshparity {

/// "gpt-micro.tp2.plain" becomes the id of that case in fp64 on host-threads.
std::vector<std::string> cases(std::initializer_list<std::string_view> heads);
/// The probes of "gpt-micro.tp2", one step each.
std::vector<std::string> probes(std::initializer_list<std::string_view> heads);

std::vector<NamedFault> faults_of_sums();      // left out, done twice, in a wrong group
std::vector<NamedFault> faults_of_scales();    // divisors, dropout, the precision of numbers
std::vector<NamedFault> faults_of_order();     // orders of sums, parts, updates; delays
std::vector<NamedFault> faults_of_places();    // positions, masks, random words, shards
std::vector<NamedFault> faults_of_shards();    // ZeRO's parts, masters
std::vector<NamedFault> faults_of_versions();  // weights of asynchronous pipelines

}  // namespace meshparity
