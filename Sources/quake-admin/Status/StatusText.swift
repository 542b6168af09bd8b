import CommandLine
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeSchema
import QuakeTool
import QuakeWorker

/// The status for people: problems first, at most 80 columns wide.
struct StatusText {
  private let report: StatusReport
  private let problems: [StatusLimits.Problem]
  private let showsHints: Bool
  private let showsSizes: Bool

  /// - Parameters:
  ///   - showsHints: Whether to say more about the problems and what to do: false if warnings do.
  ///   - showsSizes: Whether to list the sizes of tables.
  init(
    _ report: StatusReport, problems: [StatusLimits.Problem], showsHints: Bool, showsSizes: Bool
  ) {
    self.report = report
    self.problems = problems
    self.showsHints = showsHints
    self.showsSizes = showsSizes
  }

  private static let nameWidth = 20
  /// The longest names of feeds and watchers that a table shows whole.
  private static let longestName = 28
  private static let mostProblems = 20

  var text: String {
    var parts: [String] = []
    parts.append(problemList)
    parts.append(overview)
    if let store = report.store {
      if !store.feeds.isEmpty { parts.append(feeds(store)) }
      if !store.watchers.isEmpty { parts.append(watchers(store)) }
      if showsSizes { parts.append(sizes(store)) }
    }
    return parts.joined(separator: "\n")
  }

  private var problemList: String {
    var list = DetailList(nameWidth: Self.nameWidth)
    list.add(paragraph: summary)
    // Several feeds may need the same.
    var hints: [String] = []
    for problem in problems.prefix(Self.mostProblems) {
      list.add(paragraph: problem.message, indent: 2)
      guard showsHints else { continue }
      if let detail = problem.detail { list.add(paragraph: detail, indent: 4) }
      if let hint = problem.hint, !hints.contains(hint) { hints.append(hint) }
    }
    if problems.count > Self.mostProblems {
      list.add(
        paragraph: "and \(problems.count - Self.mostProblems) more, which --json lists", indent: 2)
    }
    for hint in hints { list.add(paragraph: hint) }
    return list.text
  }

  /// The first line: the number of problems, and of feeds by their state.
  private var summary: String {
    var parts: [String] = []
    if !problems.isEmpty || report.store != nil {
      parts.append(
        problems.isEmpty ? "no problems" : Readable.count(problems.count, "problem"))
    }
    if let store = report.store, !store.feeds.isEmpty {
      parts.append(FeedsOutput.summary(of: store.feeds, knowsWorkers: !report.isStandby))
    }
    return parts.isEmpty ? "the schema is not usable" : parts.joined(separator: "; ")
  }

  private var overview: String {
    var list = DetailList(nameWidth: Self.nameWidth)
    list.add("database", report.address)
    let role = report.isStandby ? ", hot standby" : ""
    list.add("server", "PostgreSQL \(report.serverVersion)\(role)")
    list.add("embedded", report.embedded.map { "yes, in \($0)" } ?? "no")
    list.add("schema", schema)
    if let region = report.server.region { list.add("region", text(of: region)) }
    for slot in report.server.slots { list.add("slot \(slot.name)", text(of: slot)) }
    guard let store = report.store else { return list.text }
    list.add("newest token", store.newest.map { "\($0.token), \(ago($0.at, store))" } ?? "none")
    list.add("last import", store.lastImport.map { imported($0, store) } ?? "none")
    if store.quarantined > 0 {
      list.add(
        "quarantined", "\(Readable.count(store.quarantined, "snapshot")); see quake-admin imports")
    }
    if let simulated = store.simulatedEvents, simulated > 0 {
      list.add("simulated events", "\(Readable.count(Int(simulated))), which never happened")
    }
    if store.feeds.isEmpty {
      list.add("feeds", report.server.region == nil ? "none polled yet" : "polled at the centre")
    }
    if let consumers = report.consumers, !consumers.isEmpty {
      list.add("consumers", summary(of: consumers))
    }
    let percent = Readable.decimal(store.notificationQueueUsage * 100, places: 1)
    list.add("notification queue", "\(percent) % full")
    list.add("size", Readable.bytes(Int(store.databaseBytes)))
    list.add(
      "largest tables",
      store.tables.prefix(Self.largest).map { size(of: $0, store) }.joined(separator: "; "))
    return list.text
  }

  private func text(of region: ServerFigures.Region) -> String {
    let state =
      !region.isSubscribed
      ? "no subscription"
      : !region.hasTables
        ? "a subscription without its tables"
        : !region.isEnabled
          ? "disabled"
          : region.copying > 0
            ? "copying \(Readable.count(region.copying, "table"))"
            : region.lagSeconds.map {
              "had all of its centre \(Readable.duration(Duration(lag: max($0, 0)))) ago"
            } ?? "not connected to its centre"
    let behind = region.behindBytes.flatMap { $0 > 0 ? ", \(Readable.bytes(Int($0))) behind" : nil }
    let failures = "workers failed \(Readable.count(Int(region.errors), "time"))"
    return "\(region.name), \(state)\(behind ?? "")" + (region.errors == 0 ? "" : "; \(failures)")
  }

  private func text(of slot: ServerFigures.Slot) -> String {
    let behind = slot.behindBytes.map { "\(Readable.bytes(Int($0))) behind, " } ?? ""
    let lag = slot.lagSeconds.map { "\(Readable.duration(Duration(lag: $0))) late, " } ?? ""
    return (slot.isLost ? "lost WAL, " : "") + (slot.isActive ? "" : "not read, ") + behind + lag
      + "keeps \(Readable.bytes(Int(slot.retainedBytes))) of WAL"
  }

  /// The number of consumers, how many of them are in which state, and what they owe.
  private func summary(of consumers: [ConsumerStatus]) -> String {
    let states = ConsumerStatus.State.allCases.reversed().compactMap { state -> String? in
      let count = consumers.count { $0.state == state }
      return count == 0 ? nil : "\(Readable.count(count)) \(state.rawValue)"
    }
    let owed = consumers.reduce(0) { $0 + $1.owed }
    let parked = consumers.reduce(0) { $0 + $1.parked }
    return states.joined(separator: ", ") + "; \(Readable.count(owed, "message")) owed, "
      + "\(Readable.count(Int(parked))) parked; see quake-admin consumers"
  }

  /// The number of tables that are named without `--verbose`.
  private static let largest = 3

  /// The size of a table, and how it has grown.
  private func size(of table: StoreStatus.Table, _ store: StoreStatus) -> String {
    let size = "\(table.name) \(Readable.bytes(Int(table.bytes)))"
    guard let growth = table.growth else { return size }
    let change = (growth.bytes < 0 ? "-" : "+") + Readable.bytes(Int(growth.bytes.magnitude))
    return "\(size) (\(change) in \(Readable.duration(max(.zero, store.age(of: growth.since)))))"
  }

  private var schema: String {
    if let fault = report.schemaFault { return fault.message }
    let version = report.schemaVersion ?? 0
    guard version <= Migrator.knownVersion else {
      return "version \(version), newer than this program's \(Migrator.knownVersion)"
    }
    guard !report.pending.isEmpty else { return "version \(version), up to date" }
    return "version \(version), lacks \(report.pending.joined(separator: ", "))"
  }

  private func imported(_ last: StoreStatus.LastImport, _ store: StoreStatus) -> String {
    func count(_ number: Int64) -> String { Readable.count(Int(number)) }
    let when = last.finishedAt.map { ago($0, store) } ?? "not finished"
    return "\(last.id) of \(last.feed), \(when): \(count(last.seen)) seen,"
      + " \(count(last.inserted)) inserted, \(count(last.updated)) updated,"
      + " \(count(last.unchanged)) unchanged, \(count(last.rejected)) rejected"
  }

  // MARK: - Feeds

  private func feeds(_ store: StoreStatus) -> String {
    guard store.feeds.count > FeedsOutput.mostInDetail else {
      return FeedsOutput.table(of: store.feeds, store.time, state: state)
    }
    let notable = store.feeds.filter { !$0.isInOrder(knowsWorkers: !report.isStandby) }
    let count = Readable.count(store.feeds.count - notable.count, "feed")
    let rest = "\(count) in order; see quake-admin feeds list\n"
    guard !notable.isEmpty else { return rest }
    return FeedsOutput.table(of: notable, store.time, state: state) + rest
  }

  private func state(of feed: StoreStatus.Feed) -> String {
    if feed.pause == nil, !feed.isHeld, report.isStandby {
      return "polled by a worker not known here"
    }
    return FeedsOutput.state(of: feed)
  }

  // MARK: - Watchers, waits and sizes

  private func watchers(_ store: StoreStatus) -> String {
    var table = TextTable([
      .text("watcher"), .text("token"), .number("behind"), .number("lag"), .number("last seen"),
    ])
    for watcher in store.watchers {
      table.add([
        name(watcher.name), "\(watcher.cursor.token)",
        Readable.count(Int(watcher.transactionsBehind)),
        watcher.isExpired
          ? "expired" : Readable.duration(Duration(lag: watcher.secondsBehind)),
        ago(watcher.seenAt, store),
      ])
    }
    return table.render()
  }

  private func sizes(_ store: StoreStatus) -> String {
    var table = TextTable([.text("table"), .number("size")])
    for entry in store.tables { table.add([entry.name, Readable.bytes(Int(entry.bytes))]) }
    return table.render()
  }

  // MARK: - Parts

  private func name(_ name: String) -> String {
    PrintableText.line(name, atMost: Self.longestName)
  }

  private func ago(_ moment: Timestamp, _ store: StoreStatus) -> String {
    "\(Readable.duration(max(.zero, store.age(of: moment)))) ago"
  }
}
