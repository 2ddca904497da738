#pragma once

#include <type_traits>
#include <variant>

#include "agent/src/transport.h"
#include "controller/simulation/src/sabotage.h"
#include "plimsoll/controller/core.h"

namespace plimsoll::internal {

// What a message is to the core.
inline Event MakeEvent(RequestId request, const AgentMessage& message) {
  return std::visit(
      [request](const auto& m) -> Event {
        using Message = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<Message, RegisterRequest>) return RegisterEvent{request, m};
        if constexpr (std::is_same_v<Message, SyncRequest>) return SyncEvent{request, m};
        if constexpr (std::is_same_v<Message, ReleaseRequest>) return ReleaseEvent{request, m};
      },
      message);
}

// What the core's reply is to an agent.
inline Answer MakeAnswer(const ReplyAction& reply) {
  return std::visit(
      [](const auto& body) -> Answer {
        if constexpr (std::is_same_v<std::decay_t<decltype(body)>, Released>) {
          return ReleaseAnswer{};
        } else {
          return body;
        }
      },
      reply.body);
}

}  // namespace plimsoll::internal
