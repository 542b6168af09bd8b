import Glibc

/// The input from clients with a WebSocket, and the answers to it.
extension StreamLoop {
  /// Reads what a client with a WebSocket has sent.
  func receive(_ slot: Int) {
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
      // At most 256 KiB, so that no client holds up the others.
      for _ in 0..<16 {
        let count = recv(
          clients[slot].descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else {
          if count == 0 || errno != EAGAIN && errno != EINTR { end(slot) }
          return
        }
        take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), from: slot)
        guard clients[slot].phase != .free, !clients[slot].flags.contains(.ending) else { return }
      }
      // The event is edge-triggered: none would report the rest, so the client is dropped.
      end(slot)
    }
  }

  func take(_ bytes: UnsafeRawBufferPointer, from slot: Int) {
    guard let input = inputs[slot] else { return }
    let goesOn = input.receive(bytes)
    guard answer(slot, input.takeOutput()) else { return }
    if !goesOn {
      setPhase(.waiting, of: slot)
      waitingForWindow.remove(slot)
      endAfterRest(slot)
    }
  }

  /// Sends frames between two others. A client that makes the server answer, and does not read the answers, is
  /// dropped.
  ///
  /// - Returns: Whether the client is still there.
  func answer(_ slot: Int, _ frames: [UInt8]) -> Bool {
    guard !frames.isEmpty else { return true }
    if !clients[slot].flags.contains(.hasUnsentBytes) {
      keepRestOfEvent(slot)
      // Bytes that are sent from there are not sent again from the file.
      if clients[slot].phase == .backlog, let kept = unsent[slot] {
        clients[slot].backlogOffset += kept.bytes.count
      }
    }
    var kept = unsent[slot] ?? UnsentBytes(bytes: [])
    kept.bytes += frames
    kept.answers += frames.count
    unsent[slot] = kept
    clients[slot].flags.insert(.hasUnsentBytes)
    guard kept.answers <= UnsentBytes.mostAnswers else {
      statistics.droppedStalled += 1
      end(slot)
      return false
    }
    queue(slot)
    return true
  }
}
