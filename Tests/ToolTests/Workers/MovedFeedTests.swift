import Foundation
import TestSupport
import Testing

/// Feeds whose server redirects to another address, or says that they are gone.
@Suite final class MovedFeedTests: ToolSuite {
  private func admin(_ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run("quake-admin", arguments)
  }

  /// A server that redirects from `/old.geojson` with a status to an address, and has the feed everywhere else.
  private func server(
    _ status: Int, to address: @escaping @Sendable (_ port: String) -> String
  ) throws -> ScriptedServer {
    let body = Array(Feeds.collection(count: 3).utf8)
    return try ScriptedServer { request, client in
      let port = request.headers["host"]?.split(separator: ":").last.map(String.init) ?? ""
      if request.target.hasPrefix("/old") {
        client.answer(status, ["Location: \(address(port))"], "")
      } else if request.headers["if-none-match"] != nil {
        client.answer(304, ["ETag: \"a\""], "")
      } else {
        client.answer(200, ["ETag: \"a\""], body)
      }
    }
  }

  private func poll(_ server: ScriptedServer) throws -> ToolProcess.Outcome {
    try database.run(
      "quake-ingest",
      ["run", "--once", "--feed", "old=http://127.0.0.1:\(server.port)/old.geojson"])
  }

  @Test func aRedirectWithAnotherQueryEachTimeIsReportedOnce() throws {
    let server = try server(301) { _ in "/new.geojson?limit=\(Int.random(in: 1...1_000_000_000))" }
    #expect(try poll(server).errors.contains("redirects to"))
    #expect(try !poll(server).errors.contains("redirects to"))
  }

  @Test func aRedirectForGoodIsReportedWithTheNewAddress() throws {
    let server = try server(308) { _ in "/new.geojson?token=swordfish" }
    let words = "redirects to http://127.0.0.1:\(server.port)/new.geojson?token=***"
    try poll(server).expect(0, "the server of feed old \(words)")
    // The log has it once, also when the server answers that nothing has changed.
    for _ in 0..<2 {
      let again = try poll(server).expect(0)
      #expect(!again.errors.contains("redirects"), "\(again.errors)")
    }
    let list = try admin("feeds", "list")
    #expect(list.lines.first == "1 feed: 1 redirected", "\(list.output)")
    let flat = list.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(flat.contains(words), "\(list.output)")
    try admin("status", "--json").expect(
      1, printing: "\"problems\":[\"the server of feed old \(words)\"]")
    #expect(try admin("feeds", "show", "old").output.contains("/new.geojson?token=***"))
    #expect(
      try admin("status", "--prometheus").output.contains("quake_feed_moved{feed=\"old\"} 1"))
  }

  @Test func anAnswerFromAnotherHostIsReportedAndOneFromTheSameIsNot() throws {
    let other = try server(302) { "http://localhost:\($0)/new.geojson" }
    let outcome = try poll(other)
    #expect(
      outcome.errors.contains("redirects to http://localhost:\(other.port)/new.geojson"),
      "\(outcome.errors)")
    let same = try server(302) { _ in "/new.geojson" }
    #expect(try !poll(same).errors.contains("redirects"))
    // The address is forgotten once the server no longer redirects there.
    #expect(try database.value("select moved_to is null from quake.feed") == "t")
    #expect(try admin("status").status == 0)
  }

  /// What a new address may answer: a page for people, or nothing at all.
  @Test(arguments: [200, nil]) func theNewAddressIsNamedAlsoIfTheRequestThereFails(
    _ status: Int?
  ) throws {
    let reserved = try ReservedPort()
    let closed = reserved.number
    let old = try ScriptedServer { request, client in
      let port = request.headers["host"]?.split(separator: ":").last.map(String.init) ?? ""
      let address = "127.0.0.1:\(status == nil ? "\(closed)" : port)/new?token=swordfish"
      if request.target.hasPrefix("/old") {
        client.answer(301, ["Location: http://\(address)"], "")
      } else {
        client.answer(200, ["Content-Type: text/html"], "<html>welcome</html>")
      }
    }
    let port = status == nil ? closed : old.port
    let words = "redirects to http://127.0.0.1:\(port)/new?token=***"
    let first = try poll(old)
    #expect(first.status != 0)
    #expect(first.errors.contains("the server of feed old \(words)"), "\(first.errors)")
    #expect(try !poll(old).errors.contains("redirects to"))
    let list = try admin("feeds", "list")
    #expect(list.lines.first == "1 feed: 1 failing, 1 redirected", "\(list.output)")
    let flat = list.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(flat.contains(words), "\(list.output)")
    let shown = try admin("status")
    #expect(shown.output.contains("the server of feed old \(words)"), "\(shown.output)")
    #expect(shown.errors.contains("find out the right address"), "\(shown.errors)")
  }

  @Test func aFeedThatIsGoneSaysWhatToDo() throws {
    for (status, words) in [
      (404, "may have been moved or retired"), (409, "has been deleted from the catalogue"),
      (410, "Look for its new address, or stop polling it."),
    ] {
      let server = try ScriptedServer(status, body: [])
      try poll(server).expect(69, words)
      let list = try admin("feeds", "list")
      #expect(list.lines.first?.contains("1 failing") == true, "\(list.output)")
      for output in [list.output, try admin("status").output] {
        let flat = output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(flat.contains("HTTP status \(status)") && flat.contains(words), "\(output)")
      }
    }
  }
}
