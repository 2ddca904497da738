#include "tests/lint/rules.h"

namespace plimsoll::lint {

const std::vector<Layer>& Layers() {
  static const auto& layers = *new std::vector<Layer>{
      {"algorithms/core/", {"plimsoll/core/", "algorithms/core/"}},
      {"algorithms/", {"plimsoll/core/", "plimsoll/algorithms/", "algorithms/"}},
      {"api/wire/", {"plimsoll/core/", "plimsoll/wire/", "api/wire/"}},
      {"api/http/",
       {"plimsoll/core/", "plimsoll/algorithms/", "plimsoll/controller/", "plimsoll/wire/",
        "plimsoll/http/", "api/http/"}},
      {"api/openapi/", {"plimsoll/core/", "controller/config/"}},
      // Checks the configuration of the controller without starting it.
      {"api/cli/src/config_check.", {"controller/main/config_loader.h", "api/cli/"}},
      {"api/cli/",
       {"plimsoll/core/", "plimsoll/algorithms/", "plimsoll/controller/", "plimsoll/wire/",
        "plimsoll/simulation/", "controller/config/", "api/cli/"}},
      {"dashboards/console/", {"plimsoll/http/", "plimsoll/console/"}},
      {"agent/middleware/", {"plimsoll/agent/", "plimsoll/middleware/", "agent/middleware/"}},
      {"agent/examples/",
       {"plimsoll/core/", "plimsoll/agent/", "plimsoll/middleware/", "plimsoll/wire/", "agent/"}},
      {"agent/include/", {"plimsoll/agent/"}},
      {"agent/",
       {"plimsoll/core/", "plimsoll/algorithms/", "plimsoll/wire/", "plimsoll/agent/", "agent/"}},
      {"controller/store/",
       {"plimsoll/core/", "plimsoll/controller/", "plimsoll/store/", "controller/store/"}},
      {"controller/simulation/",
       {"plimsoll/core/", "plimsoll/algorithms/", "plimsoll/controller/", "plimsoll/agent/",
        "plimsoll/wire/", "plimsoll/simulation/", "controller/simulation/", "agent/src/",
        // The pure part of the store.
        "plimsoll/store/etcd_plan.h", "plimsoll/store/etcd_types.h"}},
      {"controller/config/",
       {"plimsoll/core/", "plimsoll/algorithms/", "plimsoll/controller/", "controller/config/"}},
      {"controller/operations/",
       {"plimsoll/core/", "plimsoll/algorithms/", "plimsoll/controller/", "plimsoll/http/",
        "controller/config/", "controller/operations/"}},
      {"controller/main/",
       {"plimsoll/core/", "plimsoll/algorithms/", "plimsoll/controller/", "plimsoll/store/",
        "plimsoll/http/", "plimsoll/console/", "controller/config/", "controller/operations/",
        "controller/main/"}},
      {"controller/",
       {"plimsoll/core/", "plimsoll/algorithms/", "plimsoll/controller/", "controller/src/"}},
  };
  return layers;
}

const std::vector<Confined>& ConfinedHeaders() {
  static const auto& headers = *new std::vector<Confined>{
      {"httplib.h",
       {"agent/src/http_transport.", "agent/middleware/httplib/", "agent/examples/", "api/cli/",
        "controller/store/src/etcd_", "tests/"},
       "the transport"},
      {"boost/", {"api/http/src/", "tests/"}, "plimsoll/http/server.h"},
      {"openssl/",
       {"api/cli/src/rest_transport.", "api/http/src/", "tests/"},
       "plimsoll/http/server.h"},
      {"sqlite3.h", {"controller/store/src/sqlite_", "tests/"}, "plimsoll/store/sqlite_store.h"},
      {"yaml-cpp/", {"controller/config/yaml_tree.cc"}, "controller/config/yaml_tree.h"},
      {"grpcpp/", {"agent/middleware/grpc/", "agent/examples/", "tests/"}, "the middleware"},
      {"nlohmann/",
       {"api/", "agent/examples/", "controller/store/src/etcd_", "tests/"},
       "plimsoll/wire/codec.h"},
      {"prometheus/",
       {"api/http/src/metric", "agent/src/prometheus_sink.",
        "agent/include/plimsoll/agent/prometheus.h", "agent/examples/fleet/metrics_page.",
        "tests/"},
       "the metrics exporter"},
      {"gtest/", {"tests/"}, "a file below tests/"},
      {"gmock/", {"tests/"}, "a file below tests/"},
      {"benchmark/", {"tests/bench/"}, "a file below tests/bench/"},
      {"tests/", {"tests/"}, "nothing: tests are not for use elsewhere"},
  };
  return headers;
}

const std::vector<Confined>& ConfinedWords() {
  static const std::vector<std::string_view> clock = {"algorithms/core/src/clock.cc", "tests/"};
  // systemd compares with CLOCK_MONOTONIC, which the lease clock is not.
  static const std::vector<std::string_view> service_clock = {
      "algorithms/core/src/clock.cc", "controller/main/service_notifier.cc", "tests/"};
  static const std::vector<std::string_view> counter = {
      "algorithms/core/src/clock.cc", "algorithms/core/include/plimsoll/core/clock.h", "tests/"};
  // Users of the agent think in std::chrono::steady_clock: their deadlines are converted to it.
  static const std::vector<std::string_view> steady = {
      "algorithms/core/src/clock.cc", "agent/src/deadline.cc", "agent/src/permit.cc", "tests/"};
  static const std::vector<std::string_view> random = {"algorithms/core/src/random.cc", "tests/"};
  static const std::vector<std::string_view> mutex = {
      "algorithms/core/include/plimsoll/core/mutex.h", "tests/"};
  static const std::vector<std::string_view> thread = {"agent/src/sync_loop.",
                                                       "agent/src/pool_workers.",
                                                       "agent/src/timer_thread.",
                                                       "agent/examples/",
                                                       "api/http/src/",
                                                       "controller/main/",
                                                       "controller/store/src/etcd_reign.",
                                                       "api/cli/",
                                                       "tests/"};
  static const std::vector<std::string_view> sleep = {"tests/integration/", "agent/examples/",
                                                      "api/cli/", "tests/bench/etcd_at_rest.cc",
                                                      "tests/bench/worker_pool_provider.cc"};
  constexpr std::string_view kClock = "a plimsoll::Clock that is handed in";
  constexpr std::string_view kRandom = "a plimsoll::Random that is handed in";
  constexpr std::string_view kMutex = "plimsoll::Mutex, MutexLock and CondVar";
  constexpr std::string_view kSleep = "a virtual clock";
  static const auto& words = *new std::vector<Confined>{
      {"absl::Now", clock, kClock},
      {"system_clock::now", clock, kClock},
      {"high_resolution_clock", clock, kClock},
      {"steady_clock::now", steady, kClock},
      {"clock_gettime", service_clock, kClock},
      {"gettimeofday", clock, kClock},
      {"_rdtsc", counter, kClock},
      {"random_device", random, kRandom},
      {"std::rand", random, kRandom},
      {"mt19937", random, kRandom},
      {"std::mutex", mutex, kMutex},
      {"std::shared_mutex", mutex, kMutex},
      {"std::lock_guard", mutex, kMutex},
      {"std::unique_lock", mutex, kMutex},
      {"std::condition_variable", mutex, kMutex},
      {"absl::Mutex", mutex, kMutex},
      {"std::thread", thread, "the threads there are"},
      {"std::jthread", thread, "the threads there are"},
      {"std::async", {}, "the threads there are"},
      {"sleep_for", sleep, kSleep},
      {"sleep_until", sleep, kSleep},
      {"SleepFor", sleep, kSleep},
      {"usleep", sleep, kSleep},
      {"nanosleep", sleep, kSleep},
      // etcd, etcdctl and network namespaces are not everywhere.
      {"GTEST_SKIP",
       {"tests/integration/elected_network_test.cc", "tests/integration/elected_test.cc",
        "tests/integration/etcd_restore_test.cc", "tests/integration/shard_surface_test.cc",
        "tests/integration/sharded_test.cc"},
       "a test that runs everywhere"},
      // Fork handlers lock in one function and unlock in another.
      {"ABSL_NO_THREAD_SAFETY_ANALYSIS",
       {"agent/src/agent.cc", "agent/src/fork_registry.cc", "agent/src/permit_queue.cc",
        "agent/src/timer_thread.cc"},
       "annotations that hold"},
  };
  return words;
}

const std::vector<Banned>& BannedHeaders() {
  static const std::vector<std::string_view> impure = {"thread",
                                                       "mutex",
                                                       "shared_mutex",
                                                       "condition_variable",
                                                       "future",
                                                       "atomic",
                                                       "fstream",
                                                       "iostream",
                                                       "filesystem",
                                                       "random",
                                                       "unistd.h",
                                                       "fcntl.h",
                                                       "poll.h",
                                                       "sys/",
                                                       "netinet/",
                                                       "arpa/",
                                                       "plimsoll/core/clock.h",
                                                       "plimsoll/core/mutex.h"};
  static const auto& banned = *new std::vector<Banned>{
      {"algorithms/include/", impure},
      {"algorithms/src/", impure},
      {"controller/include/", impure},
      {"controller/src/", impure},
  };
  return banned;
}

const std::vector<std::string>& BannedWords() {
  // Put together, so that this file does not break the rule itself.
  static const auto& words = *new std::vector<std::string>{
      std::string("TO") + "DO",   std::string("FIX") + "ME",  std::string("XX") + "X",
      std::string("/wo") + "rk/", std::string("/ro") + "ot/", std::string("DIS") + "ABLED_"};
  return words;
}

}  // namespace plimsoll::lint
