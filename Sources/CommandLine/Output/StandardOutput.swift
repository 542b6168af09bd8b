import Glibc

/// Buffered output to a file descriptor, standard output unless told otherwise.
///
/// Bytes leave the buffer when it is full or on ``flush()``; whoever writes must flush at the end,
/// because only then can a failure be reported. After a failure every further call fails the same
/// way. Not for use from more than one thread.
public final class StandardOutput {
  /// Where the bytes go.
  public let descriptor: Int32
  private let buffer: UnsafeMutableRawBufferPointer
  private var used = 0
  private var failure: OutputError?
  private var stallWatch: StallWatch?

  /// Called when writing has waited for ``StallTimer/patience`` (250 ms), in all, since the last
  /// ``flush()``: the reader does not keep up. Once until the next flush has ended.
  ///
  /// It cannot fail, since output is not cut off in the middle for another's sake. Pipes, sockets
  /// and terminals are watched; a file never makes anybody wait for long.
  public var onStall: (() -> Void)? {
    didSet { stallWatch = onStall.map { StallWatch(descriptor, tell: $0) } }
  }

  /// Output to `descriptor`, which stays open afterwards.
  public init(descriptor: Int32 = 1, capacity: Int = 64 * 1024) {
    self.descriptor = descriptor
    buffer = .allocate(byteCount: max(capacity, 1), alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// How many bytes wait to be flushed.
  public var bufferedCount: Int { used }

  /// Writes bytes.
  public func write(_ bytes: [UInt8]) throws(OutputError) {
    let result = bytes.withUnsafeBytes { attempt($0) }
    if let result { throw result }
  }

  /// Writes bytes.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
    if let error = attempt(bytes) { throw error }
  }

  /// Writes text as UTF-8.
  public func write(_ text: String) throws(OutputError) {
    var text = text
    if let error = text.withUTF8({ attempt(UnsafeRawBufferPointer($0)) }) { throw error }
  }

  /// Writes text and a line feed.
  public func writeLine(_ text: String) throws(OutputError) {
    try write(text)
    try write("\n")
  }

  /// Hands everything written so far to the system.
  public func flush() throws(OutputError) {
    if let error = drain() { throw error }
    stallWatch?.reset()
  }

  /// Errors are returned, not thrown: closures of the standard library lose their type.
  private func attempt(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
    if let failure { return failure }
    if bytes.count > buffer.count - used, let error = drain() { return error }
    if bytes.count >= buffer.count { return send(bytes) }
    UnsafeMutableRawBufferPointer(rebasing: buffer[used...]).copyMemory(from: bytes)
    used += bytes.count
    return nil
  }

  private func drain() -> OutputError? {
    if let failure { return failure }
    let pending = UnsafeRawBufferPointer(rebasing: buffer[..<used])
    used = 0
    return send(pending)
  }

  private func send(_ bytes: UnsafeRawBufferPointer) -> OutputError? {
    if let stallWatch {
      failure = stallWatch.writeAll(bytes)
    } else {
      failure = Descriptor.writeAll(bytes, to: descriptor)
    }
    return failure
  }
}
