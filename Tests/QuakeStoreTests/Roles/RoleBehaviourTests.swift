import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeSchema
import QuakeWorker
import TestSupport
import Testing

/// Behaviour beyond privileges: a role's own rows, and functions that run with the owner's privileges.
@Suite struct RoleBehaviourTests {
  @Test(arguments: ServerVersion.usual)
  func aWatcherMovesOnlyItsOwnCursor(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let other = try database.makeRole("colleague")
    try database.connection.run("grant \(database.names.name(.watcher)) to \(other)")
    let mine = try database.connect(as: .watcher)
    let theirs = try database.connect(as: other)
    let place = HistoryCursor(token: .beginning, changes: 0)
    for (name, connection) in [("mine", mine), ("theirs", theirs)] {
      let cursor = DurableCursor(name: name)
      #expect(try cursor.take(over: connection) == nil)
      try cursor.begin(at: place, over: connection)
      try cursor.move(to: place, over: connection)
      try cursor.touch(over: connection)
    }
    // Everybody sees both.
    #expect(try DurableCursor.list(over: mine).map(\.name) == ["mine", "theirs"])
    #expect(
      try mine.table("select name, role from quake.watcher order by name")
        == ["mine|\(database.names.name(.watcher))", "theirs|\(other)"])
    let before = try database.connection.ask(
      "select w::text from quake.watcher w where name = 'theirs'")
    for statement in [
      "update quake.watcher set holder = 'me'  where name = 'theirs'",
      "update quake.watcher set token = 0, nonce = null, changes = 0 where name = 'theirs'",
      "insert into quake.watcher (name, holder, token, changes) values ('theirs', 'me', 0, 0) on conflict (name) do update set holder = excluded.holder",
      "insert into quake.watcher (name, holder, token, changes, role) values ('new', 'me', 0, 0, '\(other)')",
      "update quake.watcher set role = '\(other)' where name = 'mine'",
      "update quake.watcher set name = 'x' where name = 'mine'",
      "delete from quake.watcher where name = 'theirs'", "delete from quake.watcher",
    ] { _ = try? mine.run(statement) }
    #expect(throws: (any Error).self) {
      let cursor = DurableCursor(name: "theirs")
      _ = try cursor.take(over: mine)
      try cursor.begin(at: place, over: mine)
    }
    #expect(
      try database.connection.ask("select w::text from quake.watcher w where name = 'theirs'")
        == before)
    #expect(
      try database.connection.table("select name from quake.watcher order by name")
        == ["mine", "theirs"])
    // The purger removes them.
    let purger = try database.connect(as: .purger)
    #expect(try DurableCursor.remove("theirs", over: purger))
    #expect(try DurableCursor.list(over: mine).map(\.name) == ["mine"])
  }

  @Test(arguments: ServerVersion.usual)
  func anEditorsChangesAreRecordedWithItsName(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let editor = try database.connect(as: .editor)
    try editor.run(
      "insert into quake.quake (code, time) values ('a', now())",
      "update quake.quake set validated = true where code = 'a'",
      "insert into quake.quake_alias (id, code) values ('b', 'a')",
      "delete from quake.quake_alias where id = 'b'", "delete from quake.quake where code = 'a'")
    #expect(
      try editor.table(
        "select op, database_user from quake.changes_since('0') order by token, position")
        == ["insert", "update", "delete"].map { "\($0)|\(database.names.name(.editor))" })
  }

  @Test(arguments: ServerVersion.usual)
  func theOwnerEnablesAssociationsWritersUpdateThemAndEditorsDecide(_ version: ServerVersion) throws
  {
    let database = try RoledDatabase(on: version)
    #expect(throws: PostgresError.self) {
      try AssociationTriggers.enable(over: database.connect(as: .editor))
    }
    try AssociationTriggers.enable(over: database.connect(as: .owner))
    let writer = try database.connect(as: .writer)
    let editor = try database.connect(as: .editor)
    let reader = try database.connect(as: .reader)
    let both = "select code from quake.current_quake order by code"
    try writer.run(
      """
      insert into quake.quake (code, source, time, latitude, longitude)
      values ('us1', 'usgs', '2026-01-01', 1, 2), ('em1', 'emsc', '2026-01-01', 1, 2)
      """)
    try Associations(connection: writer, author: "worker").update()
    #expect(try reader.table(both) == ["us1"])
    #expect(try reader.table("select quake.others('us1')") == ["{em1}"])
    #expect(throws: PostgresError.self) {
      try Associations(connection: writer, author: "worker").split("us1", "em1")
    }
    try Associations(connection: editor, author: "ann").split("us1", "em1")
    #expect(try reader.table(both) == ["em1", "us1"])
    #expect(try Associations(connection: editor, author: "ann").forget("us1", "em1"))
    try SourcePreference.set(["emsc"], in: nil, over: editor)
    try Associations(connection: editor, author: "ann").noteAll()
    try Associations(connection: editor, author: "ann").update()
    #expect(try reader.table(both) == ["em1"])
    #expect(throws: PostgresError.self) {
      try Associations(connection: reader, author: "ann").split("us1", "em1")
    }
    try Associations(connection: editor, author: "ann").dissolveAll()
    try AssociationTriggers.disable(over: database.connect(as: .owner))
    #expect(try reader.table(both) == ["em1", "us1"])
    #expect(try database.findings() == [])
  }

  @Test(arguments: ServerVersion.usual)
  func aPurgerPurgesAndChangesNothingElseOfTheHistory(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let editor = try database.connect(as: .editor)
    try editor.run("insert into quake.quake (code, time) values ('a', now())")
    for felt in 1...5 { try editor.run("update quake.quake set felt = \(felt)") }
    let purger = try database.connect(as: .purger)
    let newest = try #require(
      try purger.ask("select quake.latest_token()").flatMap { ChangeToken($0) })
    let retention = Retention(connection: purger)
    #expect(try retention.plan(before: .token(newest)).versions == 5)
    #expect(try retention.purge(before: .token(newest)).versions == 5)
    #expect(try database.connection.ask("select count(*) from quake.quake_version") == "1")
    for role in Role.allCases where role != .purger && role != .owner {
      let connection = try database.connect(as: role)
      for statement in [
        "select quake.raise_history_floor('\(newest)', '0')", "select quake.purge_history(10)",
      ] {
        #expect(try refusal(connection, statement)?.sqlState == "42501", "\(role): \(statement)")
      }
    }
  }

  @Test(arguments: ServerVersion.usual)
  func aSessionThatKeepsItsTokenIsEndedByTheSetting(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let idle = "idle_in_transaction_session_timeout"
    #expect(try database.connect(as: .writer).ask("show \(idle)") == "10min")
    try database.connection.run(
      "alter role \(database.names.name(.writer)) in database \(database.database.name) set \(idle) = '500ms'"
    )
    let held = try database.connect(as: .writer)
    // In one message: between two, a busy machine might be idle for longer than that.
    try held.executeScript(
      """
      begin;
      insert into quake.quake (code, time) values ('held', now());
      set constraints all immediate;
      """)
    let editor = try database.connect(as: .editor)
    try editor.run(
      "set lock_timeout = '3min'", "insert into quake.quake (code, time) values ('a', now())")
    #expect(try editor.table("select code from quake.quake") == ["a"])
  }

  @Test(arguments: ServerVersion.usual)
  func aReaderAsksForARefreshAMonitorReadsTheStatus(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let writer = try database.connect(as: .writer)
    try writer.run("insert into quake.feed (name, url) values ('all_day', 'https://example.org')")
    #expect(try FeedLock.acquire(["all_day"], over: writer).map(\.feed) == ["all_day"])
    for role in [Role.reader, .watcher, .editor, .writer] {
      let connection = try database.connect(as: role)
      let request = try RefreshRequest.ask(for: "all_day", over: connection)
      // Those who ask meanwhile may share one request.
      #expect(try request.status(over: connection).map(\.feed) == ["all_day"], "\(role)")
    }
    #expect(try RefreshQueue.accept(for: ["all_day"], over: writer) == ["all_day"])
    let monitor = try database.connect(as: .monitor)
    let feed = try #require(
      try StoreStatus.read(
        over: monitor, queueShare: 0.25
      ).feeds.first)
    #expect(feed.isHeld && feed.holderApplication == database.names.name(.writer))
  }
}
