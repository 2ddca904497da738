#include "agent/examples/fleet/metrics_page.h"

#include <httplib.h>
#include <prometheus/collectable.h>
#include <prometheus/text_serializer.h>

#include <thread>
#include <utility>

namespace plimsoll::fleet {

struct MetricsPage::Parts {
  std::shared_ptr<prometheus::Collectable> metrics;
  httplib::Server server;
  std::thread thread;
};

MetricsPage::MetricsPage(std::shared_ptr<prometheus::Collectable> metrics)
    : parts_(std::make_unique<Parts>()) {
  parts_->metrics = std::move(metrics);
}

MetricsPage::~MetricsPage() {
  parts_->server.stop();
  if (parts_->thread.joinable()) parts_->thread.join();
}

absl::Status MetricsPage::Start() {
  parts_->server.new_task_queue = [] { return new httplib::ThreadPool(1); };
  parts_->server.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
    response.set_content(prometheus::TextSerializer().Serialize(parts_->metrics->Collect()),
                         "text/plain; version=0.0.4");
  });
  port_ = parts_->server.bind_to_any_port("127.0.0.1");
  if (port_ <= 0) return absl::UnavailableError("the page of metrics cannot listen on loopback");
  parts_->thread = std::thread([this] { parts_->server.listen_after_bind(); });
  // Before it runs, it cannot be stopped.
  while (!parts_->server.is_running()) std::this_thread::yield();
  return absl::OkStatus();
}

}  // namespace plimsoll::fleet
