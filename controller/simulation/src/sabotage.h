#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "agent/src/grant_port.h"
#include "agent/src/transport.h"
#include "controller/simulation/src/etcd_call.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/protocol.h"
#include "plimsoll/simulation/virtual_clock.h"

namespace plimsoll::internal {

// Whatever an agent sends.
using AgentMessage = std::variant<RegisterRequest, SyncRequest, ReleaseRequest>;

// Breaks one rule of the protocol, to prove that the checker notices. The product has no switches
// for that: everything that passes between its parts passes through here and may be changed. By
// default nothing is. Thread-compatible.
class Sabotage {
 public:
  virtual ~Sabotage() = default;

  // A controller starts: with these settings, finding this, at this time of its clock.
  virtual void OnStart(CoreOptions& /*options*/, Policy& /*policy*/, StoreState& /*found*/,
                       Instant& /*now*/) {}
  // And with these templates, after that.
  virtual void OnTemplates(TemplateSet& /*templates*/) {}
  // A batch is about to become durable.
  virtual void OnCommit(WriteBatch& /*batch*/) {}
  // An event reaches the core of a controller of this epoch. Others may be put before it.
  virtual std::vector<Event> OnEvent(Epoch /*epoch*/, Event event) { return {std::move(event)}; }
  // The core answers.
  virtual void OnReply(ReplyAction& /*reply*/) {}

  // A batch is to be written to etcd: these, one after the other, each once the one before is.
  virtual std::vector<WriteBatch> OnBatch(WriteBatch batch) { return {std::move(batch)}; }
  // A controller asks etcd, or hears from it.
  virtual void OnEtcdRequest(EtcdRequest& /*request*/) {}
  virtual void OnEtcdAnswer(const EtcdRequest& /*request*/, EtcdAnswer& /*answer*/) {}
  // The core wants its reign confirmed: a value is told to it, and etcd is not asked.
  virtual std::optional<absl::Status> OnConfirm() { return std::nullopt; }

  // The true time, which whoever is sabotaged does not know.
  void SetTime(const TrueTime& time) { time_ = &time; }

  // An agent process sends.
  virtual void OnSend(AgentMessage& /*message*/) {}
  // An answer reaches an agent process, this long after its message was sent.
  virtual void OnAnswer(Answer& /*answer*/, absl::Duration /*age*/) {}
  // An agent process puts a function in force, this much later.
  virtual absl::Duration OnInstall(StepFunction& /*function*/, Calls /*in_force*/) { return {}; }

 protected:
  Instant time() const { return time_->now(); }

 private:
  const TrueTime* time_ = nullptr;
};

}  // namespace plimsoll::internal
