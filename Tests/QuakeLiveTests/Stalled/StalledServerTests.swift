import Glibc
import Postgres
import QuakeModel
import QuakeStore
import TestSupport
import Testing

@Suite struct StalledServerTests {
  @Test func aSilentServerIsLeftForANewConnectionAndNothingIsLost() async throws {
    try await OwnThread.run {
      // A process of the shared server that stands still would hold up every test that makes or drops a database.
      let own = try OwnServer()
      let connection = try own.connect()
      let live = QuakeDatabase(own.conninfo, applicationName: LiveDatabase.applicationName)
      let stream = live.changes(after: .beginning)
      let task = Task(executorPreference: OwnThread.shared) {
        try await stream.first(3) { $0.code }
      }
      try connection.insertQuakes("a", 2)
      #expect(try connection.eventually(LiveDatabase.idle(after: "select t.token, v.id")))
      let process = try #require(
        try connection.ask(
          "select pid from pg_stat_activity where application_name = 'live'"
        ).flatMap { pid_t($0) })
      #expect(kill(process, SIGSTOP) == 0)
      defer { kill(process, SIGKILL) }
      let begun = ContinuousClock.now
      try connection.insertQuakes("b")
      #expect(try await task.value == ["a1", "a2", "b1"])
      // The kernel alone would never report the silence. Some seconds are for the machine.
      if Tools.isSoak { #expect(begun.duration(to: .now) < .seconds(20)) }
    }
  }

  @Test(.enabled(if: Tools.isSoak, "make soak has it"))
  func aProgramWithAlertsLeavesASilentServerToo() async throws {
    try await OwnThread.run {
      let own = try OwnServer()
      let connection = try own.connect()
      let live = QuakeDatabase(own.conninfo, applicationName: LiveDatabase.applicationName)
      var rule = AlertRule()
      rule.filter.minimumMagnitude = 5
      let alerts = live.alerts(rule, named: "duty")
      let task = Task(executorPreference: OwnThread.shared) {
        try await alerts.first(1) { $0.event?.code }
      }
      #expect(try connection.eventually(LiveDatabase.idle(after: "select t.token, v.id")))
      let processes = try connection.rows(
        "select pid from pg_stat_activity where application_name = 'live'", as: Int32.self)
      #expect(processes.count == 2)
      for process in processes { #expect(kill(process, SIGSTOP) == 0) }
      defer { for process in processes { kill(process, SIGKILL) } }
      try connection.run("insert into quake.quake (code, time, magnitude) values ('a', now(), 6)")
      #expect(try await task.value == ["a"])
    }
  }
}
