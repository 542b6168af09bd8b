import Foundation
import Postgres
import QuakeModel
import TestSupport

/// One watcher through a whole test: the same feed in several runs of the program when it is killed
/// and started again.
final class WatchedFeed {
  /// Where it keeps its place.
  enum Bookmark {
    case none
    case file(String)
    /// In the database: where a run began is seen from what it printed first.
    case name(String)
  }

  private struct Run {
    var place: HistoryPlace?
    var recorder: FeedRecorder
    var wasKilled = false
  }

  let name: String
  private let conninfo: String
  private let arguments: [String]
  private let filter: String?
  private let bookmark: Bookmark
  private var runs: [Run] = []
  private(set) var process: FeedProcess

  /// Starts it.
  init(
    _ name: String, _ conninfo: String, _ arguments: [String] = [],
    filter: KnownHistory.Filter? = nil, bookmark: Bookmark = .none,
    recorder: FeedRecorder = FeedRecorder()
  ) throws {
    self.name = name
    self.conninfo = conninfo
    self.filter = filter?.name
    self.bookmark = bookmark
    var all = ["--from-start"] + arguments + (filter?.options ?? [])
    switch bookmark {
    case .none: break
    case .file(let path): all += ["--state", path]
    case .name(let name): all += ["--name", name]
    }
    self.arguments = all
    process = try FeedProcess(conninfo, all, recorder: recorder)
    runs = [Run(place: HistoryPlace(token: .beginning), recorder: recorder)]
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
    runs[runs.count - 1].wasKilled = true
    var place: HistoryPlace?
    if case .file(let path) = bookmark {
      let text = try? String(contentsOfFile: path, encoding: .utf8)
      // Before there is a file it begins at the beginning.
      place = HistoryPlace(token: .beginning)
      if let text {
        guard let kept = HistoryPlace(text.trimmingCharacters(in: .newlines)) else {
          throw ToolProcess.Failure(description: "\(name): the state file holds \"\(text)\"")
        }
        place = kept
      }
    }
    let recorder = FeedRecorder()
    process = try FeedProcess(conninfo, arguments, recorder: recorder)
    runs.append(Run(place: place, recorder: recorder))
  }

  /// Judges all its runs; the last one must have come to the end.
  func judge(_ oracle: ChangeOracle) -> Violations {
    var violations = Violations(feed: name)
    var reached = 0
    for (number, run) in runs.enumerated() {
      violations.add(
        .malformed, "lines of run \(number + 1) that are none", count: run.recorder.malformedCount)
      if !run.wasKilled, run.recorder.pendingCount > 0 {
        violations.add(.malformed, "run \(number + 1) ended within a line")
      }
      let lines = run.recorder.lines
      let isLast = number == runs.count - 1
      guard let place = run.place ?? Self.beginning(of: lines, oracle) else {
        if isLast { violations.add(.lost, "the last run printed nothing") }
        continue
      }
      if let start = oracle.index(after: place), start > reached {
        let passes = filter.flatMap { oracle.history.passes[$0] }
        let skipped = (reached..<start).filter { passes?[$0] ?? true }
        if let first = skipped.first {
          violations.add(
            .wrongCursor,
            "run \(number + 1) began after \(place), without "
              + "\(oracle.history.changes[first])", count: skipped.count)
        }
      }
      let verdict = oracle.judge(lines, of: name, after: place, filter: filter, isWhole: isLast)
      violations.add(verdict.violations)
      reached = max(reached, verdict.next)
    }
    return violations
  }

  /// Where a run began, by its first line.
  private static func beginning(of lines: [FeedLine], _ oracle: ChangeOracle) -> HistoryPlace? {
    guard let first = lines.first else { return nil }
    guard first.position < 0 else {
      guard let index = oracle.history.index(token: first.token, position: first.position) else {
        return HistoryPlace(token: .beginning)
      }
      guard index > 0 else { return HistoryPlace(token: .beginning) }
      let before = oracle.history.changes[index - 1]
      return place(before.token, before.nonce, changes: Int64(before.position) + 1)
    }
    return place(first.token, first.nonce, changes: 0)
  }

  private static func place(_ token: Int64, _ nonce: UInt32, changes: Int64) -> HistoryPlace? {
    let digits = String(nonce, radix: 16)
    let text = String(repeating: "0", count: 8 - digits.count) + digits
    return (token == 0 ? .beginning : ChangeToken(number: token, nonce: text)).map {
      HistoryPlace(token: $0, changes: changes)
    }
  }
}
