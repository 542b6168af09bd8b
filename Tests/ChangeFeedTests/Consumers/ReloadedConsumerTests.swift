import EmbeddedPostgres
import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

/// What a `quake-watch run` keeps when it reads its configuration anew, or has trouble beside its work.
@Suite struct ReloadedConsumerTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  private var file: String { folder.path + "/consumers.conf" }

  /// A consumer that appends the codes of its events to a file of its name.
  private func section(_ name: String, _ lines: String...) -> String {
    let command = "exec = echo \"$QUAKE_CODE\" >> '\(folder.path)/\(name)'"
    return (["[consumer \(name)]", command] + lines).joined(separator: "\n") + "\n"
  }

  private func configure(_ sections: String...) throws {
    try folder.write("consumers.conf", sections.joined())
  }

  private func start(_ conninfo: String? = nil) throws -> ToolProcess {
    let option = conninfo.map { ["--database", $0] } ?? database.option
    return try Tools.start("quake-watch", ["run", "--config", file, "--no-witness"] + option)
  }

  private func insert(_ code: String, magnitude: Double = 5) throws {
    try database.psql(
      "insert into quake.quake (code, time, magnitude) values ('\(code)', now(), \(magnitude));")
  }

  private func delivered(_ name: String) -> [String] {
    let text = (try? String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)) ?? ""
    // A command may be in the middle of the last line.
    let whole = text.lastIndex(of: "\n").map { text[..<$0] } ?? ""
    return whole.split(separator: "\n").map(String.init)
  }

  private func end(_ process: ToolProcess) throws {
    process.signal(SIGTERM)
    #expect(try process.exit().ending == .exited(0))
  }

  @Test func aConsumerThatCannotBeginChangesNothing() throws {
    try configure(section("stays"))
    let process = try start()
    try process.waitForError("delivering for 1 consumer")
    try configure(section("comes"), section("odd", "from = 999.0badcafe"))
    process.signal(SIGHUP)
    try process.waitForError(
      "was not read anew: \(file):4: key 'from': token 999.0badcafe is in the future")
    try insert("a")
    try eventually("it goes on") { delivered("stays") == ["a"] }
    #expect(try database.column("select name from quake.consumer") == ["stays"])
    try configure(section("stays"), section("comes"))
    process.signal(SIGHUP)
    try process.waitForError("read the configuration anew: 1 added, 0 changed, 2 in all")
    try insert("b")
    try eventually("both deliver") {
      delivered("stays") == ["a", "b"] && delivered("comes") == ["b"]
    }
    try end(process)
  }

  @Test func aConsumerThatWasRewoundGetsItsNewConditions() throws {
    try configure(section("log"))
    let process = try start()
    try process.waitForError("delivering for 1 consumer")
    try configure(section("log", "min-magnitude = 4"))
    try Tools.succeed(
      "quake-admin", ["consumers", "rewind", "log", "--to", "0", "--yes"] + database.option)
    // It looks for rewinds every two seconds, so it learns of this first.
    process.signal(SIGHUP)
    try process.waitForError("read the configuration anew")
    try process.waitForError("continues after 0")
    try insert("weak", magnitude: 3)
    try insert("strong")
    try eventually("it delivers") { delivered("log").contains("strong") }
    #expect(delivered("log") == ["strong"])
    try end(process)
  }

  @Test func aLostConnectionDelaysTheReload() throws {
    try configure(section("stays"))
    let process = try start()
    try process.waitForError("delivering for 1 consumer")
    let connection = try database.connect()
    try connection.transaction {
      try connection.execute("lock table quake.watcher in access exclusive mode")
      try configure(section("stays"), section("comes"))
      process.signal(SIGHUP)
      let waiter = """
        select pid from pg_stat_activity
         where application_name = 'quake-watch' and wait_event_type = 'Lock'
           and datname = current_database()
        """
      try eventually("it waits for the lock") { try !database.column(waiter).isEmpty }
      try database.psql("select pg_terminate_backend(pid) from (\(waiter)) w;")
      try process.waitForError("Trying again until the connection is restored")
    }
    try process.waitForError("read the configuration anew: 1 added, 0 changed, 2 in all")
    try insert("a")
    try eventually("both deliver") { delivered("stays") == ["a"] && delivered("comes") == ["a"] }
    try end(process)
  }

  @Test func aHangupBeforeTheFileIsReadReadsItAnewLater() throws {
    #expect(mkfifo(file, 0o600) == 0)
    let process = try start()
    // The program waits for the file's contents.
    let writing = try opened()
    process.signal(SIGHUP)
    try give(section("first"), to: writing)
    try process.waitForError("delivering for 1 consumer")
    try give(section("first") + section("second"), to: try opened())
    try process.waitForError("read the configuration anew: 1 added, 0 changed, 2 in all")
    try end(process)
  }

  /// The end of the pipe for writing, as soon as the program reads the other one.
  private func opened() throws -> FileHandle {
    var descriptor: Int32 = -1
    try eventually("the program opens its configuration file") {
      descriptor = open(file, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
      return descriptor >= 0
    }
    return FileHandle(fileDescriptor: descriptor)
  }

  private func give(_ text: String, to handle: FileHandle) throws {
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
  }

  @Test func aSecondConnectionThatHangsDelaysOnlyWhoNeedsIt() throws {
    let proxy = try FaultyProxy(
      to: TestServer.shared.server.status().socketDirectory + "/.s.PGSQL.5432")
    defer { proxy.stop() }
    try configure(section("first"))
    let process = try start(proxy.conninfo(database: database.name, user: "quake"))
    try process.waitForError("delivering for 1 consumer")
    try insert("a")
    try eventually("it is delivered") { delivered("first") == ["a"] }
    // The first statement of the reader for those that are behind.
    let hold = proxy.hold("quake.token_number")
    try configure(section("first"), section("late", "from = start"))
    process.signal(SIGHUP)
    try hold.isHeld.require("it reads the history over a second connection")
    try insert("b")
    try eventually("the other one does not wait") { delivered("first") == ["a", "b"] }
    hold.mayPass.happen()
    try eventually("it catches up") { delivered("late") == ["a", "b"] }
    try end(process)
  }

  @Test func aReaderThatHasGoneEndsTheProgramAlsoIfTwoWriteToIt() throws {
    try configure("[consumer one]\noutput = stdout\n[consumer two]\noutput = stdout\n")
    let process = try start()
    try process.waitForError("delivering for 2 consumers")
    process.closeOutput()
    try insert("a")
    #expect(try process.exit().status == 74)
  }
}
