import Foundation
import Testing

@testable import QuakeFeed

@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "no openssl"))
struct TLSTests {
  /// Runs `openssl` to its end.
  private func openssl(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }

  @Test func onlyACertificateToBeTrustedIsTrusted() throws {
    let key = try TemporaryFile.path()
    let certificate = try TemporaryFile.path()
    defer {
      TemporaryFile.remove(key)
      TemporaryFile.remove(certificate)
    }
    try openssl(
      "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
      "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)

    let server = Process()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    server.arguments = [
      "s_server", "-accept", "127.0.0.1:0", "-www", "-key", key, "-cert", certificate,
    ]
    let output = Pipe()
    server.standardOutput = output
    server.standardError = FileHandle.nullDevice
    server.standardInput = FileHandle.nullDevice
    try server.run()
    defer {
      // Not terminate(): SIGTERM does not end it when it is started from here.
      kill(server.processIdentifier, SIGKILL)
      server.waitUntilExit()
    }
    // It says "ACCEPT address:port" when it listens; the read ends if it dies instead.
    var text = ""
    while text.split(separator: "\n").allSatisfy({ !$0.hasPrefix("ACCEPT") }) || text.last != "\n" {
      let data = output.fileHandleForReading.availableData
      try #require(!data.isEmpty)
      text += String(decoding: data, as: UTF8.self)
    }
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ACCEPT") })
    let url = "https://127.0.0.1:\(try #require(line.split(separator: ":").last))/"

    #expect(failure(url, trusting: nil)?.code == .tls)
    #expect(failure(url, trusting: nil)?.kind == .unavailable)
    #expect(failure(url, trusting: certificate) == nil)
    // The certificate is for 127.0.0.1 only.
    let otherName = url.replacingOccurrences(of: "127.0.0.1", with: "localhost")
    #expect(failure(otherName, trusting: certificate)?.code == .tls)
  }

  /// The error of a request. Its connection is closed by the end: the server serves one at a time.
  private func failure(_ url: String, trusting certificate: String?) -> FeedError? {
    var options = FeedClient.Options(version: "0")
    options.certificateAuthorityFile = certificate
    do throws(FeedError) {
      let response = try FeedClient(options: options).open(url: url)
      return response.status == 200 ? nil : FeedError.http(status: 0, retryAfter: nil, url: url)
    } catch {
      return error
    }
  }
}
