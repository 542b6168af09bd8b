import Basics
import Foundation
import QuakeConsumers
import QuakeModel
import QuakeSinks
import TestSupport
import Testing

/// How answers of receivers, and their lack, are judged, and where their redirects may lead.
@Suite(.enabled(if: Clients.python != nil, "\(Clients.isMissing)"))
struct WebhookFailureTests {
  private func failure(_ path: String, of receiver: Receiver) throws -> DeliveryFailure {
    try failure(WebhookPlan(try ReceiverURL(receiver.url(path))))
  }

  private func failure(_ plan: WebhookPlan) throws -> DeliveryFailure {
    try SinkDriver(plan).failure([try .example()])
  }

  @Test func onlyWhatTheReceiverRefusesForGoodIsFinal() throws {
    let receiver = try Receiver()
    for (status, isFinal) in [
      (400, true), (404, true), (408, false), (429, false), (503, false), (304, false),
    ] {
      let failure = try failure("/status/\(status)", of: receiver)
      #expect(failure.isFinal == isFinal, "\(status)")
      #expect(failure.reason.contains("status \(status)"))
      #expect(failure.retryAfter == nil)
    }
    let gone = try failure("/status/410", of: receiver)
    #expect(gone.isFinal)
    #expect(gone.reason.contains("remove the consumer"))
  }

  @Test func aWaitWithoutALimitWaits() throws {
    let receiver = try Receiver()
    let driver = SinkDriver(WebhookPlan(try ReceiverURL(receiver.url("/ok"))))
    #expect(try driver.deliver([.example()]).isDelivered)
    let wake = try Wake()
    wake.trigger()
    #expect(driver.loop.wait(milliseconds: -1, beside: [wake.descriptor]))
  }

  @Test func theAnswerIsQuotedWithoutSecretsAndControlCharacters() throws {
    let receiver = try Receiver()
    var plan = WebhookPlan(try ReceiverURL(receiver.url("/status/500")))
    plan.headers = ["Authorization: Bearer s3cret-token"]
    let reason = try failure(plan).reason
    #expect(
      reason
        == "the receiver answered with status 500: because\u{FFFD}[31m of *** at ***",
      "\(reason)")
    #expect(try receiver.request().headers["authorization"] == "Bearer s3cret-token")
  }

  @Test func theReceiverSaysWhenToComeAgain() throws {
    let receiver = try Receiver()
    #expect(try failure("/later/7", of: receiver).retryAfter == .seconds(7))
    let date = HTTPDate.text(
      Timestamp(microseconds: WallClock.microseconds + 3_600_000_000)
    ).replacing(" ", with: "%20")
    let wait = try #require(try failure("/later/\(date)", of: receiver).retryAfter)
    #expect(wait > .seconds(3000) && wait <= .seconds(3600))
    #expect(try failure("/later/soon", of: receiver).retryAfter == nil)
  }

  @Test func noAnswerIsAFailureThatMayPass() throws {
    let receiver = try Receiver()
    for path in ["/stall", "/half", "/reset"] {
      var plan = WebhookPlan(try ReceiverURL(receiver.url(path)))
      if path == "/stall" { plan.timeout = .milliseconds(300) }
      let failure = try failure(plan)
      #expect(!failure.isFinal && !failure.reason.isEmpty, "\(path)")
    }
    let (descriptor, port) = try LocalSocket.bind()
    defer { close(descriptor) }
    let refused = try failure(WebhookPlan(try ReceiverURL("http://127.0.0.1:\(port)/hook")))
    #expect(!refused.isFinal)
    #expect(refused.reason.lowercased().contains("connect"), "\(refused.reason)")
  }

  @Test func aNameThatDoesNotExistIsAFailureThatMayPass() throws {
    let failure = try failure(WebhookPlan(try ReceiverURL("http://nowhere.invalid/secret-path")))
    #expect(!failure.isFinal)
    #expect(failure.reason.contains("Check the host's name"), "\(failure.reason)")
    #expect(!failure.reason.contains("secret-path"))
  }

  @Test func aBodyWithoutEndIsNotReadToIt() throws {
    let receiver = try Receiver()
    let plan = WebhookPlan(try ReceiverURL(receiver.url("/endless")))
    #expect(try SinkDriver(plan).deliver([try .example()]).isDelivered)
  }

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "no openssl"))
  func theCertificateIsVerified() throws {
    let folder = try TemporaryFolder()
    let (file, key) = (folder.path + "/certificate", folder.path + "/key")
    try Tools.shell(
      """
      openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
      -addext subjectAltName=IP:127.0.0.1 -keyout '\(key)' -out '\(file)'
      """
    ).requireSuccess()
    let receiver = try Receiver(certificate: (file, key))
    var plan = WebhookPlan(try ReceiverURL(receiver.url("/ok")))
    let failure = try failure(plan)
    #expect(!failure.isFinal)
    #expect(failure.reason.contains("certificates"), "\(failure.reason)")
    plan.certificateAuthorityFile = file
    #expect(try SinkDriver(plan).deliver([try .example()]).isDelivered)
  }

  // MARK: - Redirects

  /// Treats 127.0.0.1 as public and 127.0.0.2 as private.
  private func redirectPlan(_ url: String) throws -> WebhookPlan {
    var plan = WebhookPlan(try ReceiverURL(url))
    plan.addressKind = { ["127.0.0.1": .everywhere, "127.0.0.2": .privateNetwork][$0] }
    return plan
  }

  @Test(arguments: [303, 307])
  func theMessageIsPostedWhereARedirectLeads(status: Int) throws {
    let receiver = try Receiver()
    let plan = try redirectPlan(receiver.url(receiver.redirect(status, to: receiver.url("/ok"))))
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
    var plan = try redirectPlan(receiver.url(receiver.redirect(307, to: nearer)))
    let failure = try SinkDriver(plan).failure([try .example()])
    #expect(failure.reason.contains("an address of a private network"), "\(failure.reason)")
    #expect(!failure.isFinal)
    plan.trustsRedirects = true
    #expect(try SinkDriver(plan).deliver([try .example()]).isDelivered)
    // The first attempt sent nothing there.
    let paths = try (0..<3).map { _ in try receiver.request().path.prefix(4) }
    #expect(paths == ["/to/", "/to/", "/ok"])
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
    let failure = try SinkDriver(try redirectPlan(url)).failure([try .example()])
    #expect(failure.reason.contains("redirects"), "\(failure.reason)")
  }
}
