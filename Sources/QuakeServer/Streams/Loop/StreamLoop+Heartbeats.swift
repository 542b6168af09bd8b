import Basics
import QuakeModel

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
