import Foundation
import TestSupport
import Testing

/// Something between the server and `quake-watch --url` leaves out changes. The watch ends with both ends of the gap.
@Suite struct WatchServerGapTests {
  private let database: TestDatabase
  private let server: ServerProcess

  init() throws {
    database = try TestDatabase()
    for (name, count) in [("a", 1), ("b", 3), ("c", 1), ("d", 2)] {
      try database.psql(
        """
        insert into quake.quake (code, time)
        select '\(name)' || i, now() from generate_series(1, \(count)) i;
        """)
    }
    server = try ServerProcess(database)
  }

  /// What is left out of seven changes.
  enum Fault: CaseIterable {
    case first, transaction, twoTransactions, endOfTransaction, last, predecessors

    var leftOut: Range<Int> {
      switch self {
      case .first: 0..<1
      case .transaction: 1..<4
      case .twoTransactions: 1..<5
      case .endOfTransaction: 3..<4
      case .last: 5..<7
      case .predecessors: 0..<0
      }
    }
  }

  /// A server that passes on what the real one answers, without some events of a stream of changes.
  private func forgery(_ fault: Fault) throws -> ScriptedServer {
    let port = server.port
    return try ScriptedServer { request, client in
      let isList = request.target.contains("snapshot=1")
      let answer = try? RawConnection(port: port).request(
        "GET", request.target + "&wait=0", ["Accept": "text/event-stream", "Connection": "close"])
      guard let answer else { return }
      client.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
      if isList {
        client.send(answer.body)
      } else {
        var events = answer.text.components(separatedBy: "\n\n")
        if events.count > 7 { events.removeSubrange(fault.leftOut) }
        var text = events.joined(separator: "\n\n")
        if fault == .predecessors { text.replace(#/predecessor: .*\n/#, with: "") }
        client.send(text)
      }
      client.hold()
    }
  }

  private func watch(_ fault: Fault, _ arguments: [String]) throws -> (
    process: ToolProcess, server: ScriptedServer
  ) {
    let server = try forgery(fault)
    let process = try Tools.start(
      "quake-watch",
      ["--url", "http://127.0.0.1:\(server.port)", "--json", "--from-start"] + arguments)
    return (process, server)
  }

  @Test func aWatchEndsAtAGap() throws {
    let tokens = try database.tokens()
    let history = try database.history()
    for fault in Fault.allCases { try expectEnd(at: fault, tokens, history) }
    // A filter of the server leaves out what it may.
    let filtered = try Tools.run(
      "quake-watch", ["--url", server.url, "--json", "--from-start", "--no-follow", "--code", "d2"]
    ).expect(0)
    #expect(filtered.lines.count == 1, "\(filtered.errors)")
    // A watch begins again with the list if it may.
    let (process, forger) = try watch(.transaction, ["--on-expired", "snapshot"])
    let lines = try process.lines(9).map(JSONLine.init)
    #expect(
      lines.map { $0.string("op") }
        == ["insert", "reset"] + Array(repeating: "snapshot", count: 7))
    #expect(lines[1].string("reason") == "diverged")
    try process.end()
    withExtendedLifetime(forger) {}
  }

  private func expectEnd(at fault: Fault, _ tokens: [String], _ history: [String]) throws {
    let (process, server) = try watch(fault, ["--no-follow"])
    let outcome = try process.exit()
    withExtendedLifetime(server) {}
    if fault == .predecessors {
      // A server of an earlier version does not name them.
      #expect(outcome.status == 0, "\(outcome.errors)")
      return
    }
    #expect(outcome.status == 65, "\(outcome.errors)")
    let read = try outcome.lines.map { try JSONLine($0).change }
    #expect(read == Array(history[..<fault.leftOut.lowerBound]))
    let message: String
    let detail: String
    switch fault {
    case .first:
      message = "history diverged at token 0\n"
      detail = "The next transaction here, \(tokens[1]), names \(tokens[0]) as the one before it."
    case .transaction:
      message = "history diverged at token \(tokens[0])\n"
      detail = "The next transaction here, \(tokens[2]), names \(tokens[1]) as the one before it."
    case .twoTransactions:
      message = "history diverged at token \(tokens[0])\n"
      detail = "The next transaction here, \(tokens[3]), names \(tokens[2]) as the one before it."
    case .endOfTransaction:
      message = "history diverged at token \(tokens[1])\n"
      detail = "The history holds only 2 of the transaction's changes."
    case .last, .predecessors:
      message = "history diverged at token \(tokens[2])\n"
      detail = "The history ends with \(tokens[3]) here, and the changes in between did not come."
    }
    #expect(outcome.errors.contains("error: " + message), "\(outcome.errors)")
    #expect(outcome.errors.contains("detail: " + detail), "\(outcome.errors)")
    #expect(outcome.errors.contains("a proxy in front of it"), "\(outcome.errors)")
  }
}
