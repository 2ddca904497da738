// A stranger's service with everything in one program: an agent, a limited HTTP server, a limited
// HTTP client, and gRPC with both its ends; Abseil is theirs and ours.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <plimsoll/agent/agent.h>
#include <plimsoll/middleware/grpc_client.h>
#include <plimsoll/middleware/grpc_server.h>
#include <plimsoll/middleware/httplib_client.h>
#include <plimsoll/middleware/httplib_server.h>

#include <future>
#include <iostream>
#include <thread>

// In exporter.cc, if the program has that.
[[gnu::weak]] std::size_t MetricFamilies(const plimsoll::Agent& agent);

namespace {

// There is no controller, so nothing has a limit yet, and everything is refused.
bool HttpWorks(plimsoll::Bulkhead& bulkhead) {
  httplib::Server server;
  plimsoll::HttplibServerOptions options;
  options.exempt = [](const httplib::Request& request) { return request.path == "/healthz"; };
  if (!plimsoll::LimitServer(server, bulkhead, options).ok()) return false;
  server.Get("/healthz", [](const httplib::Request&, httplib::Response&) {});
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  httplib::Client client("127.0.0.1", port);
  httplib::Request request;
  request.method = "GET";
  request.path = "/";
  const auto healthy = client.Get("/healthz");
  const auto refused = client.Get("/");
  const auto unsent = plimsoll::Send(client, bulkhead, request);
  server.stop();
  thread.join();
  return healthy && healthy->status == 200 && refused && refused->status == 503 &&
         unsent.rejection == plimsoll::Rejection::kLimit;
}

bool GrpcWorks(plimsoll::Bulkhead& bulkhead) {
  plimsoll::GrpcServerGate gate(bulkhead);
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.experimental().SetInterceptorCreators(gate.MakeInterceptors());
  grpc::CallbackGenericService nothing;  // a server without services does not start
  builder.RegisterCallbackGenericService(&nothing);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) return false;
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
  factories.push_back(plimsoll::MakeGrpcClientInterceptor(bulkhead));
  grpc::GenericStub stub(grpc::experimental::CreateCustomChannelWithInterceptors(
      "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), {},
      std::move(factories)));
  grpc::ClientContext context;
  grpc::ByteBuffer request, answer;
  std::promise<grpc::Status> status;
  stub.UnaryCall(&context, "/a.Service/Method", grpc::StubOptions(), &request, &answer,
                 [&](grpc::Status ended) { status.set_value(std::move(ended)); });
  return status.get_future().get().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
}

}  // namespace

int main() {
  auto agent =
      plimsoll::Agent::Start({.controllers = {"http://127.0.0.1:9"}, .service = "stranger"});
  if (!agent.ok()) {
    std::cerr << "no agent: " << agent.status() << "\n";
    return 1;
  }
  const bool http = HttpWorks((*agent)->bulkhead("self"));
  const bool grpc = GrpcWorks((*agent)->bulkhead("payments-api"));
  const bool metrics = MetricFamilies == nullptr || MetricFamilies(**agent) > 0;
  std::cout << "http " << http << ", grpc " << grpc << ", metrics " << metrics << "\n";
  return http && grpc && metrics ? 0 : 1;
}
