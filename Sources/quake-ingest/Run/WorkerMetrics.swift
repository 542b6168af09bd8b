import Basics
import CommandLine
import QuakeModel
import QuakeTool
import QuakeWorker

/// The metrics of the worker itself, in a file for node_exporter's textfile collector: they show that it lives even if
/// the database does not.
struct WorkerMetrics {
  private let file: AtomicFile
  private let diagnostics: Diagnostics
  /// The label of each value: with several workers, each has a file of its own.
  private let name: String
  private var timer = PeriodicTimer(.seconds(10), first: .zero)
  private var polls = 0
  private var failures = 0
  private var hasFailed = false

  private static let prefix = "quake_worker_"

  /// Why metrics must not be written to a path: it has another file, such as one that a mistyped option names.
  static func fault(of path: String) -> String? {
    guard !path.isEmpty else { return "expected the name of a file" }
    do throws(AtomicFile.SystemError) {
      let start = "# HELP \(prefix)"
      guard let bytes = try AtomicFile(path).read(atMost: start.utf8.count),
        !bytes.isEmpty, bytes != Array(start.utf8)
      else { return nil }
      return
        "\"\(path)\" has other contents than metrics of a worker; name another file, or delete it"
    } catch {
      return "cannot replace \"\(path)\": \(error)"
    }
  }

  init(path: String, _ diagnostics: Diagnostics) {
    file = AtomicFile(path)
    self.diagnostics = diagnostics
    let last = path.split(separator: "/").last.map(String.init) ?? path
    name = last.hasSuffix(".prom") ? String(last.dropLast(5)) : last
  }

  /// Counts a poll that has ended.
  mutating func count(_ status: ExitStatus) {
    polls += 1
    if status != .ok { failures += 1 }
  }

  mutating func writeIfDue(isConnected: Bool, feeds: Int, held: Int) {
    guard timer.fireIfDue() else { return }
    var text = PrometheusText()
    let labels: KeyValuePairs = ["worker": name]
    func write(_ name: String, _ kind: PrometheusText.Kind, _ help: String, _ value: Double) {
      text.metric(Self.prefix + name, kind, help, [.init(value, labels)])
    }
    write(
      "timestamp_seconds", .gauge, "When the worker wrote this, since 1970.",
      Double(Timestamp.now().microseconds) / 1e6)
    write("connected", .gauge, "Whether it is connected to the database.", isConnected ? 1 : 0)
    write("feeds", .gauge, "Feeds that it was started with.", Double(feeds))
    write("held_feeds", .gauge, "Feeds that it polls; others poll the rest.", Double(held))
    write("polls_total", .counter, "Polls that have ended.", Double(polls))
    write("failed_polls_total", .counter, "Polls that have failed.", Double(failures))
    ProcessFigures.write(to: &text, prefix: Self.prefix, labels: labels)
    do throws(AtomicFile.SystemError) {
      try file.write(Array(text.text.utf8))
      hasFailed = false
    } catch {
      guard !hasFailed else { return }
      hasFailed = true
      diagnostics.warning(
        "could not write the metrics to \"\(file.path)\": \(error)",
        hint: "The worker goes on, and tries again every ten seconds.")
    }
  }
}
