import QuakeModel

/// Where clients begin and continue.
extension StreamLoop {
  /// Finds the position at which a client begins: in the window, or in a backlog.
  func place(_ slot: Int) {
    guard let window else {
      waitingForWindow.insert(slot)
      return
    }
    switch clients[slot].start {
    case .now: join(slot, at: ChangeWindow.Place(page: window.end, change: 0))
    case .snapshot: readBacklog(.snapshot, for: slot)
    case .after(let cursor):
      if case .at(let place) = window.find(cursor) {
        join(slot, at: place)
      } else {
        readBacklog(.after(cursor), for: slot)
      }
    }
  }

  private func join(_ slot: Int, at place: ChangeWindow.Place) {
    waitingForWindow.remove(slot)
    setPhase(.live, of: slot)
    clients[slot].page = place.page
    clients[slot].change = Int32(place.change)
    clients[slot].offset = 0
    clients[slot].joined = window?.end ?? 0
    queue(slot)
  }

  // MARK: - Backlogs

  private func key(_ start: Backlog.Key.Start, for slot: Int) -> Backlog.Key? {
    clients[slot].group.map {
      Backlog.Key(
        start: start, filter: $0.filter, form: clients[slot].form,
        limit: clients[slot].remaining)
    }
  }

  private func waiting(_ slot: Int) -> BacklogTable.Waiting {
    BacklogTable.Waiting(slot: slot, generation: clients[slot].generation)
  }

  private func readBacklog(_ start: Backlog.Key.Start, for slot: Int) {
    guard let key = key(start, for: slot) else { return }
    waitingForWindow.remove(slot)
    setPhase(.waiting, of: slot)
    let backlog = backlogs.take(
      key, for: waiting(slot), of: clients[slot].address, at: now, in: window)
    if let backlog {
      deliver(backlog, to: slot)
    }
  }

  /// Takes note of a backlog that was read, or could not be read.
  func handle(_ outcome: Backlog.Outcome, of key: Backlog.Key) {
    let waiting = backlogs.finish(key, outcome, at: now)
    guard case .done(let backlog) = outcome else { return }
    for client in waiting
    where clients[client.slot].generation == client.generation
      && clients[client.slot].phase == .waiting
    {
      deliver(backlog, to: client.slot)
    }
  }

  private func deliver(_ backlog: Backlog, to slot: Int) {
    setPhase(.backlog, of: slot)
    clients[slot].backlog = backlog
    clients[slot].backlogOffset = 0
    clients[slot].backlogFrame = 0
    clients[slot].backlogSince = now
    clients[slot].page = epoch
    if backlog.isReset { statistics.resets += 1 }
    queue(slot)
  }

  /// Continues after a backlog that was sent whole.
  func leaveBacklog(_ slot: Int) {
    guard let backlog = clients[slot].backlog else { return }
    clients[slot].backlog = nil
    clients[slot].remaining -= backlog.changes
    guard clients[slot].remaining > 0 else { return end(slot) }
    if backlog.changes > 0 || backlog.hasHeartbeat { clients[slot].flags.insert(.served) }
    if backlog.hasHeartbeat { clients[slot].flags.remove(.greeting) }
    // The backlog is empty and ends where it began, at a cursor older than the window: it was read from a standby
    // that is behind the follow loop. Reading at once would give the same again, so the client waits.
    if backlog.size == 0, case .after(let start) = clients[slot].start, start == backlog.end,
      let window, window.find(start) == .outside, !window.isBehind(start),
      let key = key(.after(start), for: slot)
    {
      setPhase(.waiting, of: slot)
      backlogs.wait(key, for: waiting(slot), at: now)
      return
    }
    clients[slot].start = .after(backlog.end)
    setPhase(.waiting, of: slot)
    // The history may have been replaced since the cursor was verified.
    if clients[slot].page == epoch { continueAtVerifiedCursor(slot) } else { place(slot) }
  }

  /// Continues at a cursor of the history that is followed: at once, or when the follow loop has come to it.
  func continueAtVerifiedCursor(_ slot: Int) {
    guard case .after(let cursor) = clients[slot].start, let window else { return place(slot) }
    switch window.find(cursor) {
    case .at(let place): join(slot, at: place)
    case .outside where window.isBehind(cursor): waitingForWindow.insert(slot)
    case .outside: readBacklog(.after(cursor), for: slot)
    }
  }
}

extension ChangeWindow {
  /// Whether the window has not come to a cursor of this history yet.
  func isBehind(_ cursor: HistoryCursor) -> Bool {
    if cursor.token.number != after.token.number {
      return cursor.token.number > after.token.number
    }
    return after.changes != 0 && (cursor.changes == 0 || cursor.changes > after.changes)
  }
}

/// The window of the newest changes: new pages, and pages for which it has no space.
extension StreamLoop {
  /// The follow loop begins after a cursor: at the start, or because the history has been replaced.
  func begin(after cursor: HistoryCursor) {
    var placed = Array(waitingForWindow)
    waitingForWindow = []
    epoch += 1
    if let window {
      for slot in clients.indices where clients[slot].phase == .live {
        if leaveWindow(slot, window) { placed.append(slot) }
      }
    }
    window = ChangeWindow(after: cursor, limit: settings.windowSize, number: window?.end ?? 0)
    for group in groups.values { group.forget() }
    backlogs.forgetResults()
    for slot in placed { place(slot) }
  }

  func append(_ page: EncodedPage) {
    guard window != nil else { return }
    window?.append(page)
    statistics.changes += page.count
    removeOldPages()
    checkPressure()
    sweep.left = clients.count
    for slot in waitingForWindow { continueAtVerifiedCursor(slot) }
  }

  /// Removes the pages for which the window has no space. Clients that still need them and do not read are dropped;
  /// the others get the rest from the database.
  private func removeOldPages() {
    guard let first = window?.firstToKeep, first > window?.first ?? first else { return }
    let late = leaveWindow(before: first)
    window?.remove(before: first)
    for slot in late { place(slot) }
  }

  private func leaveWindow(before first: Int) -> [Int] {
    guard let window else { return [] }
    var late: [Int] = []
    for slot in clients.indices where clients[slot].phase == .live && clients[slot].page < first {
      if clients[slot].flags.contains(.blocked) {
        statistics.droppedBehind += 1
        end(slot)
      } else if leaveWindow(slot, window) {
        late.append(slot)
      }
    }
    return late
  }

  /// Makes a live client wait, to continue at its cursor.
  ///
  /// - Returns: Whether it needs more than the rest of an event.
  private func leaveWindow(_ slot: Int, _ window: ChangeWindow) -> Bool {
    keepRestOfEvent(slot)
    let client = clients[slot]
    clients[slot].start = .after(
      window.cursor(at: .init(page: client.page, change: Int(client.change))))
    if !client.flags.contains(.longPoll) { clients[slot].flags.insert(.greeting) }
    setPhase(.waiting, of: slot)
    guard client.remaining > 0 else {
      endAfterRest(slot)
      return false
    }
    return true
  }

  /// Finds out whether the reader of the history should wait for clients that are far behind, but read.
  func checkPressure() {
    pressureCheckedAt = now
    guard let window, window.pressure > window.first else { return pressure.set(false) }
    pressure.set(
      clients.contains {
        $0.phase == .live && $0.page < window.pressure
          && (!$0.flags.contains(.blocked) || now - $0.blockedSince < 1000)
      })
  }

  func advanceIfBehind(_ slot: Int) {
    guard clients[slot].phase == .live,
      clients[slot].flags.isDisjoint(with: [.blocked, .queued]), let window,
      clients[slot].page < window.end || clients[slot].flags.contains(.greeting)
    else { return }
    advance(slot)
  }
}
