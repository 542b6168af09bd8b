import Glibc

extension Backlog {
  /// No event is larger, because a change has two events of half a megabyte of text at most.
  private static var longestEvent: Int { 16 << 20 }

  /// The bytes from `offset` to the end of the event in which it is; none if an event begins there.
  ///
  /// - Parameter frame: For a WebSocket, where a frame begins, at or before `offset`. It is moved on, so that
  ///   the search for the next offset is short.
  func restOfEvent(from offset: Int, _ form: StreamForm, frame: inout Int) -> [UInt8] {
    if form == .webSocket { return restOfFrame(from: offset, &frame) }
    let separator: [UInt8] = form == .events ? [0x0A, 0x0A] : [0x0A]
    guard offset > 0 else { return [] }
    // The separator may have begun before.
    let start = max(0, offset - separator.count)
    var bytes: [UInt8] = []
    var searched = 0
    while start + bytes.count < size, bytes.count < Self.longestEvent {
      let part = self.bytes(at: start + bytes.count, 64 << 10)
      guard !part.isEmpty else { return [] }
      bytes += part
      while searched + separator.count <= bytes.count {
        let end = searched + separator.count
        if start + end >= offset, bytes[searched..<end].elementsEqual(separator) {
          return Array(bytes[(offset - start)..<end])
        }
        searched += 1
      }
    }
    return []
  }

  private func restOfFrame(from offset: Int, _ frame: inout Int) -> [UInt8] {
    var end = frame
    var part: [UInt8] = []
    var start = end
    while end < offset {
      frame = end
      if end + 10 > start + part.count {
        start = end
        part = bytes(at: start, 64 << 10)
      }
      let size = part.withUnsafeBytes {
        WebSocketFrame.size(UnsafeRawBufferPointer(rebasing: $0[min(end - start, $0.count)...]))
      }
      guard let size else { return [] }
      end += size
    }
    return bytes(at: offset, end - offset)
  }

  private func bytes(at position: Int, _ most: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
      count = max(0, pread(file.descriptor, buffer.baseAddress, buffer.count, position))
    }
  }
}
