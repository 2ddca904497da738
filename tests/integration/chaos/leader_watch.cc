#include "tests/integration/chaos/leader_watch.h"

#include <httplib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "plimsoll/core/clock.h"

namespace plimsoll::chaos {
namespace {

constexpr absl::Duration kInterval = absl::Milliseconds(100);
constexpr absl::Duration kAnswerTimeout = absl::Milliseconds(200);
constexpr absl::Duration kStall = absl::Seconds(1);
// A read that a quorum must confirm.
constexpr char kRange[] = R"({"key":"eA=="})";

// Null if there is no answer. Without `body` it is a GET.
nlohmann::json Ask(const LeaderWatch::Address& address, const char* path,
                   const char* body = nullptr) {
  httplib::Client client(address.host, address.port);
  const auto timeout = absl::ToChronoMicroseconds(kAnswerTimeout);
  client.set_connection_timeout(timeout);
  client.set_read_timeout(timeout);
  const httplib::Result answer =
      body == nullptr ? client.Get(path) : client.Post(path, body, "application/json");
  if (!answer || answer->status != 200) return nullptr;
  nlohmann::json json = nlohmann::json::parse(answer->body, nullptr, false);
  return json.is_object() ? json : nlohmann::json(nullptr);
}

std::string TextAt(const nlohmann::json& json, const char* pointer) {
  return json.value(nlohmann::json::json_pointer(pointer), std::string());
}

bool LeadsEtcd(const LeaderWatch::Address& address) {
  const nlohmann::json status = Ask(address, "/v3/maintenance/status", "{}");
  if (status.is_null()) return false;
  const std::string leader = TextAt(status, "/leader");
  return !leader.empty() && leader == TextAt(status, "/header/member_id");
}

}  // namespace

LeaderWatch::LeaderWatch(std::vector<Address> controllers, std::vector<Address> members)
    : members_(std::move(members)) {
  for (Address& address : controllers) controllers_.push_back({std::move(address), "", ""});
  thread_ = std::thread([this] { Run(); });
}

LeaderWatch::~LeaderWatch() {
  stopped_.store(true);
  thread_.join();
}

void LeaderWatch::Run() {
  int count = 0;
  {
    const MutexLock lock(mutex_);
    count = static_cast<int>(controllers_.size());
  }
  while (!stopped_.load()) {
    for (int i = 0; i < count && !stopped_.load(); ++i) AskController(i);
    AskMembers();
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(kInterval));
  }
}

void LeaderWatch::AskController(int index) {
  Address address;
  {
    const MutexLock lock(mutex_);
    address = controllers_[static_cast<std::size_t>(index)].address;
  }
  const nlohmann::json status = Ask(address, "/v1/status");
  const MutexLock lock(mutex_);
  Controller& controller = controllers_[static_cast<std::size_t>(index)];
  controller.role = status.is_null() ? "" : status.value("role", "");
  if (status.is_null()) return;
  controller.config_hash = TextAt(status, "/config/hash");
  if (controller.role != "LEADER") return;
  const std::int64_t epoch = status.value("epoch", std::int64_t{0});
  if (epochs_.empty() || epoch >= *epochs_.rbegin()) controller_ = index;
  epochs_.insert(epoch);
}

void LeaderWatch::AskMembers() {
  bool answered = false;
  std::optional<int> leader;
  for (std::size_t i = 0; i < members_.size() && !stopped_.load(); ++i) {
    if (LeadsEtcd(members_[i])) leader = static_cast<int>(i);
    answered = answered || !Ask(members_[i], "/v3/kv/range", kRange).is_null();
  }
  const MutexLock lock(mutex_);
  if (leader.has_value()) member_ = leader;
  NoteAnswer(answered);
}

void LeaderWatch::NoteAnswer(bool answered) {
  const Instant now = RealClock().Now();
  if (answered && answered_at_.has_value()) {
    const absl::Duration silence = now - *answered_at_;
    longest_stall_ = std::max(longest_stall_, silence);
    if (silence > kStall) ++stalls_;
  }
  if (answered) answered_at_ = now;
  answers_ = answered;
}

std::optional<int> LeaderWatch::controller() const {
  const MutexLock lock(mutex_);
  return controller_;
}

std::optional<int> LeaderWatch::member() const {
  const MutexLock lock(mutex_);
  return member_;
}

std::string LeaderWatch::role(int controller) const {
  const MutexLock lock(mutex_);
  return controllers_[static_cast<std::size_t>(controller)].role;
}

std::string LeaderWatch::config_hash(int controller) const {
  const MutexLock lock(mutex_);
  return controllers_[static_cast<std::size_t>(controller)].config_hash;
}

bool LeaderWatch::etcd_answers() const {
  const MutexLock lock(mutex_);
  return answers_;
}

bool LeaderWatch::AnsweredSince(Instant at) const {
  const MutexLock lock(mutex_);
  return answered_at_.has_value() && *answered_at_ > at;
}

int LeaderWatch::epochs() const {
  const MutexLock lock(mutex_);
  return static_cast<int>(epochs_.size());
}

int LeaderWatch::stalls() const {
  const MutexLock lock(mutex_);
  return stalls_;
}

absl::Duration LeaderWatch::longest_stall() const {
  const MutexLock lock(mutex_);
  return longest_stall_;
}

}  // namespace plimsoll::chaos
