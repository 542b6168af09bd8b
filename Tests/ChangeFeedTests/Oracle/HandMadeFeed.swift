/// A small history made by hand, and the lines of a watcher that prints it.
enum HandMadeFeed {
  /// What happens, transaction by transaction: op and code.
  static let transactions: [[(op: String, code: String?)]] = [
    [("insert", "a"), ("insert", "b")],
    [("update", "a")],
    [("update", "a"), ("delete", "b"), ("insert", "c")],
    [("insert", "b")],
    [("truncate", nil)],
    [("insert", "a"), ("update", "a"), ("insert", "d")],
  ]

  /// Every line, in order.
  static let lines: [String] = {
    var values: [String: Int] = [:]
    var count = 0
    var lines: [String] = []
    for (index, transaction) in transactions.enumerated() {
      for (position, change) in transaction.enumerated() {
        count += 1
        let old = change.code.flatMap { values[$0] }
        if change.op == "truncate" { values = [:] }
        if let code = change.code { values[code] = change.op == "delete" ? nil : count }
        lines.append(
          line(
            token: index + 1, position, change.op, change.code, old: old,
            new: change.code.flatMap { values[$0] }))
      }
    }
    return lines
  }()

  static func line(
    token: Int, _ position: Int, _ op: String, _ code: String?, old: Int?, new: Int?
  ) -> String {
    func values(_ value: Int?) -> String {
      value.map { "{\"code\":\"\(code ?? "")\",\"place\":\"\\\",\\\"new\\\":\",\"felt\":\($0)}" }
        ?? "null"
    }
    return "{\"token\":\"\(token).0000000\(token)\",\"position\":\(position),\"op\":\"\(op)\","
      + "\"code\":\(code.map { "\"\($0)\"" } ?? "null"),\"changed\":[],\"old\":\(values(old)),"
      + "\"new\":\(values(new)),\"transaction\":{\"author\":null}}\n"
  }

  static func heartbeat(_ token: Int) -> String {
    "{\"token\":\"\(token == 0 ? "0" : "\(token).0000000\(token)")\",\"position\":null,"
      + "\"op\":\"heartbeat\",\"code\":null,\"changed\":[],\"old\":null,\"new\":null,"
      + "\"transaction\":null,\"at\":\"2026-01-01T00:00:00.000Z\"}\n"
  }

  /// The history that the tables would hold; the filter "inserts" lets inserts through.
  static let history: KnownHistory = {
    let recorder = FeedRecorder()
    for line in lines { recorder.feed(line) }
    return KnownHistory(
      recorder.lines, passes: ["inserts": recorder.lines.map { $0.kind == .insert }])
  }()
}
