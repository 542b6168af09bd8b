import QuakeModel
import QuakeQuery
import QuakeStore
import Synchronization
import TestSupport
import Testing

@Suite struct EditsTests {
  @Test func asynchronousEditsDeleteRestoreAndReportTheirProgress() async throws {
    let database = try LiveDatabase()
    let connection = try database.test.connect()
    try connection.insertQuakes("e", 3000)
    let before = try connection.table("select q from quake.quake q order by code")
    let author = EditAuthor(program: "tests 1", author: "ann")
    let edit = EventEdit(.delete, of: EventSelection(), by: author, title: "all")
    #expect(try await database.live.plan(edit).count == 3000)
    let reports = Mutex<[Int64]>([])
    let outcome = try await database.live.apply(edit) { done, selected in
      #expect(selected == 3000)
      reports.withLock { $0.append(done) }
    }
    #expect(outcome.changed == 3000)
    #expect(reports.withLock { $0 }.last == 3000)
    #expect(reports.withLock { $0 }.count > 2)
    let id = try #require(outcome.edit)
    let restore = EventRestore(.edit(id), by: author)
    #expect(try await database.live.plan(restore).inserted == 3000)
    #expect(try await database.live.apply(restore).changed == 3000)
    #expect(try connection.table("select q from quake.quake q order by code") == before)
  }
}
