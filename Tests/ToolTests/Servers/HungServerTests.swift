import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// The processes of a primary are stopped, as on a machine that hangs: its connections stay open, nothing answers, and
/// the standby is promoted.
@Suite struct HungServerTests {
  /// What a program waits for when that happens.
  enum Moment: String, CaseIterable {
    /// A worker waits until the server has the rows that it copies.
    case copy
    /// A worker waits for a lock that its merge needs.
    case merge
    /// A worker waits for the lock of its commit.
    case commit
    /// A worker listens for requests until its feed is due.
    case pause
    /// A watcher waits for the answer to its LISTEN.
    case listen
    /// An HTTP server waits for the answer to a query.
    case query

    /// What another session does first.
    var gate: String? {
      switch self {
      case .merge: "lock table quake.quake in share mode"
      case .commit: "lock table quake.commit_lock"
      case .copy, .pause, .listen, .query: nil
      }
    }

    /// What stands in the message of the program that a proxy keeps from the server.
    var held: String? {
      switch self {
      case .copy: "copy40"
      case .listen: "listen quake_changes"
      case .query: "hungplace"
      case .merge, .commit, .pause: nil
      }
    }

    /// Whether the program is a worker, which stores forty events.
    var isWorker: Bool { self != .listen && self != .query }
  }

  private let servers: ReplicatedServers
  private let hosts: [String]
  /// The address of both servers.
  private let both: String

  init() throws {
    servers = try ReplicatedServers()
    // Each commit waits until the standby has it, so that a failover loses nothing.
    try servers.ask(servers.primary, "alter system set synchronous_standby_names = '*'")
    try servers.ask(servers.primary, "select pg_reload_conf()")
    hosts = try [servers.primary, servers.standby].map { try $0.status().socketDirectory }
    both =
      "\(servers.primary.conninfo) host=\(hosts.joined(separator: ",")) target_session_attrs=read-write"
  }

  /// The address of both servers, of which a proxy leads to the primary.
  private func both(through proxy: FaultyProxy) -> String {
    "host=127.0.0.1,\(hosts[1]) port=\(proxy.port),5432 dbname=quake user=quake sslmode=disable"
      + " gssencmode=disable target_session_attrs=read-write"
  }

  private func connect() throws -> Connection {
    var settings = ConnectionSettings(servers.primary.conninfo, applicationName: "gate")
    settings.connectTimeout = ToolProcess.patience
    return try Connection(settings)
  }

  /// A program that waits when the primary hangs.
  private final class Scene {
    let moment: Moment
    let process: ToolProcess
    var feed: ScriptedServer?
    var gate: Connection?
    var proxy: FaultyProxy?
    var hold: FaultyProxy.Hold?
    var server: ServerProcess?
    var request: BackgroundThread?

    init(_ moment: Moment, _ process: ToolProcess) {
      self.moment = moment
      self.process = process
    }

    deinit { hold?.mayPass.happen() }
  }

  /// Starts a program, and returns when it waits.
  private func begin(_ moment: Moment, _ observer: Connection) throws -> Scene {
    let gate = try moment.gate.map { lock in
      let gate = try connect()
      try gate.run("begin", lock)
      return gate
    }
    let proxy = try moment.held.map { _ in try FaultyProxy(to: hosts[0] + "/.s.PGSQL.5432") }
    let hold = moment.held.flatMap { proxy?.hold($0) }
    let address = proxy.map { both(through: $0) } ?? both
    let scene: Scene
    if moment == .listen {
      scene = Scene(
        moment, try Tools.start("quake-watch", ["-d", address, "--json", "--from-start"]))
    } else if moment == .query {
      let server = try ServerProcess(["-d", address, "--drain", "1s", "--query-timeout", "10s"])
      scene = Scene(moment, server.process)
      scene.server = server
      let port = server.port
      scene.request = BackgroundThread {
        // The answer may be an error; but there is one.
        _ = try RawConnection(port: port).request(
          "GET", "/v1/quakes?place=hungplace", ["Connection": "close"])
      }
    } else {
      let events = (1...40).map { Feeds.feature("\(moment)\($0)") }
      let feed = try ScriptedServer(body: Array(Feeds.collection(events).utf8))
      let url = "http://127.0.0.1:\(feed.port)/\(moment).geojson"
      scene = Scene(
        moment, try Tools.start("quake-ingest", ["run", "-d", address, "--feed", "\(url)@1h"]))
      scene.feed = feed
    }
    (scene.gate, scene.proxy, scene.hold) = (gate, proxy, hold)
    if let hold {
      try hold.isHeld.require("the message of \(moment)")
      if moment == .copy {
        #expect(try observer.eventually("exists (select from pg_stat_progress_copy)"))
      }
    } else if gate != nil {
      #expect(try observer.waitUntilBlocked(applicationName: "quake-ingest"))
    } else {
      try scene.process.waitForError("40 inserted")
    }
    return scene
  }

  /// Rounds of these moments at once; `make soak` counts the time as well. A worker that copies already holds a lock
  /// that keeps the gate of a merge closed.
  private static let rounds: [[Moment]] =
    (Tools.isSoak ? Moment.allCases.flatMap { Array(repeating: [$0], count: 3) } : [])
    + [[.copy, .listen, .commit], [.merge, .pause, .query]]
  private static let promptly = Duration.seconds(Tools.isSoak ? 45 : 300)
  /// How soon a signal ends a program.
  private static let soon = Duration.seconds(Tools.isSoak ? 10 : 300)

  @Test(arguments: rounds)
  func programsGoOnAtTheOtherHost(_ moments: [Moment]) throws {
    let observer = try connect()
    // What needs no lock comes first.
    let scenes = try moments.sorted { $0.gate == nil && $1.gate != nil }.map {
      try begin($0, observer)
    }
    let watch =
      try scenes.first { $0.moment == .listen }?.process
      ?? Tools.start("quake-watch", ["-d", both, "--json", "--from-start"])
    if !moments.contains(.listen) { try watch.waitForError("watching after") }
    let hung = ContinuousClock.now
    try servers.hang()
    if let server = scenes.first(where: { $0.moment == .query })?.server {
      try eventually("/readyz says so") { try server.get("/readyz").status == 503 }
    }
    try servers.promote()
    let count = 40 * moments.count(where: \.isWorker)
    for scene in scenes where scene.moment.isWorker {
      try scene.process.waitForError("connected to the database again")
    }
    try watch.waitForError("connected again")
    let codes = try watch.lines(count).map { try JSONLine($0).string("code") }
    if let scene = scenes.first(where: { $0.moment == .query }), let server = scene.server {
      try scene.request?.join()
      try eventually("/readyz answers 200") { try server.get("/readyz").status == 200 }
      #expect(try server.get("/v1/quakes?limit=1").status == 200)
    }
    #expect(ContinuousClock.now - hung < Self.promptly)
    #expect(Set(codes).count == count)
    try servers.ask(servers.standby, "insert into quake.quake (code, time) values ('x1', now())")
    #expect(try JSONLine(watch.line()).string("code") == "x1")
    #expect(
      try servers.ask(servers.standby, "select count(*) from quake.quake") == "\(count + 1)")
    var processes = scenes.map(\.process)
    if !moments.contains(.listen) { processes.append(watch) }
    for process in processes { try process.end() }
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
    #expect(ContinuousClock.now - signalled < Self.soon)
  }

  @Test func aSignalEndsWhatWaitsForAnAnswer() throws {
    let observer = try connect()
    let scenes = try [Moment.copy, .listen, .query].map { try begin($0, observer) }
    try servers.hang()
    let signalled = ContinuousClock.now
    for scene in scenes { scene.process.signal(SIGTERM) }
    for scene in scenes { #expect(try scene.process.exit().ending == .exited(0)) }
    #expect(ContinuousClock.now - signalled < Self.soon)
  }
}
