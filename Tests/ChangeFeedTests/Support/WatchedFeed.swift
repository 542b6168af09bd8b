import Foundation
import Postgres
import QuakeModel
import TestSupport

/// One watcher through a whole test: the same feed in several runs of the program when it is killed
/// and started again.
final class WatchedFeed {
  /// Where it keeps its place.
  enum CursorStore {
    case none
    case file(String)
    /// In the database, under a name, with a witness beside it.
    case name(String)
  }

  let name: String
  private let conninfo: String
  private let arguments: [String]
  private let filter: String?
  private let cursorStore: CursorStore
  private let folder: TemporaryFolder
  private var runs: [FeedRun] = []
  private(set) var process: FeedProcess

  /// Starts it.
  init(
    _ name: String, _ conninfo: String, _ arguments: [String] = [],
    filter: KnownHistory.Filter? = nil, cursorStore: CursorStore = .none,
    recorder: FeedRecorder = FeedRecorder()
  ) throws {
    self.name = name
    self.conninfo = conninfo
    self.filter = filter?.name
    self.cursorStore = cursorStore
    folder = try TemporaryFolder()
    var all = ["--from-start"] + arguments + (filter?.options ?? [])
    switch cursorStore {
    case .none: break
    case .file(let path): all += ["--state", path]
    case .name(let name): all += ["--name", name, "--state", folder.path + "/witness"]
    }
    self.arguments = all
    process = try FeedProcess(conninfo, all, recorder: recorder)
    runs = [FeedRun(place: HistoryCursor(token: .beginning), recorder: recorder)]
  }

  /// The newest token that it has said.
  var newestToken: Int64 { process.recorder.newestToken }
  /// How often it has been started.
  var runCount: Int { runs.count }
  /// All that it said in the present run.
  var recorder: FeedRecorder { process.recorder }

  /// Kills it and starts it again, from where it kept its place.
  func killAndRestart() throws {
    try process.kill()
    try restart()
  }

  /// A watcher that finds no server when it begins says so and ends; whoever runs it starts it again.
  func restartIfUnavailable() throws {
    guard runs.count > 1, process.process.hasEnded else { return }
    let outcome = try process.end()
    guard outcome.status == 69 else {
      throw ToolProcess.Failure(description: "\(name) ended: \(outcome.ending) \(outcome.errors)")
    }
    try restart()
  }

  /// Waits until it has said a token, in a change or a heartbeat.
  func waitForToken(_ token: Int64, within patience: Duration) throws {
    let deadline = ContinuousClock.now + patience
    while newestToken < token {
      guard ContinuousClock.now < deadline else {
        throw ToolProcess.Failure(
          description:
            "waited in vain for token \(token): \(newestToken); \(process.process.errorText)")
      }
      try restartIfUnavailable()
      if process.process.hasEnded {
        let outcome = try process.end()
        throw ToolProcess.Failure(
          description: "ended before token \(token): \(outcome.ending) \(outcome.errors)")
      }
      poll(nil, 0, 5)
    }
  }

  private func restart() throws {
    runs[runs.count - 1].wasKilled = true
    var place: HistoryCursor?
    if case .file(let path) = cursorStore {
      let text = try? String(contentsOfFile: path, encoding: .utf8)
      // Before there is a file it begins at the beginning.
      place = HistoryCursor(token: .beginning)
      if let text {
        guard let kept = HistoryCursor(text.trimmingCharacters(in: .newlines)) else {
          throw ToolProcess.Failure(description: "\(name): the state file holds \"\(text)\"")
        }
        place = kept
      }
    }
    let recorder = FeedRecorder()
    process = try FeedProcess(conninfo, arguments, recorder: recorder)
    runs.append(FeedRun(place: place, recorder: recorder))
  }

  /// Judges all its runs; the last one must have come to the end.
  func judge(_ oracle: ChangeOracle) -> Violations {
    RunsVerdict.judge(runs, of: name, filter: filter, by: oracle)
  }
}

/// Filters of the watchers under test, each with the same in SQL.
enum FeedFilters {
  static let magnitude = KnownHistory.Filter(
    name: "magnitude", options: ["--min-magnitude", "6.5"],
    condition: "op = 'truncate' or (n).magnitude >= 6.5 or (o).magnitude >= 6.5")
  static let operations = KnownHistory.Filter(
    name: "operations", options: ["--op", "insert,delete"], condition: "op in ('insert', 'delete')")
  static let author = KnownHistory.Filter(
    name: "author", options: ["--author", "w3", "--author", "p0"],
    condition: "author in ('w3', 'p0')")
  static let box = KnownHistory.Filter(
    name: "box", options: ["--bbox", "10,-90,60,45"],
    condition: """
      op = 'truncate' or (n).longitude between 10 and 60 and (n).latitude <= 45
      or (o).longitude between 10 and 60 and (o).latitude <= 45
      """)
  static let place = KnownHistory.Filter(
    name: "place", options: ["--changed", "place"], condition: "'place' = any (changed)")

  static let all = [magnitude, operations, author, box, place]
}
