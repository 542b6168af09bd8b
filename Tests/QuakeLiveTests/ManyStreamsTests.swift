import Postgres
import QuakeModel
import QuakeStore
import TestSupport
import Testing

@Suite struct ManyStreamsTests {
  @Test func fiftyStreamsWaitWithoutAThreadOfTheSharedPool() async throws {
    let database = try LiveDatabase()
    let count = 50
    let streams = (0..<count).map { _ in
      Task.detached { try await database.live.changes().first(2) { $0.code ?? "" } }
    }
    try await OwnThread.run {
      let connection = try database.test.connect()
      // All of them at once: one that blocked a thread of the pool would keep others from beginning.
      // A stream that began later would never get the events that were inserted before.
      // Each reads the history every five seconds, so they need not all be idle at the same moment.
      var begun: Set<String> = []
      try eventually("all streams wait") {
        begun.formUnion(
          try connection.table(
            """
            select pid from pg_stat_activity
             where datname = current_database() and application_name = 'live'
               and state = 'idle' and query like 'select t.token, v.id%'
            """))
        return begun.count == count
      }
      try connection.insertQuakes("a", 2)
    }
    for stream in streams { #expect(try await stream.value == ["a1", "a2"]) }
  }
}
