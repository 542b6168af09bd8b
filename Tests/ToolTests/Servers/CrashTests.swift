import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// The tools when the server is killed or stopped.
@Suite struct CrashTests {
  @Test func runAndWatchSurviveAServerThatIsKilledOrStopped() throws {
    let server = try ToolServer(isInitialised: true)
    let run = try server.start(
      "quake-ingest", ["run", "--feed", "simulated", "--every", "100ms"])
    try run.waitForError("token 1.")
    let watch = try server.start("quake-watch", ["--json", "--from-start"])
    var received = try watch.lines(2000).map { try JSONLine($0).change }
    for round in 1...2 {
      // While changes are being committed.
      received.append(try JSONLine(watch.line()).change)
      kill(try #require(server.embedded.status().pid), SIGKILL)
      try watch.waitForError("connected again", count: round)
      try run.waitForError("connected to the database again", count: round)
      received.append(try JSONLine(watch.line()).change)
    }
    // A server that was stopped on purpose is not started again by the tools. Both connect again
    // once it runs.
    #expect(try server.command("stop").status == 0)
    try watch.waitForError("lost the connection to the database", count: 3)
    try run.waitForError("lost the database", count: 3)
    #expect(try server.command("status").status == 1)
    #expect(try server.command("start").status == 0)
    try watch.waitForError("connected again", count: 3)
    try run.waitForError("connected to the database again", count: 3)
    received.append(try JSONLine(watch.line()).change)

    try run.end()
    let history = try server.psql(
      """
      select concat_ws(' ', token, position, op, coalesce(code, 'null'))
        from quake.changes_since('0')
      """)
    while received.count < history.count {
      received.append(try JSONLine(watch.line()).change)
    }
    watch.signal(SIGTERM)
    try watch.exit().expect(0, output: "")
    #expect(received == history)
    #expect(history.count > 2003)
    // The table and the history have the same events.
    #expect(
      try server.psql(
        """
        select count(*) from (
          (select code, magnitude, time, as_of from quake.quake
           except select code, magnitude, time, as_of from quake.as_of(quake.latest_token()))
          union all
          (select code, magnitude, time, as_of from quake.as_of(quake.latest_token())
           except select code, magnitude, time, as_of from quake.quake)) d
        """) == ["0"])
  }
}
