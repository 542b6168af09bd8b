import Foundation
import Glibc
import Synchronization
import TestSupport

/// Many writers at once, until they have committed a number of changes and have done what else was asked for.
final class Load: Sendable {
  let log = WriterLog()
  private let isDone: @Sendable () -> Bool
  private let threads: [BackgroundThread]
  private let isOver: OverFlag
  private let allowance = Allowance()

  /// How many changes the writers may commit for now.
  private final class Allowance: Sendable {
    let changes = Atomic<Int>(.max)
  }

  /// Shared by the writers.
  final class OverFlag: Sendable {
    private let flag = Atomic<Bool>(false)
    var isRaised: Bool { flag.load(ordering: .relaxed) }
    func raise() { flag.store(true, ordering: .relaxed) }
  }

  /// What writes.
  struct Settings {
    /// How many changes.
    var changes: Int
    /// How many transactions must have been committed, and how many rolled back.
    var leastCommits = 0
    var leastRollbacks = 0
    var writers = 16
    var largestBatch: Int64 = 60
    /// How many `psql`s at a time.
    var programs = 0
    /// Events in a feed that is imported again and again; 0: none is.
    var importedEvents = 0
    var truncates = true
    /// Whether events of that feed get other preferred ids.
    var importsChangeIDs = false
    /// Whether one more writer leaves each of its transactions open while hundreds of others commit.
    var leavesOpen = false
  }

  /// Starts them.
  init(_ settings: Settings, _ conninfo: String, psql: String = "") {
    let isOver = OverFlag()
    self.isOver = isOver
    let (log, allowance) = (log, allowance)
    let isComplete: @Sendable () -> Bool = {
      isOver.isRaised
        || log.committedChanges >= settings.changes
          && (settings.leastCommits == 0 || log.count(.committed) >= settings.leastCommits)
          && (settings.leastRollbacks == 0 || log.count(.rolledBack) >= settings.leastRollbacks)
    }
    self.isDone = isComplete
    let isHeldBack: @Sendable () -> Bool = {
      log.committedChanges >= allowance.changes.load(ordering: .relaxed)
    }
    // What the other writers ask before each round.
    let isDone: @Sendable () -> Bool = {
      while !isComplete(), isHeldBack() { poll(nil, 0, 5) }
      return isComplete()
    }
    let start: @Sendable (LoadWriter.Settings) -> BackgroundThread = { writer in
      BackgroundThread {
        try LoadWriter(
          writer, conninfo, log: log, random: Seed.generator(writer.name), until: isComplete,
          pauseWhile: isHeldBack
        ).run()
      }
    }
    let levels = ["read committed", "repeatable read", "serializable"]
    var threads = (0..<settings.writers).map { number in
      var writer = LoadWriter.Settings(
        name: "w\(number)", isolation: levels[number % 3], largestBatch: settings.largestBatch)
      writer.truncates = settings.truncates && number == 0
      // These begin first and commit last.
      if number % 4 == 3 { writer.lateCommit = (every: 5, after: 40) }
      writer.isCareless = number % 5 == 4
      return start(writer)
    }
    if settings.leavesOpen {
      var writer = LoadWriter.Settings(name: "open")
      writer.lateCommit = (every: 1, after: 500)
      writer.isSolitary = true
      threads.append(start(writer))
    }
    for number in 0..<settings.programs {
      threads.append(
        BackgroundThread {
          var writer = PsqlWriter(
            name: "p\(number)", psql: psql, conninfo: conninfo, log: log,
            random: Seed.generator("p\(number)"), shouldStop: isDone)
          try writer.run()
        })
    }
    if settings.importedEvents > 0 {
      threads.append(
        BackgroundThread {
          var writer = ImportWriter(
            events: settings.importedEvents, changesIDs: settings.importsChangeIDs,
            conninfo: conninfo, log: log, shouldStop: isDone)
          try writer.run()
        })
    }
    self.threads = threads
  }

  /// Whether they have written enough.
  var hasEnded: Bool { isDone() }

  /// Waits for their end; throws the first of what they threw.
  func join() throws {
    var failure: (any Error)?
    for thread in threads {
      do { try thread.join() } catch { if failure == nil { failure = error } }
    }
    if let failure { throw failure }
  }

  /// Lets them commit until there are so many changes, and no transaction afterwards. At first there is no limit.
  func allow(_ changes: Int) { allowance.changes.store(changes, ordering: .relaxed) }

  /// Whether they wait because they have committed as much as they may.
  var isHeldBack: Bool { log.committedChanges >= allowance.changes.load(ordering: .relaxed) }

  /// Tells them to end.
  func stop() { isOver.raise() }
}

/// Where the suite's random choices come from.
enum Seed {
  /// The seed of this run: `QUAKE_SEED`, or another one each time. It is printed, so that a run can be
  /// repeated. What the system makes of it (which process gets the processor when) is never the same.
  static let value: UInt64 = {
    let given = ProcessInfo.processInfo.environment["QUAKE_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 1...999_999_999)
    print("change feed tests: QUAKE_SEED=\(seed)")
    return seed
  }()

  /// Random numbers for one purpose.
  static func generator(_ purpose: String) -> SeededGenerator {
    SeededGenerator(value &* 0x1_0000_0001 &+ UInt64(FeedLine.checksum(purpose)))
  }
}
