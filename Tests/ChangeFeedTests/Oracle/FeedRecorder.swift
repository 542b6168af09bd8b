import Glibc
import Synchronization

/// Takes in the bytes that a watcher prints and keeps what the oracle needs of each line.
final class FeedRecorder: Sendable {
  private struct State {
    var lines: [FeedLine] = []
    var values: ValueChain?
    var malformed = 0
    var pending: [UInt8] = []
    var copy: Int32 = -1
  }

  private let state: Mutex<State>
  private let newest = Atomic<Int64>(-1)
  private let count = Atomic<Int>(0)

  /// - Parameters:
  ///   - checksValues: Whether to follow each event's values too.
  ///   - copy: A descriptor that gets all bytes.
  init(checksValues: Bool = false, copy: Int32 = -1) {
    state = Mutex(State(values: checksValues ? ValueChain() : nil, copy: copy))
  }

  /// The newest token that was said, in a change or a heartbeat; -1 before the first.
  var newestToken: Int64 { newest.load(ordering: .relaxed) }
  /// How many lines there have been.
  var lineCount: Int { count.load(ordering: .relaxed) }
  /// The lines so far.
  var lines: [FeedLine] { state.withLock { $0.lines } }
  /// How many whole lines were none of ours.
  var malformedCount: Int { state.withLock { $0.malformed } }
  /// How many bytes there are of a line that has not ended.
  var pendingCount: Int { state.withLock { $0.pending.count } }
  /// What was wrong with values.
  var valueFaults: [String] { state.withLock { $0.values?.faults ?? [] } }

  /// The events as the feed has left them: their values as they were printed, by the checksum of the
  /// code.
  var events: [UInt32: [UInt8]] { state.withLock { $0.values?.values ?? [:] } }

  /// Takes in what comes next, in any pieces.
  func feed(_ bytes: UnsafeRawBufferPointer) {
    state.withLock { state in
      if state.copy >= 0 { Self.writeAll(bytes, to: state.copy) }
      guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
      guard !state.pending.isEmpty else { return takeLines(bytes, &state) }
      guard let end = memchr(start, 0x0A, bytes.count) else {
        state.pending += bytes
        return
      }
      let head = UnsafeRawPointer(end) + 1 - start
      state.pending += UnsafeRawBufferPointer(rebasing: bytes[..<head])
      let whole = state.pending
      state.pending = []
      whole.withUnsafeBytes { takeLines($0, &state) }
      takeLines(UnsafeRawBufferPointer(rebasing: bytes[head...]), &state)
    }
  }

  /// Takes in a text.
  func feed(_ text: String) {
    var text = text
    text.withUTF8 { feed(UnsafeRawBufferPointer($0)) }
  }

  private func takeLines(_ bytes: UnsafeRawBufferPointer, _ state: inout sending State) {
    guard var place = bytes.baseAddress else { return }
    let end = place + bytes.count
    while place < end, let found = memchr(place, 0x0A, end - place) {
      let next = UnsafeRawPointer(found) + 1
      take(UnsafeRawBufferPointer(start: place, count: next - place), &state)
      place = next
    }
    state.pending += UnsafeRawBufferPointer(start: place, count: end - place)
  }

  private func take(_ bytes: UnsafeRawBufferPointer, _ state: inout sending State) {
    guard let line = FeedLine(bytes) else {
      state.malformed += 1
      return
    }
    state.lines.append(line)
    state.values?.take(line, bytes)
    newest.store(line.token, ordering: .relaxed)
    count.store(state.lines.count, ordering: .relaxed)
  }

  private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      precondition(count > 0, "could not keep a copy of a feed")
      rest = rest.dropFirst(count)
    }
  }
}
