#include "parallel_impl/comm/rank_threads.hpp"

#include <exception>
#include <system_error>
#include <thread>

namespace meshparity {
namespace {

std::string run_rank(ThreadWorld& world, const std::function<void(int)>& body, int rank) {
  std::string error;
  try {
    body(rank);
  } catch (const std::exception& thrown) {
    error = thrown.what();
    world.poison(rank, error);
  }
  world.end(rank);
  return error;
}

}  // namespace

std::vector<std::string> run_rank_threads(ThreadWorld& world,
                                          const std::function<void(int)>& body) {
  std::vector<std::string> errors(static_cast<std::size_t>(world.size()));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < world.size(); ++rank) {
    std::string& error = errors[static_cast<std::size_t>(rank)];
    try {
      threads.emplace_back([&world, &body, &error, rank] { error = run_rank(world, body, rank); });
    } catch (const std::system_error& refused) {
      error = std::string("starting its thread: ") + refused.what();
      world.poison(rank, error);
      world.end(rank);
    }
  }
  threads.clear();  // joins
  return errors;
}

}  // namespace meshparity
