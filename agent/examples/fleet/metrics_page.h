#pragma once

#include <memory>

#include "absl/status/status.h"

namespace prometheus {
class Collectable;
}  // namespace prometheus

namespace plimsoll::fleet {

// GET /metrics on a loopback port that the system chooses. Thread-compatible.
class MetricsPage {
 public:
  explicit MetricsPage(std::shared_ptr<prometheus::Collectable> metrics);
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Serves from a thread of its own until it is destroyed.
  absl::Status Start();
  int port() const { return port_; }

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
  int port_ = 0;
};

}  // namespace plimsoll::fleet
