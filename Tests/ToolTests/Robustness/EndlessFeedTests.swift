import TestSupport
import Testing

/// Servers that answer an import without an end.
@Suite struct EndlessFeedTests {
  /// The outcome of an import from a server that sends the start, and the rest again and again.
  private func outcome(_ start: String, _ rest: [UInt8]) throws -> ToolProcess.Outcome {
    let server = try ScriptedServer { _, client in
      client.send(start)
      while client.send(rest) {}
    }
    defer { server.stop() }
    let database = try TestDatabase()
    return try Tools.run("quake-ingest", ["import", server.url] + database.option)
  }

  private static let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"

  @Test func nothingButSpacesEndsWithASentence() throws {
    let ended = try outcome(Self.head, [UInt8](repeating: 0x20, count: 1 << 20))
    #expect(ended.status == 65)
    #expect(ended.errors.contains("has no event in 64 MiB"), "\(ended.errors)")
  }

  @Test func nothingButEmptyMembersEndsWithASentence() throws {
    let member: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    let ended = try outcome(Self.head, Array(repeating: member, count: 10_000).flatMap { $0 })
    #expect(ended.status == 65)
    #expect(ended.errors.contains("does not become a feed"), "\(ended.errors)")
  }

  @Test func nothingButInterimAnswersEndsWithASentence() throws {
    let ended = try outcome("", Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    #expect(ended.status == 69)
    #expect(ended.errors.contains("more than 100 interim answers"), "\(ended.errors)")
  }
}
