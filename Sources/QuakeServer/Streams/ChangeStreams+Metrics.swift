extension ChangeStreams {
  /// Why clients of the streams get nothing new; nil if they do.
  var unreadiness: String? {
    state.problem.map { "The streams do not follow the database: \($0)." }
  }

  /// Writes the figures for Prometheus.
  func write(to text: inout PrometheusText) {
    let figures = statistics
    let gauges: [(String, String, Int)] = [
      ("clients", "Clients of the streams of changes.", figures.clients),
      ("waiting_clients", "Clients that wait for a backlog or for the database.", figures.waiting),
      ("blocked_clients", "Clients whose sockets are full.", figures.blocked),
      ("filters", "Different filters of the clients.", figures.filters),
      ("buffer_bytes", "Encoded changes that are kept in memory.", figures.windowBytes),
    ]
    for (name, help, value) in gauges {
      text.single("quake_stream_\(name)", .gauge, help, Double(value))
    }
    let counters: [(String, String, Int)] = [
      ("clients_total", "Clients since the start.", figures.opened),
      ("changes_total", "Changes published, before filters.", figures.changes),
      ("sent_bytes_total", "Bytes handed to sockets.", figures.bytes),
      ("heartbeats_total", "Heartbeats sent.", figures.heartbeats),
      ("backlogs_total", "Backlogs read from the database.", figures.backlogs),
      ("resets_total", "Snapshots sent because a cursor was invalid.", figures.resets),
    ]
    for (name, help, value) in counters {
      text.single("quake_stream_\(name)", .counter, help, Double(value))
    }
    text.begin(
      "quake_stream_dropped_total", .counter, "Clients dropped because they did not keep up.")
    text.value(
      "quake_stream_dropped_total", [("reason", "behind")], Double(figures.droppedBehind))
    text.value(
      "quake_stream_dropped_total", [("reason", "stalled")], Double(figures.droppedStalled))
    text.begin(
      "quake_stream_delay_seconds", .histogram,
      "From the commit of a change to the moment at which a client's socket took it.")
    text.histogram("quake_stream_delay_seconds", [], delay)
  }
}
