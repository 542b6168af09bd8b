import Basics
import Testing

@testable import QuakeFeed

/// Which redirects the client follows.
@Suite struct RedirectTests {
  /// Treats 127.0.0.1 as public, 127.0.0.2 as private and 127.0.0.3 as this machine.
  private static func kind(_ address: String) -> AddressKind? {
    ["127.0.0.1": .everywhere, "127.0.0.2": .privateNetwork, "127.0.0.3": .loopback][address]
  }

  private func options(trusts: Bool = false) -> FeedClient.Options {
    var options = FeedClient.Options(version: "0")
    options.trustsRedirects = trusts
    options.addressKind = Self.kind
    return options
  }

  private func failure(_ url: String, _ options: FeedClient.Options) -> FeedError? {
    do throws(FeedError) {
      return try FeedClient(options: options).open(url: url).status == 200
        ? nil : FeedError(.html, "")
    } catch {
      return error
    }
  }

  /// A server that all three addresses lead to. The path says where it redirects to.
  private func server() throws -> TestServer {
    try TestServer(address: 0) { request in
      let path = request.split(separator: " ")[1].dropFirst()
      guard path != "end" else { return TestServer.Answer("200 OK", body: [1]) }
      let steps = path.split(separator: "+", maxSplits: 1)
      let host = request.split(separator: "\r\n").first { $0.hasPrefix("Host: ") }
      let port = host.map { $0.split(separator: ":").last ?? "" } ?? ""
      let next = steps.count > 1 ? steps[1] : "end"
      return TestServer.Answer(
        "302 Found", headers: ["Location: http://\(steps[0]):\(port)/\(next)"])
    }
  }

  @Test(
    arguments: [
      ("127.0.0.1", "127.0.0.2", false), ("127.0.0.1", "127.0.0.3", false),
      ("127.0.0.2", "127.0.0.3", false), ("127.0.0.1", "127.0.0.1", true),
      ("127.0.0.2", "127.0.0.1", true), ("127.0.0.3", "127.0.0.3", true),
      ("127.0.0.3", "127.0.0.1", true),
      // After a redirect to a public address, one back is refused.
      ("127.0.0.3", "127.0.0.1+127.0.0.3", false), ("127.0.0.2", "127.0.0.1+127.0.0.2", false),
      // By name: the address that it resolves to counts.
      ("127.0.0.1", "localhost", false),
    ])
  func noServerRedirectsNearerToThisMachineThanItIs(
    from: String, to: String, isFollowed: Bool
  ) throws {
    let server = try server()
    defer { server.stop() }
    let url = "http://\(from):\(server.port)/\(to)"
    // localhost resolves to 127.0.0.1, which is public for the first request and loopback then.
    var options = options()
    if to == "localhost" {
      options.addressKind = {
        $0 == "127.0.0.1" && server.requests.isEmpty ? .everywhere : .loopback
      }
    }
    let error = failure(url, options)
    #expect((error == nil) == isFollowed, "\(String(describing: error))")
    #expect(server.requests.contains { $0.hasPrefix("GET /end") } == isFollowed)
    if !isFollowed {
      #expect(error?.code == .refusedRedirect && error?.category == .unavailable)
      #expect(
        error?.detail?.contains("leads to an address of") == true, "\(String(describing: error))")
    }
    #expect(failure(url, self.options(trusts: true)) == nil)
  }

  @Test func anExistingConnectionIsCheckedToo() throws {
    let server = try server()
    defer { server.stop() }
    let client = FeedClient(options: options())
    // This request leaves a connection to 127.0.0.3 in the client.
    _ = try client.open(url: "http://127.0.0.3:\(server.port)/end")
    #expect(throws: FeedError.self) {
      try client.open(url: "http://127.0.0.1:\(server.port)/127.0.0.3")
    }
    #expect(server.requests.count { $0.hasPrefix("GET /end") } == 1)
  }

  @Test func redirectsFromHTTPSToHTTPAreRefused() {
    for (urls, isRefused) in [
      (["https://a/", "http://a/"], true), (["http://a/", "https://a/", "http://b/"], true),
      (["http://a/", "http://b/"], false), (["http://a/", "https://b/"], false),
      (["HTTPS://a/", "https://b/"], false),
    ] {
      var guarding = RedirectGuard(
        trusts: false, usesProxy: false, reach: nil, kind: { AddressKind($0) }, shown: { $0 })
      let answers = urls.map { guarding.admits(url: $0, address: "1.1.1.1") }
      #expect(answers.contains(false) == isRefused)
      #expect((guarding.refusal?.contains("from https to http") == true) == isRefused)
      var trusting = RedirectGuard(
        trusts: true, usesProxy: false, reach: nil, kind: { AddressKind($0) }, shown: { $0 })
      let trusted = urls.map { trusting.admits(url: $0, address: "1.1.1.1") }
      #expect(!trusted.contains(false))
    }
  }

  @Test func throughAProxyTheHostInTheURLIsChecked() {
    for (host, isAdmitted) in [
      ("10.0.0.1", false), ("localhost", false), ("[::1]", false), ("example.org", true),
      // Other forms of 127.0.0.1.
      ("0x7f.1", false), ("2130706433", false),
    ] {
      var guarding = RedirectGuard(
        trusts: false, usesProxy: true, reach: nil, kind: { AddressKind($0) }, shown: { $0 })
      let first = guarding.admits(url: "http://example.org/", address: "127.0.0.1")
      let connection = guarding.admits(address: "127.0.0.1")
      let second = guarding.admits(url: "http://\(host)/", address: "127.0.0.1")
      #expect(first && connection && second == isAdmitted)
    }
  }

  @Test(
    arguments: [
      (
        .everywhere,
        [
          "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "169.253.1.1", "2606:4700::1111",
          "2a00::1", "[2a00::1]", "64:ff9b::101:101",
        ]
      ),
      (
        .privateNetwork,
        [
          "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "198.18.0.1",
          "203.0.113.9", "224.0.0.1", "255.255.255.255", "fc00::1", "fd12::1", "ff02::1",
          "2001:db8::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1",
        ]
      ),
      (.link, ["169.254.169.254", "fe80::1", "fe80::1%eth0", "fec0::1", "::ffff:169.254.169.254"]),
      (
        .loopback,
        [
          "127.0.0.1", "127.1.2.3", "0.0.0.0", "0.1.2.3", "::1", "::", "[::1]", "::ffff:127.0.0.1",
          "::127.0.0.1",
        ]
      ),
    ] as [(AddressKind, [String])])
  func eachAddressIsOfItsKind(kind: AddressKind, addresses: [String]) {
    for address in addresses { #expect(AddressKind(address) == kind, "\(address)") }
  }
}
