// What GPUs this machine has, for people and for the driver.
#pragma once
#include <string>

namespace meshparity {

struct CudaMachine {
  std::string devices;       // "2 x NVIDIA H200, driver 13.0, runtime 13.0"; empty without one
  std::string why_unusable;  // a sentence with what to do; empty where GPUs can be used
};
CudaMachine cuda_machine();

/// Bytes a second that GPU 0's memory moves at most, from its clock and width: two words a cycle. 0
/// where the driver does not tell.
double memory_bandwidth();

}  // namespace meshparity
