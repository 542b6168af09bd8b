import Postgres
import QuakeModel
import TestSupport
import Testing

@testable import QuakeHistory

@Suite final class SnapshotTests: DatabaseSuite {
  @Test func aSnapshotIsTheListAtATokenWhateverIsWrittenMeanwhile() throws {
    try connection.run(
      """
      insert into quake.quake (code, time)
      select 's' || i, '2000-01-01Z'::timestamptz + i * interval '1 minute'
        from generate_series(1, 2000) i
      """)
    let before = try connection.latestToken()
    let writer = try database.connect()
    var token: ChangeToken?
    var codes: [String] = []
    try Snapshot.read(
      over: connection,
      begin: {
        token = $0
        try writer.run("delete from quake.quake where code = 's1'")
        try writer.insertQuakes("late")
      },
      {
        codes.append($0.text(.code) ?? "")
        if codes.count == 500 { try writer.run("update quake.quake set felt = 1") }
      })
    #expect(token == before)
    #expect(codes == (1...2_000).reversed().map { "s\($0)" })
    // What came meanwhile is what follows.
    var reader = try HistoryReader(connection: connection, after: before)
    var count = 0
    while try !reader.readPage({ _ in count += 1 }) {}
    #expect(count == 2 + 2_000)
  }

  @Test func aSnapshotIsNotEmptiedByALaterTruncate() throws {
    try connection.insertQuakes("a", "b")
    let before = try connection.latestToken()
    let database = database
    let observer = try database.connect()
    var truncating: BackgroundThread?
    var token: ChangeToken?
    var codes: [String?] = []
    var isBlocked = false
    try Snapshot.read(
      over: connection,
      begin: {
        token = $0
        truncating = BackgroundThread {
          try database.connect(applicationName: "truncating").run("truncate quake.quake")
        }
        isBlocked = try observer.waitUntilBlocked(applicationName: "truncating")
      }, { codes.append($0.text(.code)) })
    try truncating?.join()
    #expect(isBlocked)
    #expect(token == before)
    #expect(codes.sorted { $0 ?? "" < $1 ?? "" } == ["a", "b"])
    #expect(try connection.ask("select count(*) from quake.quake") == "0")
  }
}
