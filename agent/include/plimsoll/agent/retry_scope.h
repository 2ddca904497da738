#pragma once

namespace plimsoll {

// A number of retries that nested calls share, so that layers which all try again do not multiply:
// three layers of three attempts would be 27 calls. While it lives, all retries of this thread take
// from it, and from the scopes around it. The outermost layer that retries thereby sets the number
// for everything below. A Guard with retries opens one for every call; open one around the work of
// an incoming request to bound what that may cause.
//
// Confined to the thread that made it; scopes end in the reverse order of their beginning. A
// ThreadPool hands it on to its tasks.
class [[nodiscard]] RetryScope {
 public:
  static constexpr int kUnlimited = 1'000'000'000;

  // Negative numbers are 0.
  explicit RetryScope(int retries);
  ~RetryScope();
  RetryScope(const RetryScope&) = delete;
  RetryScope& operator=(const RetryScope&) = delete;

  // How many retries this thread has left; kUnlimited outside of all scopes.
  static int Left();
  // Takes one from every scope that this thread is in. False, and takes none, if one has none left.
  static bool TryTake();
  // The same for as many as there are, up to `retries`: what was used elsewhere.
  static void Take(int retries);

 private:
  RetryScope* const outer_;
  int left_;
};

}  // namespace plimsoll
