import Basics
import QuakeConsumers
import QuakeSinks
import TestSupport
import Testing

/// Where redirects of receivers may lead.
@Suite(.enabled(if: Clients.python != nil, "\(Clients.isMissing)"))
struct WebhookRedirectTests {
  /// Treats 127.0.0.1 as public and 127.0.0.2 as private.
  private func plan(_ url: String) throws -> WebhookPlan {
    var plan = WebhookPlan(try ReceiverURL(url))
    plan.addressKind = { ["127.0.0.1": .everywhere, "127.0.0.2": .privateNetwork][$0] }
    return plan
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func theMessageIsPostedWhereARedirectLeads(status: Int) throws {
    let receiver = try Receiver()
    let plan = try plan(receiver.url(receiver.redirect(status, to: receiver.url("/ok"))))
    let message = try Message.example()
    #expect(try SinkDriver(plan).deliver([message]).isDelivered)
    #expect(try receiver.request().path.hasPrefix("/to/"))
    let second = try receiver.request()
    #expect(second.path == "/ok")
    #expect(second.line.string("method") == "POST")
    #expect(second.body == message.data)
  }

  @Test func aRedirectToANearerAddressIsRefusedUnlessAllowed() throws {
    let receiver = try Receiver()
    let nearer = receiver.url("/ok", host: "127.0.0.2")
    var plan = try plan(receiver.url(receiver.redirect(307, to: nearer)))
    let failure = try SinkDriver(plan).failure([try .example()])
    #expect(failure.reason.contains("an address of a private network"), "\(failure.reason)")
    #expect(!failure.isFinal)
    plan.trustsRedirects = true
    #expect(try SinkDriver(plan).deliver([try .example()]).isDelivered)
    // The first attempt sent nothing there.
    let paths = try (0..<3).map { _ in try receiver.request().path.prefix(4) }
    #expect(paths == ["/to/", "/to/", "/ok"])
  }

  @Test func aPrivateAddressOfTheConfigurationIsAllowed() throws {
    let receiver = try Receiver()
    let plan = try plan(receiver.url("/ok", host: "127.0.0.2"))
    #expect(try SinkDriver(plan).deliver([try .example()]).isDelivered)
  }

  @Test func noOtherHostGetsTheHeaderFile() throws {
    let receiver = try Receiver()
    let other = receiver.url("/ok", host: "localhost")
    var plan = WebhookPlan(try ReceiverURL(receiver.url(receiver.redirect(302, to: other))))
    plan.headers = ["X-Api-Key: a secret"]
    let failure = try SinkDriver(plan).failure([try .example()])
    #expect(failure.reason.contains("another host"), "\(failure.reason)")
    #expect(try receiver.request().path.hasPrefix("/to/"))
    plan.headers = []
    #expect(try SinkDriver(plan).deliver([try .example()]).isDelivered)
    #expect(try receiver.request().path.hasPrefix("/to/"))
    #expect(try receiver.request().path == "/ok")
  }

  @Test func redirectsHaveAnEnd() throws {
    let receiver = try Receiver()
    // Each leads to the next.
    let url = (0..<6).reduce(receiver.url("/ok")) { url, _ in
      receiver.url(receiver.redirect(307, to: url))
    }
    let failure = try SinkDriver(try plan(url)).failure([try .example()])
    #expect(failure.reason.contains("redirects"), "\(failure.reason)")
  }
}
