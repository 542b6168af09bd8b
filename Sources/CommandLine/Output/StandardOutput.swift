import Glibc

/// Buffered output to a file descriptor, by default standard output.
///
/// The buffer is written when it is full and by ``flush()``. Call ``flush()`` at the end, because only then
/// can a failure be reported. After a failure, every further call throws the same error. Use it from one
/// thread only.
public final class StandardOutput {
  /// The file descriptor that bytes are written to.
  public let descriptor: Int32
  private let buffer: UnsafeMutableRawBufferPointer
  private var used = 0
  private var failure: OutputError?
  private var stallWatch: StallWatch?

  /// Called when writing has been blocked for ``StallTimer/patience`` (250 ms) in total since the last
  /// ``flush()``, because the reader does not keep up. At most once until the next flush has ended.
  ///
  /// It cannot throw, so that it never cuts off output. Only pipes, sockets and terminals are watched,
  /// because files do not block for long.
  public var onStall: (() -> Void)? {
    didSet { stallWatch = onStall.map { StallWatch(descriptor, onStall: $0) } }
  }

  /// Output to `descriptor`, which stays open afterwards.
  public init(descriptor: Int32 = 1, capacity: Int = 64 * 1024) {
    self.descriptor = descriptor
    buffer = .allocate(byteCount: max(capacity, 1), alignment: 16)
  }

  deinit { buffer.deallocate() }

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

  /// Writes the buffer to the descriptor.
  public func flush() throws(OutputError) {
    if let error = drain() { throw error }
    stallWatch?.reset()
  }

  /// Returns errors instead of throwing them, because closures of the standard library lose their type.
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
