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

    var options = FeedClient.Options(version: "0")
    var failure: FeedError?
    do throws(FeedError) {
      _ = try FeedClient(options: options).open(url: url)
    } catch {
      failure = error
    }
    #expect(failure?.code == .tls)
    #expect(failure?.kind == .unavailable)

    options.certificateAuthorityFile = certificate
    let response = try FeedClient(options: options).open(url: url)
    #expect(response.status == 200)

    // The certificate is for 127.0.0.1 only.
    do throws(FeedError) {
      _ = try FeedClient(options: options).open(
        url: url.replacingOccurrences(of: "127.0.0.1", with: "localhost"))
      failure = nil
    } catch {
      failure = error
    }
    #expect(failure?.code == .tls)
  }
}
