#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "plimsoll/core/mutex.h"

namespace plimsoll {

// What a peer sent.
struct HttpMessage {
  int connection = 0;  // counts from 0
  std::string head;    // request line and headers
  std::string body;

  std::string first_line() const { return head.substr(0, head.find("\r\n")); }
};

// Sends bytes. Returns false when the peer does not want any more.
using HttpSender = std::function<bool(std::string_view bytes)>;

// A server on a free port that leaves every word of its answers to the test, so that they can be
// wrong. Answers one request after the other. Thread-safe.
class TinyHttpServer {
 public:
  // Called for each request, in the server's thread.
  using Handler = std::function<void(const HttpMessage& message, const HttpSender& send)>;

  TinyHttpServer() {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(listen(listener_, 8), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  // The peer must have closed its connections, or the server waits for it.
  ~TinyHttpServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

  void SetHandler(Handler handler) {
    const MutexLock lock(mutex_);
    handler_ = std::move(handler);
  }
  // Everything that came so far.
  std::vector<HttpMessage> Messages() {
    const MutexLock lock(mutex_);
    return messages_;
  }

 private:
  void Run() {
    for (int connection = 0;; ++connection) {
      const int peer = accept(listener_, nullptr, nullptr);
      if (peer < 0) return;
      Serve(peer, connection);
      close(peer);
    }
  }

  void Serve(int peer, int connection) {
    const HttpSender send_bytes = [peer](std::string_view bytes) {
      while (!bytes.empty()) {
        const ssize_t sent = send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      }
      return true;
    };
    HttpMessage message;
    while (Read(peer, message)) {
      message.connection = connection;
      Remember(message);
      CurrentHandler()(message, send_bytes);
    }
  }

  // Reads one request; bytes beyond it are not expected.
  static bool Read(int peer, HttpMessage& message) {
    std::string bytes;
    std::size_t end = std::string::npos;
    std::size_t expected = 0;
    for (;;) {
      char chunk[4096];
      const ssize_t got = recv(peer, chunk, sizeof(chunk), 0);
      if (got <= 0) return false;
      bytes.append(chunk, static_cast<std::size_t>(got));
      end = bytes.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      message.head = bytes.substr(0, end);
      expected = ContentLength(message.head);
      message.body = bytes.substr(end + 4);
      if (message.body.size() >= expected) return true;
    }
  }

  static std::size_t ContentLength(const std::string& head) {
    static constexpr std::string_view kName = "Content-Length: ";
    const std::size_t at = head.find(kName);
    if (at == std::string::npos) return 0;
    return std::strtoul(head.c_str() + at + kName.size(), nullptr, 10);
  }

  void Remember(const HttpMessage& message) {
    const MutexLock lock(mutex_);
    messages_.push_back(message);
  }
  Handler CurrentHandler() {
    const MutexLock lock(mutex_);
    return handler_;
  }

  int listener_ = -1;
  int port_ = 0;
  Mutex mutex_;
  Handler handler_ ABSL_GUARDED_BY(mutex_);
  std::vector<HttpMessage> messages_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace plimsoll
