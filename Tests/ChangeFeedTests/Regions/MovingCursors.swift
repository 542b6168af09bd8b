import Basics
import Glibc
import QuakeModel
import Synchronization
import TestSupport

/// Cursors that read a few changes at one database and continue at another, mostly within a transaction, while a load
/// goes on. They have a thread of their own.
final class MovingCursors: Sendable {
  private struct Journey: Sendable {
    let start: HistoryCursor
    var lines: [FeedLine] = []
  }

  private let databases: [String]
  private let journeys = Mutex<[Journey]>([])
  private let detourCount = Atomic<Int>(0)
  private let thread = Mutex<BackgroundThread?>(nil)

  /// How many have arrived.
  var count: Int { journeys.withLock { $0.count } }
  /// How often a cursor found its database unavailable, and tried the next one.
  var detours: Int { detourCount.load(ordering: .relaxed) }

  /// Starts them one after the other, spread over the changes of a load.
  ///
  /// - Parameters:
  ///   - databases: Where they read: copies of one history.
  ///   - recorder: What a watcher of the history prints.
  init(
    _ count: Int, over databases: [String], along recorder: FeedRecorder, _ load: Load,
    changes: Int, random: SeededGenerator
  ) {
    self.databases = databases
    thread.withLock {
      $0 = BackgroundThread { [self] in
        let folder = try TemporaryFolder()
        var random = random
        for number in 1...count {
          while load.log.committedChanges < changes * number / count, !load.hasEnded {
            poll(nil, 0, 20)
          }
          if load.hasEnded { return }
          let journey = try travel(from: recorder.lines, folder, using: &random)
          journeys.withLock { $0.append(journey) }
        }
      }
    }
  }

  /// Waits for the end of the last one, and throws what went wrong.
  func join() throws {
    try thread.withLock { $0 }?.join()
  }

  /// Starts at one of `lines`, some hundreds of changes before the last, and reads on at four databases.
  private func travel(
    from lines: [FeedLine], _ folder: TemporaryFolder, using random: inout SeededGenerator
  ) throws -> Journey {
    let newest = lines.suffix(1500)
    guard let first = newest.prefix(newest.count / 2).randomElement(using: &random),
      let start = Self.place(after: first)
    else { throw ToolProcess.Failure(description: "there is no place to start from") }
    var journey = Journey(start: start)
    var place = start
    var database = Int.random(in: databases.indices, using: &random)
    for _ in 0..<4 {
      let count = Int.random(in: 1...150, using: &random)
      let deadline = Deadline(after: .seconds(300))
      var read: [FeedLine] = []
      while read.isEmpty {
        guard !deadline.hasPassed else {
          throw ToolProcess.Failure(description: "no database has the changes after \(place)")
        }
        database = (database + 1) % databases.count
        read = try Self.read(count, at: databases[database], after: place, folder, until: deadline)
        if read.isEmpty { detourCount.add(1, ordering: .relaxed) }
      }
      journey.lines += read
      place = read.last.flatMap(Self.place) ?? place
    }
    return journey
  }

  /// The next changes after a place; fewer if the watcher ends before.
  private static func read(
    _ count: Int, at database: String, after place: HistoryCursor, _ folder: TemporaryFolder,
    until deadline: Deadline
  ) throws -> [FeedLine] {
    let file = try folder.write("cursor", "\(place)\n")
    let feed = try FeedProcess(database, ["--state", file])
    while feed.recorder.lineCount < count, !feed.process.hasEnded, !deadline.hasPassed {
      feed.process.takeIn()
      poll(nil, 0, 2)
    }
    feed.process.signal(SIGKILL)
    let outcome = try feed.end()
    // 69: the database was unavailable when the watcher began.
    guard outcome.ending == .killed(by: SIGKILL) || outcome.status == 69 else {
      throw ToolProcess.Failure(
        description: "after \(place) at \(database): \(outcome.ending) \(outcome.errors)")
    }
    return Array(feed.recorder.lines.prefix(count))
  }

  private static func place(after line: FeedLine) -> HistoryCursor? {
    line.changeToken.map { HistoryCursor(token: $0, changes: Int64(line.position) + 1) }
  }

  /// Judges them all: what each has read is a part of the history, without a gap.
  func judge(_ oracle: ChangeOracle) -> Violations {
    var violations = Violations(feed: "moving cursors")
    for (number, journey) in journeys.withLock({ $0 }).enumerated() {
      violations.add(
        oracle.judge(
          journey.lines, of: "cursor \(number + 1)", after: journey.start, isWhole: false
        ).violations)
    }
    return violations
  }
}
