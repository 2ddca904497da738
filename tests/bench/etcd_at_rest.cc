// What is etcd asked while nothing happens? Some controllers that share the shards of one real
// etcd, and agents that hold limits and want no others. README.md tells how to read the figures.

#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/core/shard.h"
#include "plimsoll/store/etcd_members.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/etcd_process.h"

namespace plimsoll::bench {
namespace {

struct Options {
  int controllers = 3;
  int shards = 6;
  int agents = 2;  // each with a dependency in every shard
  int seconds = 20;
  std::string controller = demo::OwnFolder() + "/plimsoll-controller";
};

using Counts = std::map<std::string, double>;  // requests that etcd has handled, by method

void Pass(absl::Duration time) { std::this_thread::sleep_for(absl::ToChronoMilliseconds(time)); }

// One for each shard.
std::vector<std::string> Dependencies(const Options& options) {
  std::map<int, std::string> names;
  for (int i = 0; std::ssize(names) < options.shards; ++i) {
    const std::string name = absl::StrCat("dependency-", i);
    names.try_emplace(ShardOf(DependencyId(name), options.shards), name);
  }
  std::vector<std::string> all;
  for (const auto& [shard, name] : names) all.push_back(name);
  return all;
}

class Cluster {
 public:
  explicit Cluster(const Options& options) : options_(options) {}

  absl::Status Start() {
    auto etcd = EtcdProcess::Start(folder_.path() + "/etcd");
    if (!etcd.ok()) return etcd.status();
    etcd_ = *std::move(etcd);
    for (int i = 0; i < options_.controllers; ++i) {
      if (absl::Status started = StartController(i); !started.ok()) return started;
    }
    // All at once, or the first would take all, and hand over one after the other.
    for (int i = 0; i < options_.controllers; ++i) {
      if (absl::Status there = AwaitController(i); !there.ok()) return there;
    }
    while (!Even()) Pass(absl::Milliseconds(200));
    return StartAgents();
  }

  absl::StatusOr<Counts> Read() const {
    httplib::Client client(etcd_->url());
    const httplib::Result result = client.Get("/metrics");
    if (!result) return absl::UnavailableError("etcd shows no metrics");
    Counts counts;
    for (const absl::string_view line : absl::StrSplit(result->body, '\n')) {
      if (!absl::StartsWith(line, "grpc_server_handled_total{")) continue;
      const std::vector<std::string> parts = absl::StrSplit(line, '"');
      double value = 0;
      if (absl::SimpleAtod(line.substr(line.rfind(' ') + 1), &value)) counts[parts[3]] += value;
    }
    return counts;
  }

 private:
  absl::Status StartController(int i) {
    const std::string base = absl::StrCat(folder_.path(), "/c", i);
    std::ofstream config(base + ".yaml");
    config << "listen: {api: \"127.0.0.1:0\", agents: \"127.0.0.1:0\"}\n"
           << "state: {mode: etcd, etcd: {endpoints: [\"" << etcd_->url()
           << "\"], shards: " << options_.shards << "}}\ndependencies:\n";
    for (const std::string& name : Dependencies(options_)) {
      config << "  - {name: " << name << ", algorithm: fixed, initial: 20, scope: fleet, floor: 1, "
             << "ceiling: 20, quota: {capacity: 20}, call_deadline: 1s}\n";
    }
    config.close();
    auto process = demo::ChildProcess::Start(
        {options_.controller, "--config", base + ".yaml", "--port-file=" + base + ".ports"},
        base + ".log");
    if (!process.ok()) return process.status();
    processes_.push_back(*std::move(process));
    return absl::OkStatus();
  }
  absl::Status AwaitController(int i) {
    const std::string ports = absl::StrCat(folder_.path(), "/c", i, ".ports");
    while (!std::filesystem::exists(ports)) {
      if (!processes_[static_cast<std::size_t>(i)]->Running()) {
        return absl::InternalError("a controller has ended");
      }
      Pass(absl::Milliseconds(20));
    }
    std::string text;
    std::ifstream file(ports);
    std::getline(file, text);
    urls_.push_back(
        absl::StrCat("http://127.0.0.1:", std::atoi(text.c_str() + text.find(':') + 1)));
    return absl::OkStatus();
  }

  // Each shard is led, and nobody leads two more than another.
  bool Even() const {
    const std::unique_ptr<Etcd> client = etcd_->Client();
    std::map<std::string, int> shares;
    int led = 0;
    for (int shard = 0; shard < options_.shards; ++shard) {
      const auto found =
          client->Range({.key = ShardPrefix("/plimsoll", shard, options_.shards) + "/leader"});
      if (!found.ok() || found->kvs.empty()) return false;
      ++shares[found->kvs[0].value];
      ++led;
    }
    int least = led;
    int most = 0;
    for (const auto& [leader, share] : shares) {
      least = std::min(least, share);
      most = std::max(most, share);
    }
    const int expected = std::min(options_.controllers, options_.shards);
    return std::ssize(shares) == expected && most - least <= 1;
  }

  absl::Status StartAgents() {
    for (int i = 0; i < options_.agents; ++i) {
      AgentOptions options;
      options.controllers = urls_;
      options.service = "shop";
      options.instance = absl::StrCat("shop-", i);
      options.log = [](std::string_view) {};
      absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
      if (!agent.ok()) return agent.status();
      agents_.push_back(*std::move(agent));
      for (const std::string& name : Dependencies(options_)) agents_.back()->bulkhead(name);
    }
    return absl::OkStatus();
  }

  const Options options_;
  const demo::TemporaryFolder folder_;
  std::unique_ptr<EtcdProcess> etcd_;
  std::vector<std::unique_ptr<demo::ChildProcess>> processes_;
  std::vector<std::string> urls_;
  std::vector<std::unique_ptr<Agent>> agents_;
};

int Run(const Options& options) {
  Cluster cluster(options);
  if (const absl::Status started = cluster.Start(); !started.ok()) {
    absl::FPrintF(stderr, "etcd_at_rest: %s\n", std::string(started.message()));
    return 1;
  }
  // Until all have what they may have.
  Pass(absl::Seconds(10));
  const auto began = std::chrono::steady_clock::now();
  const absl::StatusOr<Counts> before = cluster.Read();
  Pass(absl::Seconds(options.seconds));
  const absl::StatusOr<Counts> after = cluster.Read();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (!before.ok() || !after.ok()) return 1;
  double sum = 0;
  for (const auto& [method, count] : *after) {
    const auto found = before->find(method);
    const double rate = (count - (found == before->end() ? 0 : found->second)) / took.count();
    if (rate > 0) absl::PrintF("%-16s %8.1f/s\n", method, rate);
    sum += rate;
  }
  absl::PrintF("%-16s %8.1f/s: %d controllers, %d shards, %d agents, %.0f s\n", "all", sum,
               options.controllers, options.shards, options.agents, took.count());
  return 0;
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  plimsoll::bench::Options options;
  const std::map<std::string, int*> numbers = {{"--controllers", &options.controllers},
                                               {"--shards", &options.shards},
                                               {"--agents", &options.agents},
                                               {"--seconds", &options.seconds}};
  for (int i = 1; i < argc; i += 2) {
    const auto found = numbers.find(argv[i]);
    if (i + 1 < argc && found != numbers.end() && absl::SimpleAtoi(argv[i + 1], found->second)) {
      continue;
    }
    if (i + 1 == argc || std::string(argv[i]) != "--controller") {
      std::fprintf(stderr,
                   "usage: etcd_at_rest [--controllers N] [--shards N] [--agents N] [--seconds S]\n"
                   "                    [--controller PATH]\n");
      return 2;
    }
    options.controller = argv[i + 1];
  }
  if (plimsoll::chaos::EtcdProgram().empty()) {
    std::fprintf(stderr, "there is no etcd: install etcd-server\n");
    return 1;
  }
  return plimsoll::bench::Run(options);
}
