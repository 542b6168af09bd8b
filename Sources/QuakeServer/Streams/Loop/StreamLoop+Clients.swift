import Basics
import CLinux
import Glibc
import QuakeModel

extension StreamLoop {
  func add(_ order: StreamOrder, _ socket: TakenSocket) {
    guard takesClients else { return socket.end() }
    if free.isEmpty {
      free.append(clients.count)
      clients.append(StreamClient())
    }
    let slot = free.removeLast()
    let key = UInt64(clients[slot].generation) << 32 | UInt64(slot)
    SocketOptions.set(on: socket.descriptor, buffer: settings.socketBuffer)
    guard
      quake_epoll_add_socket(
        epoll, socket.descriptor, key, order.form == .webSocket ? 1 : 0) == 0
    else {
      free.append(slot)
      return socket.end()
    }
    let group = groups[order.filter] ?? FilterGroup(order.filter)
    groups[order.filter] = group
    group.clients += 1
    statistics.clients += 1
    statistics.opened += 1
    statistics.waiting += 1
    var client = StreamClient()
    client.generation = clients[slot].generation
    client.phase = .waiting
    client.form = order.form
    client.descriptor = socket.descriptor
    client.end = socket.end
    client.group = group
    client.remaining = order.limit
    client.start = order.start
    client.address = order.client
    client.lastSent = now
    if let age = settings.longestAge?.wholeMilliseconds {
      // Clients that came together leave one after the other.
      client.leavesAt = now + Int64.random(in: age / 2...age)
    }
    if let wait = order.wait {
      client.flags = .longPoll
      client.deadline = now + wait.wholeMilliseconds
      longPolls += 1
    } else {
      client.flags = .greeting
    }
    clients[slot] = client
    if order.form == .webSocket {
      inputs[slot] = WebSocketInput()
      socket.received.withUnsafeBytes { take($0, from: slot) }
      guard clients[slot].phase != .free, !clients[slot].flags.contains(.ending) else { return }
    }
    place(slot)
  }

  func setPhase(_ phase: StreamClient.Phase, of slot: Int) {
    if clients[slot].phase == .waiting { statistics.waiting -= 1 }
    if phase == .waiting { statistics.waiting += 1 }
    clients[slot].phase = phase
  }

  /// Ends a client's stream, and frees its slot.
  func end(_ slot: Int) {
    setPhase(.free, of: slot)
    let client = clients[slot]
    quake_epoll_remove(epoll, client.descriptor)
    if let group = client.group {
      group.clients -= 1
      if group.clients == 0 { groups[group.filter] = nil }
    }
    statistics.clients -= 1
    if client.flags.contains(.blocked) { statistics.blocked -= 1 }
    if client.flags.contains(.longPoll) { longPolls -= 1 }
    if client.flags.contains(.hasUnsentBytes) { unsent[slot] = nil }
    if client.form == .webSocket { inputs[slot] = nil }
    waitingForWindow.remove(slot)
    var unused = StreamClient()
    unused.generation = client.generation &+ 1
    // It may be in the list of this turn, which forgets it then.
    unused.flags = client.flags.intersection(.queued)
    clients[slot] = unused
    free.append(slot)
    client.end?()
  }

  /// Ends a client's stream after what is left of a part.
  func endAfterRest(_ slot: Int) {
    if clients[slot].flags.contains(.hasUnsentBytes) {
      clients[slot].flags.insert(.ending)
    } else {
      end(slot)
    }
  }

  /// Drops the clients that read their backlogs slowly, because others need the space.
  func endSlowBacklogs() {
    for slot in clients.indices where clients[slot].phase == .backlog {
      let seconds = (now - clients[slot].backlogSince) / 1000
      guard seconds >= 10, clients[slot].backlogOffset / Int(seconds) < 64 << 10 else { continue }
      statistics.droppedStalled += 1
      end(slot)
    }
  }

  /// Drops a client that has not read for too long.
  func check(_ slot: Int) {
    let client = clients[slot]
    guard now - client.blockedSince > settings.stallLimit.wholeMilliseconds else { return }
    statistics.droppedStalled += 1
    end(slot)
  }

  /// Ends all streams at the end of the event that is being sent.
  func stop(within limit: Duration) {
    guard cutoff == nil else { return }
    takesClients = false
    cutoff = now + limit.wholeMilliseconds
    for slot in clients.indices where clients[slot].phase != .free { leave(slot) }
  }

  /// Ends a client's stream at the end of the event that is being sent.
  private func leave(_ slot: Int) {
    if let input = inputs[slot] {
      input.close()
      guard answer(slot, input.takeOutput()) else { return }
    } else {
      keepRestOfEvent(slot)
    }
    setPhase(.waiting, of: slot)
    endAfterRest(slot)
    if clients[slot].phase != .free { queue(slot) }
  }

  /// Takes no more clients, and gives each that is there a time to leave.
  func sendAway(over time: Duration) {
    takesClients = false
    let present = clients.indices.filter { clients[$0].phase != .free }
    for (index, slot) in present.enumerated() {
      let share = time.wholeMilliseconds * Int64(index) / Int64(present.count)
      clients[slot].leavesAt = min(clients[slot].leavesAt, now + share)
    }
  }

  /// Sends a client away whose time has come. One that gets a list or a backlog first gets the whole, because it may
  /// have to begin again otherwise, and one that began with the present first gets a cursor.
  func leaveIfDue(_ slot: Int) {
    let flags = clients[slot].flags
    guard clients[slot].phase == .live, now >= clients[slot].leavesAt, !flags.contains(.ending),
      flags.contains(.served) || !flags.contains(.greeting)
    else { return }
    if flags.contains(.longPoll) {
      // It ends with the cursor of the next request.
      clients[slot].deadline = now
      queue(slot)
    } else {
      leave(slot)
    }
  }
}

/// Heartbeats, which show idle clients that the stream is alive.
extension StreamLoop {
  /// A heartbeat that many clients get.
  struct Heartbeat {
    var cursor: HistoryCursor
    var madeAt: Int64
    var block: [UInt8]
  }

  func beatIfDue(_ slot: Int) {
    guard clients[slot].phase == .live,
      now + settings.beatInterval > clients[slot].lastSent + settings.heartbeat.wholeMilliseconds,
      clients[slot].flags.isDisjoint(with: [.blocked, .queued, .hasUnsentBytes, .longPoll]),
      let window,
      clients[slot].page == window.end
    else { return }
    _ = sendHeartbeat(to: slot)
  }

  /// Sends a heartbeat to a client that has everything in the window; not within a transaction, whose changes
  /// may be lost if the heartbeat names its token.
  ///
  /// - Returns: Whether the client is still there.
  func sendHeartbeat(to slot: Int) -> Bool {
    guard let cursor = window?.after, cursor.changes == 0 else { return true }
    let form = clients[slot].form
    var heartbeat = heartbeats[form]
    if heartbeat?.cursor != cursor || now - (heartbeat?.madeAt ?? 0) >= 1000 {
      var block = StreamBlock(form)
      heartbeat = Heartbeat(
        cursor: cursor, madeAt: now, block: block.heartbeat(cursor.token, at: .now()))
      heartbeats[form] = heartbeat
    }
    guard let heartbeat else { return true }
    statistics.heartbeats += 1
    clients[slot].flags.remove(.greeting)
    return sendOnce(heartbeat.block, to: slot)
  }
}
