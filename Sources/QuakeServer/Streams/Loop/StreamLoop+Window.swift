import QuakeModel

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
