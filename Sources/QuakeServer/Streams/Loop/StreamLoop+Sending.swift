import CLinux
import Glibc
import QuakeModel

extension StreamLoop {
  /// The most bytes for a client before the others have their turn.
  private static let quantum = 1 << 20

  /// Sends a client what it lacks, as far as its socket takes it.
  func advance(_ slot: Int) {
    guard !clients[slot].flags.contains(.blocked) else { return }
    if clients[slot].flags.contains(.hasUnsentBytes), !sendUnsent(slot) { return }
    if clients[slot].flags.contains(.ending) { return end(slot) }
    switch clients[slot].phase {
    case .free, .waiting: return
    case .backlog:
      if sendBacklog(slot) { leaveBacklog(slot) }
    case .live:
      sendPages(slot)
    }
  }

  /// Takes note of what a call has sent.
  ///
  /// - Returns: Whether the client takes more.
  private func note(_ sent: Int, of size: Int, _ slot: Int) -> Bool {
    if sent < 0 {
      switch errno {
      case EINTR: break
      case EAGAIN: block(slot)
      default: end(slot)
      }
      // After an interruption the rest of the turn is for the others.
      if clients[slot].phase != .free { queue(slot) }
      return false
    }
    statistics.bytes += sent
    clients[slot].lastSent = now
    guard sent < size else { return true }
    block(slot)
    return false
  }

  private func block(_ slot: Int) {
    guard !clients[slot].flags.contains(.blocked) else { return }
    clients[slot].flags.insert(.blocked)
    clients[slot].blockedSince = now
    statistics.blocked += 1
  }

  // MARK: - Messages to one client

  /// Sends a message. Bytes that the socket does not take now are kept until it does.
  ///
  /// - Returns: Whether the client is still there and takes more.
  func sendOnce(_ bytes: [UInt8], to slot: Int) -> Bool {
    unsent[slot] = UnsentBytes(bytes: bytes)
    clients[slot].flags.insert(.hasUnsentBytes)
    return sendUnsent(slot)
  }

  private func sendUnsent(_ slot: Int) -> Bool {
    guard let kept = unsent[slot] else { return true }
    let size = kept.bytes.count - kept.sent
    let sent = kept.bytes.withUnsafeBytes {
      send(
        clients[slot].descriptor, $0.baseAddress.map { $0 + kept.sent }, size,
        Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    if sent == size {
      unsent[slot] = nil
      clients[slot].flags.remove(.hasUnsentBytes)
    } else if sent > 0 {
      unsent[slot]?.sent += sent
    }
    return note(sent, of: size, slot)
  }

  /// Keeps the bytes that are left of an event whose sending has begun, so that the client's cursor is between
  /// two events.
  func keepRestOfEvent(_ slot: Int) {
    let client = clients[slot]
    var rest: [UInt8] = []
    if client.phase == .live, client.offset > 0, let window, client.page >= window.first {
      let change = Int(client.change)
      rest = Array(
        window[client.page].bytes(change..<change + 1, client.form).dropFirst(Int(client.offset)))
      clients[slot].change += 1
      clients[slot].offset = 0
      clients[slot].remaining -= 1
      clients[slot].flags.insert(.served)
    } else if client.phase == .backlog, let backlog = client.backlog {
      rest = backlog.restOfEvent(
        from: client.backlogOffset, client.form, frame: &clients[slot].backlogFrame)
    }
    guard !rest.isEmpty else { return }
    unsent[slot] = UnsentBytes(bytes: rest)
    clients[slot].flags.insert(.hasUnsentBytes)
  }

  // MARK: - Backlogs

  /// - Returns: Whether the whole backlog has been sent.
  private func sendBacklog(_ slot: Int) -> Bool {
    guard let backlog = clients[slot].backlog else { return false }
    var quantum = Self.quantum
    while clients[slot].backlogOffset < backlog.size {
      guard quantum > 0 else {
        queue(slot)
        return false
      }
      let offset = clients[slot].backlogOffset
      let size = min(backlog.size - offset, PieceList.mostBytes)
      let sent = quake_sendfile(
        clients[slot].descriptor, backlog.file.descriptor, Int64(offset), size)
      if sent > 0 { clients[slot].backlogOffset += sent }
      quantum -= size
      // 0: the file is shorter than it was when it was written.
      guard sent != 0 else {
        end(slot)
        return false
      }
      guard note(sent, of: size, slot) else { return false }
    }
    return true
  }

  // MARK: - Changes

  private func sendPages(_ slot: Int) {
    guard let window, let group = clients[slot].group else { return }
    var quantum = Self.quantum
    while true {
      gather(for: slot, group, window)
      guard pieces.size > 0 else { return handleCaughtUp(slot) }
      guard quantum > 0 else { return queue(slot) }
      quantum -= pieces.size
      var message = msghdr()
      message.msg_iov = pieces.vectors
      message.msg_iovlen = pieces.pieces.count
      let sent = sendmsg(
        clients[slot].descriptor, &message,
        Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
      if sent > 0 { move(slot, by: sent, window) }
      guard note(sent, of: pieces.size, slot) else { return }
      if clients[slot].remaining <= 0 { return end(slot) }
    }
  }

  /// Collects what the client gets next.
  private func gather(for slot: Int, _ group: FilterGroup, _ window: ChangeWindow) {
    pieces.removeAll()
    let form = clients[slot].form
    var number = clients[slot].page
    var change = Int(clients[slot].change)
    var offset = Int(clients[slot].offset)
    var remaining = clients[slot].remaining
    while number < window.end {
      let page = window[number]
      let acceptance = group.acceptance(of: page, number: number)
      while change < page.count {
        let first = acceptance.next(from: change, of: page.count)
        guard first < page.count, remaining > 0 else { break }
        guard !pieces.isFull else { return }
        var end = form == .events ? acceptance.end(from: first, of: page.count) : first + 1
        if Int64(end - first) > remaining { end = first + Int(remaining) }
        let bytes = page.bytes(first..<end, form)
        pieces.append(
          UnsafeRawBufferPointer(rebasing: bytes[offset...]), page: number, first: first, end: end)
        remaining -= Int64(end - first)
        offset = 0
        change = end
      }
      if remaining <= 0 { return }
      number += 1
      change = 0
    }
    // There is nothing for it in the rest.
    if pieces.pieces.isEmpty {
      clients[slot].page = window.end
      clients[slot].change = 0
    }
  }

  /// Moves a client's position by the bytes that were sent.
  private func move(_ slot: Int, by sent: Int, _ window: ChangeWindow) {
    var left = sent
    var lastPage = -1
    for piece in pieces.pieces {
      clients[slot].page = piece.page
      guard left >= piece.size else {
        let inside = window[piece.page].bytes(piece.first..<piece.end, clients[slot].form).count
        let byte = inside - piece.size + left
        if clients[slot].form != .events {
          clients[slot].change = Int32(piece.first)
          clients[slot].offset = Int32(byte)
        } else {
          let place = window[piece.page].change(at: byte, from: piece.first)
          clients[slot].remaining -= Int64(place.change - piece.first)
          clients[slot].change = Int32(place.change)
          clients[slot].offset = Int32(place.offset)
          if place.change > piece.first { clients[slot].flags.insert(.served) }
        }
        return
      }
      left -= piece.size
      clients[slot].change = Int32(piece.end)
      clients[slot].offset = 0
      clients[slot].remaining -= Int64(piece.end - piece.first)
      clients[slot].flags.insert(.served)
      if piece.page != lastPage, piece.page >= clients[slot].joined { observe(window[piece.page]) }
      lastPage = piece.page
    }
  }

  /// Measures the time from the commit to now.
  private func observe(_ page: EncodedPage) {
    guard page.isLive, let committed = page.committed else { return }
    // The database's clock may be ahead.
    figures.delay.add(
      .microseconds(max(0, Timestamp.now().microseconds - committed.microseconds)))
  }

  /// Ends a long poll, or sends the first heartbeat: the client has everything that is in the window.
  private func handleCaughtUp(_ slot: Int) {
    let flags = clients[slot].flags
    if flags.contains(.longPoll) {
      guard flags.contains(.served) || now >= clients[slot].deadline else { return }
      // The heartbeat tells the client the cursor of its next request.
      _ = sendHeartbeat(to: slot)
      if clients[slot].phase != .free { endAfterRest(slot) }
    } else if flags.contains(.greeting) {
      _ = sendHeartbeat(to: slot)
    }
  }
}

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
