import Basics
import Glibc
import Postgres
import TestSupport

/// What is done to a running system.
enum Fault: CaseIterable, Sendable {
  /// `pg_terminate_backend` on a writer's connection.
  case terminateWriter
  /// `pg_terminate_backend` on a watcher's connection.
  case terminateWatcher
  /// `kill -9` of one server process: PostgreSQL ends all others and recovers.
  case killBackend
  /// `kill -9` of every process of the server, which is then started again.
  case crashServer
  /// The proxied connections end.
  case cutNetwork
  /// The network takes bytes and delivers none for a while.
  case stallNetwork
  /// What the server sends is lost; no end is told.
  case loseAnswers
  /// What the client sends is lost; no end is told.
  case loseQuestions
  /// 75 ± 50 ms each way for a while.
  case delayNetwork
  /// `kill -9` of a watcher with a state file, which is started again.
  case killFileWatcher
  /// `kill -9` of a watcher with a name, which is started again.
  case killNamedWatcher
  /// A watcher is stopped for a while (SIGSTOP, SIGCONT).
  case stopWatcher
  /// A watcher's output is not read for a while.
  case stallReader
  /// The table of events is kept as it is just now.
  case keepState

  /// How often each is done for every 100,000 changes, and in a shorter run.
  var count: Int {
    switch self {
    case .loseAnswers, .loseQuestions, .killBackend, .crashServer, .stallNetwork, .delayNetwork: 1
    case .stopWatcher, .stallReader, .keepState: 2
    case .cutNetwork, .killNamedWatcher: 3
    case .terminateWriter, .terminateWatcher, .killFileWatcher: 5
    }
  }

  /// All of them so often, in a random order.
  static func deck(times: Int, using random: inout some RandomNumberGenerator) -> [Fault] {
    (0..<times).flatMap { _ in
      allCases.flatMap { Array(repeating: $0, count: $0.count) }.shuffled(using: &random)
    }
  }
}

/// Does faults to a server, its writers and its watchers, each when the writers have come so far.
final class FaultInjector {
  /// The watchers, by what may happen to them.
  struct Watchers {
    var withFile: [WatchedFeed] = []
    var withName: [WatchedFeed] = []
    var stopped: [WatchedFeed] = []
    var unread: [WatchedFeed] = []
  }

  private let server: OwnServer
  private let proxy: FaultyProxy
  private let watchers: Watchers
  private let log: WriterLog
  /// For how many changes a watcher or the network pauses.
  private let pause: Int
  private var random: SeededGenerator
  private var connection: Connection?
  /// Tokens at which the table was kept, in `proof.kept_<number>`.
  private(set) var kept: [(token: Int64, table: String)] = []
  /// How many of each were done.
  private(set) var done: [Fault: Int] = [:]

  init(
    server: OwnServer, proxy: FaultyProxy, watchers: Watchers, log: WriterLog,
    pause: Int, random: SeededGenerator
  ) {
    self.server = server
    self.proxy = proxy
    self.watchers = watchers
    self.log = log
    self.pause = pause
    self.random = random
  }

  /// Does all of `deck`, spread over the time until `changes` are committed.
  func run(_ deck: [Fault], until changes: Int, hasEnded: () -> Bool) throws {
    for (number, fault) in deck.enumerated() {
      let wanted = changes * (number + 1) / (deck.count + 2)
      try waitForChanges(wanted, hasEnded)
      try inject(fault)
      done[fault, default: 0] += 1
    }
  }

  private func waitForChanges(_ wanted: Int, _ hasEnded: () -> Bool) throws {
    var (last, deadline) = (log.committedChanges, Deadline(after: ToolProcess.patience))
    while log.committedChanges < wanted, !hasEnded() {
      poll(nil, 0, 5)
      for watcher in watchers.withFile + watchers.withName { try watcher.restartIfUnavailable() }
      guard log.committedChanges == last else {
        (last, deadline) = (log.committedChanges, Deadline(after: ToolProcess.patience))
        continue
      }
      if deadline.hasPassed {
        throw ToolProcess.Failure(
          description: "no writer has committed anything for \(ToolProcess.patience): \(done)")
      }
    }
  }

  private func inject(_ fault: Fault) throws {
    switch fault {
    case .terminateWriter: try terminate(likeName: "load %")
    case .terminateWatcher: try terminate(likeName: "quake-watch")
    case .killBackend: try killBackend()
    case .crashServer:
      log.noteCrash()
      try server.crash()
    case .cutNetwork: proxy.cut()
    case .stallNetwork:
      proxy.set(.stall)
      letPause()
      proxy.set(.pass)
    case .loseAnswers: proxy.halfOpen(losing: .toClient)
    case .loseQuestions: proxy.halfOpen(losing: .toServer)
    case .delayNetwork:
      proxy.set(.delay)
      letPause()
      proxy.set(.pass)
    case .killFileWatcher: try killNext(of: watchers.withFile, after: done[fault, default: 0])
    case .killNamedWatcher: try killNext(of: watchers.withName, after: done[fault, default: 0])
    case .stopWatcher:
      guard let watcher = watchers.stopped.randomElement(using: &random) else { return }
      watcher.process.process.signal(SIGSTOP)
      letPause()
      watcher.process.process.signal(SIGCONT)
    case .stallReader:
      guard let watcher = watchers.unread.randomElement(using: &random) else { return }
      watcher.process.setRead(false)
      letPause()
      watcher.process.setRead(true)
    case .keepState: try keepState()
    }
  }

  /// Lets the writers go on for the length of a pause.
  private func letPause() {
    let wanted = log.committedChanges + pause
    let deadline = Deadline(after: .seconds(4))
    while log.committedChanges < wanted, !deadline.hasPassed { poll(nil, 0, 5) }
  }

  private func terminate(likeName name: String) throws {
    // Its transaction may have drawn a number.
    log.noteTermination()
    _ = try ask(
      """
      select pg_terminate_backend(pid) from pg_stat_activity
       where application_name like '\(name)' order by md5(pid::text || '\(random.next())') limit 1
      """)
  }

  private func killBackend() throws {
    let pid = try ask(
      "select pid from pg_stat_activity where application_name like 'load %' order by random() limit 1"
    )
    guard let pid = pid.flatMap({ pid_t($0) }) else { return }
    log.noteCrash()
    kill(pid, SIGKILL)
  }

  /// Kills one of `watchers`, each in its turn, so that every one is killed at least once.
  private func killNext(of watchers: [WatchedFeed], after killedCount: Int) throws {
    guard !watchers.isEmpty else { return }
    try watchers[killedCount % watchers.count].killAndRestart()
  }

  private func keepState() throws {
    let table = "proof.kept_\(kept.count)"
    let token = try withConnection { connection in
      try connection.run("create schema if not exists proof", "drop table if exists \(table)")
      // The lock comes before the snapshot: a truncate that is committed in between would leave an old snapshot no rows.
      try connection.run(
        "begin isolation level repeatable read", "lock table quake.quake in access share mode")
      let token = try connection.ask("select quake.latest_token()")
      try connection.run("create table \(table) as select * from quake.quake", "commit")
      return token
    }
    let number = token?.split(separator: ".").first.flatMap { Int64($0) }
    kept.append((number ?? -1, table))
  }

  private func ask(_ query: String) throws -> String? {
    try withConnection { try $0.ask(query) }
  }

  /// A connection, as soon as the server has recovered from the last fault.
  func connect() throws -> Connection {
    try withConnection { connection in
      _ = try connection.ask("select 1")
      return connection
    }
  }

  /// The server may be recovering from the last fault.
  private func withConnection<Value>(_ body: (Connection) throws -> Value) throws -> Value {
    let deadline = Deadline(after: ToolProcess.patience)
    while true {
      do {
        let usable = try connection ?? server.connect(applicationName: "faults")
        connection = usable
        return try body(usable)
      } catch let error as PostgresError where error.isConnectionLoss && !deadline.hasPassed {
        connection = nil
        poll(nil, 0, 20)
      }
    }
  }
}
