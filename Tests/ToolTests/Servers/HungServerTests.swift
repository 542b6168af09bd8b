import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// The processes of a primary are stopped, as on a machine that hangs: its connections stay open, nothing answers, and
/// the standby is promoted.
@Suite struct HungServerTests {
  /// What a worker waits for when that happens.
  enum Moment: String, CaseIterable {
    /// The lock that its merge waits for.
    case merge
    /// The lock that its commit waits for.
    case commit
    /// Nothing: it listens for requests until its feed is due.
    case pause

    /// What another session does first.
    var gate: String? {
      switch self {
      case .merge: "lock table quake.quake in share mode"
      case .commit: "lock table quake.commit_lock"
      case .pause: nil
      }
    }
  }

  private let servers: ReplicatedServers
  /// The address of both servers.
  private let both: String

  init() throws {
    servers = try ReplicatedServers()
    // Each commit waits until the standby has it, so that a failover loses nothing.
    try servers.ask(servers.primary, "alter system set synchronous_standby_names = '*'")
    try servers.ask(servers.primary, "select pg_reload_conf()")
    let hosts = try [servers.primary, servers.standby].map { try $0.status().socketDirectory }
    both =
      "\(servers.primary.conninfo) host=\(hosts.joined(separator: ",")) target_session_attrs=read-write"
  }

  private func connect() throws -> Connection {
    var settings = ConnectionSettings(servers.primary.conninfo, applicationName: "gate")
    settings.connectTimeout = ToolProcess.patience
    return try Connection(settings)
  }

  /// Rounds of each moment; `make soak` counts the time as well.
  private static let rounds = Moment.allCases.flatMap { moment in
    Array(repeating: moment, count: Tools.isSoak ? 7 : 1)
  }
  private static let promptly = Duration.seconds(Tools.isSoak ? 45 : 300)

  @Test(arguments: rounds)
  func aWorkerAndAWatcherGoOnAtTheOtherHost(_ moment: Moment) throws {
    let feed = try ScriptedServer(body: Array(Feeds.collection(count: 40).utf8))
    let watch = try Tools.start("quake-watch", ["-d", both, "--json", "--from-start"])
    let (gate, observer) = (try connect(), try connect())
    if let lock = moment.gate { try gate.run("begin", lock) }
    let worker = try Tools.start("quake-ingest", ["run", "-d", both, "--feed", "\(feed.url)@1h"])
    if moment.gate != nil {
      #expect(try observer.waitUntilBlocked(applicationName: "quake-ingest"))
    } else {
      try worker.waitForError("40 inserted")
    }
    let hung = ContinuousClock.now
    try servers.hang()
    try servers.promote()
    try worker.waitForError("connected to the database again")
    try watch.waitForError("connected again")
    let codes = try watch.lines(40).map { try JSONLine($0).string("code") }
    #expect(ContinuousClock.now - hung < Self.promptly)
    #expect(Set(codes).count == 40)
    try servers.ask(servers.standby, "insert into quake.quake (code, time) values ('x1', now())")
    #expect(try JSONLine(watch.line()).string("code") == "x1")
    #expect(try servers.ask(servers.standby, "select count(*) from quake.quake") == "41")
    for process in [worker, watch] {
      process.signal(SIGTERM)
      #expect(try process.exit().ending == .exited(0))
    }
  }

  @Test func aSignalEndsWhatWaitsForIt() throws {
    let (gate, observer) = (try connect(), try connect())
    try gate.run("begin", "lock table quake.quake")
    let options = ["-d", servers.primary.conninfo]
    let feed = try ScriptedServer(body: Array(Feeds.collection(count: 4).utf8))
    let processes = try [
      Tools.start("quake-ingest", ["run", "--feed", "\(feed.url)@1h"] + options),
      Tools.start("quake-query", ["list"] + options),
      Tools.start("quake-admin", ["events", "delete", "x", "--yes"] + options),
    ]
    for tool in ["quake-ingest", "quake-query", "quake-admin"] {
      #expect(try observer.waitUntilBlocked(applicationName: tool), "\(tool)")
    }
    try servers.hang()
    let signalled = ContinuousClock.now
    for process in processes { process.signal(SIGTERM) }
    for process in processes { _ = try process.exit() }
    #expect(ContinuousClock.now - signalled < .seconds(Tools.isSoak ? 10 : 300))
  }
}
