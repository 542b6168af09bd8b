import Foundation
import TestSupport
import Testing

/// A named watcher after its database was restored to an earlier state, or lost transactions in a failover: the cursor
/// in the database has gone back, and the witness has not.
@Suite final class WitnessTests: ToolSuite {
  private func watch(
    _ arguments: [String], of database: TestDatabase, environment: [String: String] = [:]
  ) throws -> ToolProcess {
    try database.start(
      "quake-watch", ["--json", "--name", "alerts"] + arguments,
      environment: ["XDG_STATE_HOME": folder.path].merging(environment) { $1 }, folder: folder.path)
  }

  /// Runs a watch from the start to the end of the history.
  private func run(
    _ arguments: [String] = [], of database: TestDatabase, environment: [String: String] = [:]
  ) throws -> ToolProcess.Outcome {
    try watch(["--no-follow", "--from-start"] + arguments, of: database, environment: environment)
      .exit()
  }

  /// The codes that a watch prints; its status must be 0.
  private func codes(
    _ arguments: [String] = [], of database: TestDatabase
  ) throws -> [String?] {
    let outcome = try run(arguments, of: database).requireSuccess()
    #expect(outcome.errors.isEmpty, "\(outcome.errors)")
    return try outcome.lines.map { try JSONLine($0).string("code") }
  }

  private func cursor(in database: TestDatabase) throws -> String {
    try database.value("select token from quake.watcher_lag where name = 'alerts'")
  }

  private func removeCursor(from database: TestDatabase) throws {
    try database.succeed("quake-admin", ["watchers", "remove", "alerts", "--yes"])
  }

  private var witness: String {
    get throws {
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/quake/watch")
      try #require(files.count == 1, "\(files)")
      return folder.path + "/quake/watch/" + files[0]
    }
  }

  /// The watcher has delivered a, b and c of both databases, d and e of the first alone. The cursor in the second is
  /// after b, as in a backup from before the watcher read c.
  private func restored() throws -> TestDatabase {
    try database.insert("a", "b")
    #expect(try codes(of: database) == ["a", "b"])
    try database.insert("c")
    let copy = try TestDatabase(copying: database)
    #expect(try codes(of: database) == ["c"])
    try database.insert("d", "e")
    #expect(try codes(of: database) == ["d", "e"])
    return copy
  }

  // MARK: - Restores

  @Test func withoutAWitnessARestoreIsNotNoticed() throws {
    let copy = try restored()
    try copy.insert("x", "y")
    #expect(try codes(["--no-witness"], of: copy) == ["c", "x", "y"])
  }

  @Test(arguments: [1, 3])
  func aRestoreIsAnErrorThatNamesWhatIsLost(_ count: Int) throws {
    let copy = try restored()
    // So many transactions of its own give other nonces to numbers that were delivered.
    for code in ["x", "y", "z"].prefix(count) { try copy.insert(code) }
    let (told, here) = (try database.tokens(), try copy.tokens())
    for _ in 1...2 {
      let outcome = try run(of: copy).expectFailure(65)
      let message =
        count < 2
        ? "token \(told[4]) is in the future\n  detail: The newest token here is \(here[2 + count])."
        : "history diverged at token \(told[4])\n  detail: Transaction 5 is \(here[4]) here."
      #expect(
        outcome.errors.hasPrefix(
          """
          quake-watch: error: \(message) Transactions \(told[3]), \(told[4]), which this watcher has \
          delivered, are not in this history any more.
          """), "\(outcome.errors)")
      #expect(outcome.errors.contains("after the cursor in the database instead, \(told[1])"))
      #expect(outcome.errors.contains("remove the witness \"\(try witness)\""))
      #expect(try cursor(in: copy) == told[1])
    }
    try FileManager.default.removeItem(atPath: witness)
    #expect(try codes(of: copy) == ["c"] + ["x", "y", "z"].prefix(count))
  }

  @Test func onRequestARestoreNamesWhatIsLostAndBeginsAgainWithASnapshot() throws {
    let copy = try restored()
    try copy.insert("x", "y", "z")
    let told = try database.tokens()
    let outcome = try run(["--on-expired", "snapshot"], of: copy).expect(
      0, "Transactions \(told[3]), \(told[4]), which")
    let lines = try outcome.lines.map(JSONLine.init)
    #expect(lines.map { $0.string("op") } == ["reset"] + Array(repeating: "snapshot", count: 6))
    #expect(lines[0].string("reason") == "diverged" && lines[0].string("after") == told[4])
    #expect(lines[0].text.contains("\"lost\":[\"\(told[3])\",\"\(told[4])\"]"), "\(lines[0].text)")
    // It is reported once.
    try copy.insert("after")
    #expect(try codes(of: copy) == ["after"])
    #expect(try cursor(in: copy) == copy.tokens().last)
  }

  @Test func aCommandGetsWhatIsLost() throws {
    let copy = try restored()
    try copy.insert("x", "y")
    let told = try database.tokens()
    let outcome = try run(["--on-expired", "snapshot", "--exec-batch", "cat"], of: copy).expect(0)
    let reset = try #require(outcome.lines.first)
    #expect(reset.contains("\"lost\":[\"\(told[3])\",\"\(told[4])\"]"), "\(reset)")
    #expect(outcome.lines.count == 6)
  }

  /// The backup is older than the watcher: the restored database has no cursor of that name.
  @Test func aRestoreFromBeforeTheFirstStartIsNoticed() throws {
    try database.insert("a")
    let copy = try TestDatabase(copying: database)
    #expect(try codes(of: database) == ["a"])
    try database.insert("b")
    #expect(try codes(of: database) == ["b"])
    let told = try database.tokens()
    try run(of: copy).expectFailure(
      65, "Transaction \(told[1]), which this watcher has delivered, is")
    #expect(try run(["--on-expired", "snapshot"], of: copy).status == 0)
    #expect(try codes(of: copy).isEmpty)
  }

  /// The backup has a cursor of that name, but the watcher has removed that one since, and begun anew.
  @Test func aRestoreFromBeforeTheCursorWasMadeAnewIsNoticed() throws {
    try database.insert("a", "b")
    #expect(try codes(of: database) == ["a", "b"])
    let (copy, whole) = (try TestDatabase(copying: database), try TestDatabase(copying: database))
    try removeCursor(from: database)
    #expect(try codes(of: database) == ["a", "b"])
    // So far, nothing is lost: the cursor that was made anew counts.
    #expect(try codes(of: whole).isEmpty)
    try database.insert("c", "d")
    #expect(try codes(of: database) == ["c", "d"])
    try copy.insert("x", "y", "z")
    let told = try database.tokens()
    try run(of: copy).expectFailure(
      65, "Transactions \(told[2]), \(told[3]), which this watcher has")
    let reset = try run(["--on-expired", "snapshot"], of: copy).expect(0)
    #expect(reset.lines.first?.contains("\"lost\":[\"\(told[2])\",\"\(told[3])\"]") == true)
    #expect(try codes(of: copy).isEmpty)
  }

  /// Somebody has made a cursor of that name in the restored database.
  @Test func aCursorOfTheRestoredDatabaseHidesNoLoss() throws {
    try database.insert("a")
    let copy = try TestDatabase(copying: database)
    #expect(try codes(of: database) == ["a"])
    try database.insert("b")
    #expect(try codes(of: database) == ["b"])
    try copy.insert("x", "y")
    #expect(try codes(["--no-witness"], of: copy) == ["a", "x", "y"])
    try run(of: copy).expectFailure(
      65, "Transaction \(try database.tokens()[1]), which this watcher has")
    try FileManager.default.removeItem(atPath: witness)
    #expect(try codes(of: copy).isEmpty)
  }

  /// The backup is older than the watcher, and has all that it has delivered: it skips nothing that came since.
  @Test func aCursorThatARestoreHasLostGoesOnAtTheWitness() throws {
    try database.insert("a")
    let copy = try TestDatabase(copying: database)
    #expect(try codes(of: database) == ["a"])
    try copy.insert("x", "y")
    // Not from now on, although no option names a start.
    let outcome = try watch(["--no-follow"], of: copy).exit().expect(0)
    #expect(try outcome.lines.map { try JSONLine($0).string("code") } == ["x", "y"])
    let token = try #require(try copy.tokens().first)
    #expect(
      outcome.errors.contains("and none was removed there: continuing after \(token)"),
      "\(outcome.errors)")
    // From then on, it has a cursor there.
    try copy.insert("z")
    #expect(try codes(of: copy) == ["z"])
    try removeCursor(from: copy)
    #expect(try codes(of: copy) == ["a", "x", "y", "z"])
  }

  /// More than the witness remembers.
  @Test func theLastHundredAreNamed() throws {
    let copy = try TestDatabase(copying: database)
    let connection = try database.connect()
    for number in 1...130 {
      try connection.run("insert into quake.quake (code, time) values ('e\(number)', now())")
    }
    #expect(try codes(of: database).count == 130)
    let told = try database.tokens()
    try run(of: copy).expect(
      65, "Transactions \(told[30...].joined(separator: ", ")), which",
      "Transactions before these may be lost, too.")
  }

  // MARK: - Crashes

  /// A crash after the witness was written, and before the cursor in the database moved.
  @Test func aWitnessThatIsAheadRepeatsNothing() throws {
    try database.insert("a", "b", "c")
    #expect(try codes(of: database).count == 3)
    let last = try cursor(in: database)
    let first = try #require(try database.tokens().first)
    try database.psql(
      "update quake.watcher set token = 1, nonce = split_part('\(first)', '.', 2);")
    #expect(try codes(of: database).isEmpty)
    #expect(try cursor(in: database) == last)
  }

  /// An older file, as after a restore of the folder or a run on another machine.
  @Test func aWitnessThatIsBehindSkipsAndRepeatsNothing() throws {
    try database.insert("a")
    #expect(try codes(of: database) == ["a"])
    let old = try Data(contentsOf: URL(fileURLWithPath: witness))
    try database.insert("b", "c")
    #expect(try codes(of: database) == ["b", "c"])
    try old.write(to: URL(fileURLWithPath: witness))
    #expect(try codes(of: database).isEmpty)
    try database.insert("d")
    #expect(try codes(of: database) == ["d"])
  }

  @Test func aKilledWatcherGivesNoFalseAlarmAndSkipsNothing() throws {
    var printed: [String] = []
    for round in 1...3 {
      let watcher = try watch(["--from-start"], of: database)
      for number in 1...5 { try database.insert("e\(round)-\(number)") }
      while printed.last != "e\(round)-\(round % 5 + 1)" {
        printed.append(try JSONLine(watcher.line()).string("code") ?? "")
      }
      watcher.signal(SIGKILL)
      printed += try watcher.exit().lines.map { try JSONLine($0).string("code") ?? "" }
    }
    printed += try codes(of: database).compactMap { $0 }
    let all = try database.column(
      "select code from quake.quake_version order by id")
    var distinct: [String] = []
    for code in printed where !distinct.contains(code) { distinct.append(code) }
    #expect(distinct == all)
  }

  // MARK: - Which witness

  @Test func aRemovedCursorBeginsAnew() throws {
    try database.insert("a", "b")
    #expect(try codes(of: database) == ["a", "b"])
    try removeCursor(from: database)
    #expect(try codes(["--limit", "1"], of: database) == ["a"])
    // The same on another machine: the witness here is that of the cursor before.
    try removeCursor(from: database)
    #expect(try codes(["--limit", "1", "--no-witness"], of: database) == ["a"])
    #expect(try codes(of: database) == ["b"])
    // In SQL, and again without the witness of the last one.
    try database.psql("delete from quake.watcher where name = 'alerts';")
    try FileManager.default.removeItem(atPath: witness)
    #expect(try codes(of: database) == ["a", "b"])
    try database.psql("delete from quake.watcher where name = 'alerts';")
    #expect(try codes(of: database) == ["a", "b"])
  }

  @Test func storesDoNotShareAWitness() throws {
    let other = try TestDatabase.empty()
    try other.succeed("quake-admin", ["migrate"])
    for store in [database, other] {
      try store.insert("a")
      #expect(try codes(of: store) == ["a"])
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/quake/watch")
    #expect(files.count == 2 && files.allSatisfy { $0.hasPrefix("alerts-") }, "\(files)")
  }

  @Test func theStateOptionNamesTheFile() throws {
    try database.insert("a")
    #expect(try codes(["--state", "mine"], of: database) == ["a"])
    let token = try cursor(in: database)
    let text = try contents(of: folder.path + "/mine")
    #expect(text.hasPrefix(token + "\nwatcher alerts\ncreated "), "\(text)")
    #expect(text.hasSuffix("\ndelivered \(token)\n"), "\(text)")
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/quake"))

    try run(["--no-witness", "--state", "mine"], of: database).expect(
      64, "it excludes --no-witness")
  }

  @Test func aDamagedWitnessIsAnErrorThatSaysWhatToDo() throws {
    try database.insert("a")
    #expect(try codes(of: database) == ["a"])
    let path = try witness
    let text = try contents(of: path)
    for damaged in ["", String(text.dropLast(5)), text + "more\n"] {
      try damaged.write(toFile: path, atomically: false, encoding: .utf8)
      try run(of: database).expect(
        65, "file \"\(path)\" is not a witness, or is damaged",
        "remove it: the watcher then continues")
      #expect(try codes(["--no-witness"], of: database).isEmpty)
    }
    try text.replacing("watcher alerts", with: "watcher other")
      .write(toFile: path, atomically: false, encoding: .utf8)
    try run(of: database).expect(65, "is the witness of watcher \"other\"")
    try FileManager.default.removeItem(atPath: path)
    try database.insert("b")
    #expect(try codes(of: database) == ["b"])
  }

  @Test func withoutAFolderAWatcherSaysSoAndRuns() throws {
    try database.insert("a")
    try folder.write(".local", "")
    for (home, words) in [
      ("", "none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set"),
      (folder.path, "could not create folder \"\(folder.path)/.local\": File exists"),
    ] {
      try run(of: database, environment: ["XDG_STATE_HOME": "", "HOME": home]).expect(
        0, "watcher \"alerts\" has no witness: \(words)")
    }
    try run(["--state", "none/witness"], of: database).expect(
      1, "could not write witness \"none/witness\"")
    // systemd's StateDirectory= has precedence.
    try run(of: database, environment: ["STATE_DIRECTORY": "\(folder.path)/service:/nowhere"])
      .expect(0, errors: "")
    #expect(FileManager.default.fileExists(atPath: folder.path + "/service/watch"))
  }
}
