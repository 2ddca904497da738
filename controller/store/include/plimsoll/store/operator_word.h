#pragma once

namespace plimsoll {

// What the operator says about a store, which wins over what is found.
enum class OperatorWord {
  kNone,
  kLost,   // it is older than it looks: a backup, or a volume that was moved by force
  kTrust,  // nothing that it does not know of is in force anywhere, however it looks
};

}  // namespace plimsoll
