#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"
#include "plimsoll/store/etcd_api.h"
#include "plimsoll/store/etcd_board.h"
#include "plimsoll/store/etcd_rounds.h"
#include "plimsoll/store/operator_word.h"

namespace plimsoll {

struct EtcdStoreOptions {
  std::string prefix = "/plimsoll";  // of one cluster: begins with '/', does not end with it
  // Which of how many shards of the cluster this is about: each has a leader, an epoch and bounds
  // of its own; etcd_members.h says where.
  int shard = 0;
  int shards = 1;
  // How long the leader key outlives its controller; whole seconds. Shorter elects sooner, longer
  // rides out pauses. Only how soon another one leads depends on it, never the quota.
  absl::Duration lease = absl::Seconds(5);
  Leader self = {};  // what others are told of this controller
  OperatorWord word = OperatorWord::kNone;
  // Told, in one line, when etcd cannot be used and when it can again. From the thread that
  // campaigns, or that of the lease; must not wait.
  std::function<void(const std::string& line)> on_trouble = {};
  // Whether to stand for election now that nobody leads; empty: always. From the thread that
  // campaigns; must not wait.
  std::function<bool()> may_stand = {};
  // What those of the other shards in this process share. Empty: it asks and looks by itself.
  std::shared_ptr<EtcdRounds> rounds = {};
  // Somebody must look a few times in each lease, and post it there, while it campaigns.
  std::shared_ptr<EtcdBoard> board = {};
};

// So long a call to etcd may take, so that those that matter end before the lease does.
absl::Duration EtcdCallTimeMax(absl::Duration lease);

// A store in etcd that several controllers share. `make_etcd` makes a client for each thread that
// needs one, with the time of EtcdCallTimeMax(); it and `clock` must outlive all reigns.
//
// While it reigns, a thread keeps the lease alive. A reign is over when etcd says so: a guarded
// write or a confirmation was refused, or the lease has ended. As long as etcd does not answer
// nothing is known, and nothing is confirmed or written.
std::unique_ptr<Leadership> MakeEtcdLeadership(EtcdStoreOptions options,
                                               std::function<std::unique_ptr<Etcd>()> make_etcd,
                                               const Clock& clock, Random random);

}  // namespace plimsoll
