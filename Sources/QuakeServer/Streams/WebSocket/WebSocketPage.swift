/// The changes of a page as frames of a WebSocket, in the form of EMSC's live feed.
///
/// `@unchecked Sendable`: the memory is written in the initialiser and only read afterwards.
final class WebSocketPage: @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer
  /// Where each frame begins, and the end.
  private let starts: [Int]

  init(_ page: EncodedPage) {
    var message = LiveMessage()
    var bytes: [UInt8] = []
    var starts = [0]
    for change in page.changes {
      bytes += message.frame(change)
      starts.append(bytes.count)
    }
    memory = .allocate(byteCount: max(bytes.count, 1), alignment: 16)
    memory.copyBytes(from: bytes)
    self.starts = starts
  }

  deinit {
    memory.deallocate()
  }

  func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: memory[starts[range.lowerBound]..<starts[range.upperBound]])
  }
}
