package import Basics
internal import CommandLine
internal import Glibc
internal import QuakeConsumers
internal import Synchronization

/// Writes messages to standard output, a line each. They are delivered when the system has taken all of them.
final class OutputSink: Sink {
  private let plan: OutputPlan

  init(_ plan: OutputPlan) {
    self.plan = plan
  }

  func begin(_ messages: [Message]) -> any DeliveryAttempt {
    OutputAttempt(plan.form.lines(messages), to: PromptOutput(plan.descriptor))
  }
}

private final class OutputAttempt: DeliveryAttempt {
  /// Several consumers may write to the same output: one begins its lines when another one has ended its own.
  private struct Turn {
    var owner: ObjectIdentifier?
    /// Whether the last line has no end, because its attempt was cancelled.
    var isCut = false
  }

  private static let turn = Mutex(Turn())

  private let output: PromptOutput
  private let bytes: [UInt8]
  private var count = 0

  init(_ bytes: [UInt8], to output: PromptOutput) {
    self.bytes = bytes
    self.output = output
  }

  deinit { cancel() }

  var descriptors: [pollfd] {
    [pollfd(fd: output.descriptor, events: Int16(POLLOUT), revents: 0)]
  }

  var deadline: Deadline? { nil }

  func advance() -> DeliveryOutcome? {
    guard let isCut = takeTurn() else { return nil }
    if isCut {
      switch [UInt8(ascii: "\n")].withUnsafeBytes({ output.write($0) }) {
      case .written(0), .full: return nil
      case .written: Self.turn.withLock { $0.isCut = false }
      case .failed(let error): return ended(error)
      }
    }
    while count < bytes.count {
      let result = bytes.withUnsafeBytes {
        output.write(UnsafeRawBufferPointer(rebasing: $0[count...]))
      }
      switch result {
      case .written(let written): count += written
      case .full: return nil
      case .failed(let error): return ended(error)
      }
    }
    leaveTurn(isCut: false)
    return .delivered
  }

  private func ended(_ error: OutputError) -> DeliveryOutcome {
    leaveTurn(isCut: false)
    return .ended(error)
  }

  func cancel() { leaveTurn(isCut: count > 0) }

  /// Begins, or goes on.
  ///
  /// - Returns: Whether the line before has no end; nil: another attempt has its turn.
  private func takeTurn() -> Bool? {
    Self.turn.withLock { turn in
      guard turn.owner == nil || turn.owner == ObjectIdentifier(self) else { return nil }
      turn.owner = ObjectIdentifier(self)
      return turn.isCut
    }
  }

  private func leaveTurn(isCut: Bool) {
    Self.turn.withLock { turn in
      guard turn.owner == ObjectIdentifier(self) else { return }
      turn = Turn(owner: nil, isCut: isCut)
    }
  }
}

/// How messages are written to standard output.
package struct OutputPlan: SinkPlan {
  package var form = MessageForm.json(nil)
  /// The descriptor; tests choose another one.
  package var descriptor: Int32 = 1

  package init() {}

  package var shown: String { "standard output" }

  package func sink(in loop: CurlLoop) -> any Sink { OutputSink(self) }
}
