import Basics
import Glibc
import Synchronization

/// One line on standard error that shows the progress of a long operation.
///
/// It is drawn only on a terminal, from the second second on, at most ten times a second, and erased at the
/// end. Messages of ``Diagnostics`` are printed above it. Use it from one thread only.
package final class ProgressBar {
  package enum Unit: Sendable, Equatable {
    case bytes
    /// Items of this name, in the plural.
    case items(String)
  }

  package private(set) var done = 0
  /// The total amount, or nil if it is unknown.
  package var total: Int?
  /// The part that is done, 0 to 1, for an operation whose total amount is unknown but whose size is known in
  /// another unit.
  package var share: (() -> Double?)?
  private let label: String
  private let unit: Unit
  private let isShown: Bool
  private let descriptor: Int32
  private let start = MonotonicClock.now()
  /// The time after which it is drawn first: a shorter operation needs no bar.
  private let delay: Duration
  /// The amount that was done before the bar began, which does not count for the rate.
  private var before = 0
  private var lastDrawn: Duration?

  /// A bar. It draws nothing if the diagnostics are quiet, in JSON, or not on a terminal.
  package init(
    _ label: String, unit: Unit, total: Int? = nil, after delay: Duration = .seconds(1),
    diagnostics: Diagnostics
  ) {
    self.delay = delay
    self.label = PrintableText.line(label, atMost: 200)
    self.unit = unit
    self.total = total
    descriptor = diagnostics.descriptor
    isShown =
      diagnostics.verbosity > .quiet && diagnostics.format == .text
      && Terminal.isTerminal(diagnostics.descriptor)
  }

  deinit { finish() }

  package func advance(by amount: Int = 1) { update(done: done + amount) }

  /// Sets the amount that an earlier run of the same operation did.
  package func begin(with done: Int) {
    before = done
    update(done: done)
  }

  package func update(done: Int) {
    self.done = done
    guard isShown else { return }
    let now = MonotonicClock.now()
    guard now - start >= delay else { return }
    if let lastDrawn, now - lastDrawn < .milliseconds(100) { return }
    lastDrawn = now
    let width = Terminal.columns(descriptor) ?? 80
    let line = Self.line(
      label: label, unit: unit, done: done, total: total, share: total == nil ? share?() : nil,
      before: before, elapsed: now - start, width: width)
    ProgressLine.isShown = true
    _ = Descriptor.writeAll(ProgressLine.erase + line, to: descriptor)
  }

  package func finish() {
    guard isShown, lastDrawn != nil else { return }
    lastDrawn = nil
    ProgressLine.isShown = false
    _ = Descriptor.writeAll(ProgressLine.erase, to: descriptor)
  }

  /// The line, at most `width` - 1 columns wide, because some terminals wrap in the last column.
  static func line(
    label: String, unit: Unit, done: Int, total: Int?, share: Double? = nil, before: Int = 0,
    elapsed: Duration, width: Int
  ) -> String {
    var parts: [String] = []
    if let share { parts.append("\(Int(share * 100))%") }
    if let total, total > 0 {
      parts.append("\(min(100, Int(Double(done) / Double(total) * 100)))%")
      parts.append("\(amount(done, unit, named: false)) of \(amount(total, unit, named: true))")
    } else {
      parts.append(amount(done, unit, named: true))
    }
    let seconds = elapsed.inSeconds
    if seconds >= 0.5, done > before {
      let rate = Double(done - before) / seconds
      parts.append("\(amount(Int(rate), unit, named: false))/s")
      if let share, share > 0, share < 1 {
        let left = seconds * (1 - share) / share
        if left < 1e9 { parts.append("\(time(Int64(left) + 1)) left") }
      }
      if let total, total > done {
        let left = Double(total - done) / rate
        if left < 1e9 { parts.append("\(time(Int64(left) + 1)) left") }
      }
    }
    parts.append(time(elapsed.components.seconds))
    let text = "\(label): " + parts.joined(separator: ", ")
    let space = width - text.count - 4
    let bar =
      share.map { self.bar(done: Int($0 * 1000), total: 1000, width: space) }
      ?? total.map { self.bar(done: done, total: $0, width: space) } ?? ""
    return String((text + bar).prefix(max(0, width - 1)))
  }

  private static func bar(done: Int, total: Int, width: Int) -> String {
    guard width >= 10, total > 0 else { return "" }
    let cells = min(width, 30)
    let filled = min(cells, Int(Double(done) / Double(total) * Double(cells)))
    return " [" + String(repeating: "#", count: filled)
      + String(repeating: ".", count: cells - filled) + "]"
  }

  /// Whole seconds: tenths would flicker.
  private static func time(_ seconds: Int64) -> String {
    seconds < 60 ? "\(seconds) s" : Readable.duration(.seconds(seconds))
  }

  private static func amount(_ number: Int, _ unit: Unit, named: Bool) -> String {
    switch unit {
    case .bytes: Readable.bytes(number)
    case .items(let name): Readable.count(number) + (named ? " \(name)" : "")
    }
  }
}

/// The terminal line that a progress bar occupies. Messages erase it first and redraw it afterwards.
enum ProgressLine {
  private static let shown = Atomic<Bool>(false)

  static let erase = "\r\u{1B}[K"

  static var isShown: Bool {
    get { shown.load(ordering: .relaxed) }
    set { shown.store(newValue, ordering: .relaxed) }
  }
}
