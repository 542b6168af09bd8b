import Glibc

/// What the clients with a WebSocket send, and the answers to it.
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
    if !clients[slot].flags.contains(.rest) {
      keepRestOfEvent(slot)
      // What is sent from there is not sent again from the file.
      if clients[slot].phase == .backlog, let rest = rests[slot] {
        clients[slot].backlogOffset += rest.bytes.count
      }
    }
    var rest = rests[slot] ?? StreamRest(bytes: [])
    rest.bytes += frames
    rest.answers += frames.count
    rests[slot] = rest
    clients[slot].flags.insert(.rest)
    guard rest.answers <= StreamRest.mostAnswers else {
      statistics.droppedStalled += 1
      end(slot)
      return false
    }
    queue(slot)
    return true
  }
}
