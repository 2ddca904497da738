#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/controller/trial.h"

namespace plimsoll {

// What an operator asks for.
enum class ChangeVerb {
  kPutDependency,
  kPatchDependency,
  kDeleteDependency,
  kPutQuota,
  kPutOverride,
  kDeleteOverride,
  kReset,
  kEvict,
  kReload,
};

struct ChangeRequest {
  ChangeVerb verb = ChangeVerb::kPutDependency;
  std::string name;  // of the dependency, or of the instance
  std::string body;  // JSON
  std::string who;   // asks
  std::string request_id;
  std::string if_match;                  // as sent; empty: none
  bool validate_only = false;            // tell what would be, and change nothing
  bool force = false;                    // delete what is in use
  bool exists = false;                   // the core knows the dependency: somebody uses it
  int instances = 0;                     // that use the dependency now
  std::vector<SessionId> sessions = {};  // of the instance to be evicted
};

// One thing that is wrong with a body or a file.
struct ChangeFault {
  std::string pointer;  // RFC 6901
  std::string code;     // "UNKNOWN_KEY"
  std::string detail;
  std::string file = {};  // empty: a body
  int line = 0;           // from 1; 0 where there is no file
  int column = 0;

  friend bool operator==(const ChangeFault&, const ChangeFault&) = default;
};

// What comes of a request.
struct ChangePlan {
  // 200, 201 or 204; anything else is a refusal with `code`.
  int status = 200;
  std::string code = {};    // "MANAGED_BY_FILE"
  std::string detail = {};  // what is wrong and how to mend it
  std::vector<ChangeFault> faults = {};
  std::string current_etag = {};
  // What must be durable before anything of it holds. A refusal may have something for the log.
  WriteBatch batch = {};
  // It holds even if that fails: what it says is durable elsewhere, or must not wait.
  bool regardless = false;
  // What the core is to be told then.
  std::vector<Event> events = {};
  // The dependency as it would be, if nothing is to be changed.
  std::optional<Policy> preview = {};

  bool refused() const { return status >= 300; }
};

// An override and where it comes from.
struct OverrideFacts {
  Override pin;
  std::string reason;
  std::string set_by;
  absl::Time create_time;
  absl::Time expire_time;
  std::int64_t revision = 0;
};

// What is known of a dependency beside its policy.
struct DependencyFacts {
  bool from_file = true;
  // The pattern of the template that makes its policy, or would; empty: a policy of its own.
  std::string made_from = {};
  std::int64_t revision = 0;
  absl::Time create_time;
  absl::Time update_time;
  std::optional<OverrideFacts> override_facts = {};
};

// How the last reading of the configuration went.
struct ConfigFacts {
  absl::Time last_load_time;
  bool last_load_ok = true;
  std::string hash;
  std::int64_t revision = 1;
  std::vector<std::string> pending_restart = {};  // settings that are different in the file
  std::vector<ChangeFault> faults = {};
};

// What operators have set, and what becomes of it: the server asks, makes it durable, and tells the
// core. Plans are made one after the other: after Plan() or Expire() nothing else is planned before
// Settle(). Confined to the API plane's thread while the server runs.
class Operations {
 public:
  virtual ~Operations() = default;

  virtual ChangePlan Plan(const ChangeRequest& request, absl::Time now) = 0;
  // What has ended by itself, and what is still to be written: nothing if there is neither.
  virtual std::optional<ChangePlan> Expire(absl::Time now) = 0;
  // The plan that was made last has become durable, or has not.
  virtual void Settle(const absl::Status& written) = 0;

  // Nothing for a name that has no policy, and that no template fits.
  virtual std::optional<DependencyFacts> Find(const DependencyId& name) const = 0;
  virtual ConfigFacts config() const = 0;
  // What a configuration of this text would be refused for.
  virtual std::vector<ChangeFault> Validate(const std::string& text) const = 0;
  // Reads a body that asks about the limit of one instance, and perhaps what its law would make of
  // samples: {"instance_id": …, "service": …, "samples": [{"latency_seconds": …, …}]}.
  struct Question {
    std::string instance;
    std::string service;
    std::vector<TrialWindow> samples = {};
  };
  virtual Question ReadQuestion(const std::string& body,
                                std::vector<ChangeFault>& faults) const = 0;
};

}  // namespace plimsoll
