import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// A standby is promoted that has not received the last transactions of its primary.
@Suite struct LossyFailoverTests {
  @Test func namedWatchersNameWhatAFailoverHasLost() throws {
    let servers = try ReplicatedServers()
    let folder = try TemporaryFolder()
    let hosts = try [servers.primary, servers.standby].map { try $0.status().socketDirectory }
    let both =
      "\(servers.primary.conninfo) host=\(hosts.joined(separator: ",")) target_session_attrs=read-write"
    func watch(_ name: String, _ arguments: [String]) throws -> ToolProcess {
      try Tools.start(
        "quake-watch", ["-d", both, "--json", "--name", name, "--from-start"] + arguments,
        environment: ["XDG_STATE_HOME": folder.path])
    }
    func insert(_ code: String) throws {
      try servers.ask(
        servers.primary, "insert into quake.quake (code, time) values ('\(code)', now())")
    }
    // One watcher runs all the time, the other one only in between.
    let running = try watch("running", ["--on-expired", "snapshot"])
    try insert("a")
    #expect(try JSONLine(running.line()).string("code") == "a")
    #expect(try watch("other", ["--no-follow"]).exit().lines.count == 1)
    try eventually("the standby has both cursors") {
      try servers.ask(
        servers.standby, "select count(*) from quake.watcher where token = 1") == "2"
    }
    try servers.standby.stop(mode: .immediate)
    for code in ["b", "c"] { try insert(code) }
    let told = try servers.ask(
      servers.primary,
      "select string_agg(token || '.' || nonce, ', ' order by token) from quake.change_transaction where token > 1"
    )
    #expect(try running.lines(2).count == 2)
    #expect(try watch("other", ["--no-follow"]).exit().lines.count == 2)

    try servers.primary.stop(mode: .immediate)
    try servers.standby.start()
    try servers.promote()
    let words = "Transactions \(told), which this watcher has delivered, are not in this history"
    let lines = try running.lines(2).map(JSONLine.init)
    #expect(lines.map { $0.string("op") } == ["reset", "snapshot"])
    #expect(running.errorText.contains(words), "\(running.errorText)")
    let stopped = try watch("other", ["--no-follow"]).exit()
    #expect(stopped.status == 65 && stopped.errors.contains(words), "\(stopped.errors)")
    running.signal(SIGTERM)
    #expect(try running.exit().status == 0)
  }
}
