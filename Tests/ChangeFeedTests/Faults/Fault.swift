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
