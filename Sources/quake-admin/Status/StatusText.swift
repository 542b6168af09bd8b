import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool
import QuakeWorker

/// The status for people.
struct StatusText {
  private let report: StatusReport

  init(_ report: StatusReport) {
    self.report = report
  }

  var text: String {
    var parts = [overview]
    if let store = report.store {
      if !store.feeds.isEmpty { parts.append(feeds(store)) }
      if !store.watchers.isEmpty { parts.append(watchers(store)) }
      if !store.lockWaits.isEmpty { parts.append(waits(store)) }
      parts.append(sizes(store))
    }
    return parts.joined(separator: "\n")
  }

  private var overview: String {
    var table = TextTable([.text("database"), .text(PrintableText.line(report.address))])
    let role = report.isStandby ? ", hot standby" : ""
    table.add(["server", "PostgreSQL \(report.serverVersion)\(role)"])
    table.add(["embedded", report.embedded.map { "yes, in \($0)" } ?? "no"])
    table.add(["schema", schema])
    guard let store = report.store else { return table.render() }
    table.add([
      "newest token", store.newest.map { "\($0.token), \(ago($0.at, store))" } ?? "none",
    ])
    table.add(["last import", store.lastImport.map { imported($0, store) } ?? "none"])
    if store.quarantined > 0 {
      table.add([
        "quarantined",
        "\(Readable.count(Int(store.quarantined))) snapshots; see quake-admin imports",
      ])
    }
    if store.feeds.isEmpty { table.add(["feeds", "none polled yet"]) }
    let percent = Readable.decimal(store.notificationQueueUsage * 100, places: 1)
    table.add(["notification queue", "\(percent) % full"])
    table.add(["size", Readable.bytes(Int(store.databaseBytes))])
    return table.render()
  }

  private var schema: String {
    if let fault = report.schemaFault { return PrintableText.line(fault.message) }
    let version = report.schemaVersion ?? 0
    guard !report.pending.isEmpty else { return "version \(version), up to date" }
    return "version \(version), lacks \(report.pending.joined(separator: ", "))"
  }

  private func imported(_ last: StoreStatus.LastImport, _ store: StoreStatus) -> String {
    func count(_ number: Int64) -> String { Readable.count(Int(number)) }
    let when = last.finishedAt.map { ago($0, store) } ?? "not finished"
    return PrintableText.line(
      "\(last.id) of \(last.feed), \(when): \(count(last.seen)) seen,"
        + " \(count(last.inserted)) inserted, \(count(last.updated)) updated,"
        + " \(count(last.unchanged)) unchanged, \(count(last.rejected)) rejected")
  }

  private func feeds(_ store: StoreStatus) -> String {
    var table = TextTable([
      .text("feed"), .text("last success"), .number("lag"), .number("failures"),
      .number("next due"), .text("polled by"), .text("error"),
    ])
    for feed in store.feeds {
      table.add([
        PrintableText.line(feed.name), feed.succeededAt.map(Self.second) ?? "never",
        store.lag(of: feed).map(Readable.duration) ?? "", "\(feed.failures)",
        feed.nextDue.map { due($0, store) } ?? "", holder(of: feed),
        PrintableText.line(feed.error ?? ""),
      ])
    }
    return table.render()
  }

  private func holder(of feed: StoreStatus.Feed) -> String {
    guard feed.isHeld else { return report.isStandby ? "not known here" : "no worker" }
    var words = [feed.holderApplication ?? "somebody"]
    if let pid = feed.holderPID { words.append("session \(pid)") }
    if let address = feed.holderAddress { words.append("from \(address)") }
    return PrintableText.line(words.joined(separator: ", "))
  }

  private func watchers(_ store: StoreStatus) -> String {
    var table = TextTable([
      .text("watcher"), .text("token"), .number("transactions behind"), .number("time behind"),
      .text("last seen"),
    ])
    for watcher in store.watchers {
      table.add([
        PrintableText.line(watcher.name), "\(watcher.cursor.token)",
        Readable.count(Int(watcher.transactionsBehind)),
        watcher.isExpired
          ? "expired" : Readable.duration(Duration(lag: watcher.secondsBehind)),
        ago(watcher.seenAt, store),
      ])
    }
    return table.render()
  }

  private func waits(_ store: StoreStatus) -> String {
    var table = TextTable([
      .text("waiting"), .text("for"), .number("time"), .text("held by"),
    ])
    for wait in store.lockWaits {
      let others = wait.holderCount > 1 ? " and \(wait.holderCount - 1) more" : ""
      table.add([
        PrintableText.line(LockWaitText.words(for: wait.waiter)), PrintableText.line(wait.object),
        wait.seconds.map { Readable.duration(.milliseconds(Int64(max(0, $0) * 1000))) } ?? "",
        PrintableText.line(
          (wait.holders.first.map { LockWaitText.words(for: $0) } ?? "not known") + others),
      ])
    }
    return table.render()
  }

  private func sizes(_ store: StoreStatus) -> String {
    var table = TextTable([.text("table"), .number("size")])
    for entry in store.tables { table.add([entry.name, Readable.bytes(Int(entry.bytes))]) }
    return table.render()
  }

  private func ago(_ moment: Timestamp, _ store: StoreStatus) -> String {
    "\(Readable.duration(max(.zero, store.age(of: moment)))) ago"
  }

  private func due(_ moment: Timestamp, _ store: StoreStatus) -> String {
    let rest = .zero - store.age(of: moment)
    return rest > .zero ? "in \(Readable.duration(rest))" : "now"
  }

  /// The moment in whole seconds: microseconds would only clutter the table.
  private static func second(_ moment: Timestamp) -> String {
    let whole = moment.microseconds - moment.microseconds % 1_000_000
    return "\(Timestamp(microseconds: whole))"
  }
}
