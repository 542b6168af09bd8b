import Basics
import Foundation
import TestSupport
import Testing

@testable import QuakeFeed

@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "no openssl"))
struct TLSTests {
  /// Runs `body` with a server that has a certificate for 127.0.0.1.
  ///
  /// - Parameters:
  ///   - way: The option of s_server(1) that decides how it answers.
  ///   - folder: The folder of the files that it serves.
  private func withServer(
    _ way: String, folder: String = "/",
    _ body: (_ url: String, _ certificate: String) throws -> Void
  ) throws {
    let files = try TemporaryFolder()
    let made = try Tools.shell(
      """
      openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
      -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout key -out certificate
      """, folder: files.path)
    try #require(made.status == 0, "\(made.errors)")
    let (key, certificate) = (files.path + "/key", files.path + "/certificate")
    let server = try ToolProcess(
      "/usr/bin/openssl",
      ["s_server", "-accept", "127.0.0.1:0", way, "-key", key, "-cert", certificate],
      environment: Tools.environment, folder: folder)
    // It prints "ACCEPT address:port" when it listens.
    var line = try server.line()
    while !line.hasPrefix("ACCEPT") { line = try server.line() }
    let port = try #require(line.split(separator: ":").last)
    try withExtendedLifetime(server) { try body("https://127.0.0.1:\(port)/", certificate) }
  }

  @Test func onlyATrustedCertificateIsAccepted() throws {
    try withServer("-www") { url, certificate in
      #expect(failure(url, trusting: nil)?.code == .tls)
      #expect(failure(url, trusting: nil)?.category == .unavailable)
      #expect(failure(url, trusting: certificate) == nil)
      // The certificate is for 127.0.0.1 only.
      let otherName = url.replacingOccurrences(of: "127.0.0.1", with: "localhost")
      #expect(failure(otherName, trusting: certificate)?.code == .tls)
    }
  }

  @Test func redirectsFromHTTPSToHTTPAreRefused() throws {
    let plain = try TestServer { _ in TestServer.Answer("200 OK", body: [1]) }
    defer { plain.stop() }
    let folder = try TemporaryFolder()
    try folder.write(
      "page", "HTTP/1.0 302 Found\r\nLocation: \(plain.url("/new?token=hunter2"))\r\n\r\n")
    try withServer("-HTTP", folder: folder.path) { url, certificate in
      let url = url + "page"
      let error = try #require(failure(url, trusting: certificate))
      #expect(error.code == .refusedRedirect)
      #expect(error.detail?.contains("from https to http") == true)
      #expect(!error.description.contains("hunter2"))
      #expect(plain.requests.isEmpty)
      #expect(failure(url, trusting: certificate, followingAll: true) == nil)
      #expect(plain.requests.count == 1)
    }
  }

  /// The error of a request. Its connection is closed on return, because the server serves one at a
  /// time.
  private func failure(
    _ url: String, trusting certificate: String?, followingAll: Bool = false
  ) -> FeedError? {
    var options = FeedClient.Options(version: "0")
    options.trustsRedirects = followingAll
    options.certificateAuthorityFile = certificate
    options.connectTimeoutMilliseconds = 180_000
    options.stallTimeoutMilliseconds = 180_000
    do throws(FeedError) {
      let response = try FeedClient(options: options).open(url: url)
      return response.status == 200 ? nil : FeedError.http(status: 0, retryAfter: nil, url: url)
    } catch {
      return error
    }
  }
}
