#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "controller/config/faults.h"
#include "controller/config/yaml_tree.h"
#include "controller/operations/audit.h"
#include "plimsoll/http/operations.h"

namespace plimsoll {

// What was found in the configuration file.
struct FileReading {
  std::optional<PolicySet> policies = {};  // nothing: it cannot be used, and `faults` says why
  std::string hash = {};
  std::vector<ChangeFault> faults = {};
  std::vector<std::string> pending_restart = {};
  std::string summary = {};  // what it changes, as a sentence
  // To be called once it is in force; may be empty.
  std::function<void()> accept = {};
};

struct PolicyBookOptions {
  PolicySet file_policies = {};
  std::string hash = {};
  // What a dependency is that is made over REST and sets nothing. The "defaults" of the file are
  // those of the file.
  Policy defaults = {};
  absl::Duration lease = absl::Seconds(10);
  // Reads the file anew; empty: there is none.
  std::function<FileReading()> reread = {};
  // What is wrong with a configuration of this text.
  std::function<std::vector<ChangeFault>(const std::string& text)> check = {};
  // Told of every change that has been made. May be empty.
  std::function<void(const AuditRecord& record)> on_audit = {};
};

// What holds: the policies of the file, those made over REST, and the overrides, and how they
// change. The file wins where both know a name: what was made over REST is kept, and comes back
// when the file lets go of the name. An override ends by itself, or with its dependency.
//
// No thread, no clock, no disk of its own: time, file and durability are handed in.
// Thread-compatible.
class PolicyBook final : public Operations {
 public:
  // `documents` are those of the store. What of them cannot be used any more is left alone, is not
  // in force, and is told by notices().
  PolicyBook(PolicyBookOptions options, const std::vector<Document>& documents, absl::Time now);

  // All that holds now.
  PolicyEvent InForce() const;
  const std::vector<std::string>& notices() const { return notices_; }
  // How the file was read before this book was made.
  void set_config(ConfigFacts config) { config_ = std::move(config); }

  ChangePlan Plan(const ChangeRequest& request, absl::Time now) override;
  std::optional<ChangePlan> Expire(absl::Time now) override;
  void Settle(const absl::Status& written) override;
  std::optional<DependencyFacts> Find(const DependencyId& name) const override;
  ConfigFacts config() const override { return config_; }
  std::vector<ChangeFault> Validate(const std::string& text) const override;
  InstanceName ReadInstanceName(const std::string& body,
                                std::vector<ChangeFault>& faults) const override;

 private:
  struct Times {
    std::int64_t revision = 0;
    absl::Time create_time;
    absl::Time update_time;
  };
  // Made over REST.
  struct Made {
    YamlNode settings;  // as they were asked for
    Policy policy;
    Times times;
  };
  struct State {
    PolicySet file;
    std::map<DependencyId, Times> file_times;
    std::map<DependencyId, Made> made;
    std::map<DependencyId, OverrideFacts> overrides;

    const Policy* Find(const DependencyId& name) const;
  };
  // A plan in the making.
  struct Draft {
    const ChangeRequest& request;
    absl::Time now;
    State next;
    ChangePlan plan;
    AuditRecord audit;
    DependencyId name;
    std::string note;  // for the log
    ConfigFacts config;
    std::function<void()> accept = {};
  };

  static DocumentKey PolicyKey(const DependencyId& name) { return {"dependency", name.value}; }
  static DocumentKey OverrideKey(const DependencyId& name) { return {"override", name.value}; }
  static PolicyEvent EventOf(const State& state);
  // What the store should have under this key.
  static std::optional<std::string> BodyOf(const State& state, const DocumentKey& key);
  static void Write(const State& state, const DocumentKey& key, WriteBatch& batch);
  static void Refuse(Draft& draft, int status, const std::string& code, const std::string& detail);
  static void RefuseBody(Draft& draft, const Faults& faults);

  void Load(const Document& document, absl::Time now);
  std::optional<Made> ParseMade(const DependencyId& name, const std::string& document) const;
  std::int64_t NextRevision(absl::Time now);

  // Each fills in the draft; policy_changes.cc.
  void PutDependency(Draft& draft);
  void PatchDependency(Draft& draft);
  void DeleteDependency(Draft& draft);
  void PutQuota(Draft& draft);
  void PutOverride(Draft& draft);
  void DeleteOverride(Draft& draft);
  void Reset(Draft& draft);
  void Evict(Draft& draft);
  void Reload(Draft& draft);
  // False if the draft is refused.
  bool MayChange(Draft& draft) const;
  bool Matches(Draft& draft, const std::string& collection, std::int64_t revision) const;
  void Make(Draft& draft, YamlNode settings, Policy policy);
  // Overrides of dependencies that are gone are dropped.
  void DropOrphans(Draft& draft) const;
  void Close(Draft& draft);
  const PolicyBookOptions options_;
  State state_;
  ConfigFacts config_;
  std::vector<std::string> notices_;
  std::int64_t last_revision_ = 0;
  // Documents of which it is not known what the store has.
  std::set<DocumentKey> unsettled_;
  // What waits for Settle().
  struct Pending {
    State next;
    ConfigFacts config;
    bool regardless = false;
    std::vector<DocumentKey> keys;
    std::optional<AuditRecord> audit;
    std::function<void()> accept;
  };
  std::optional<Pending> pending_;
};

}  // namespace plimsoll
