import Basics
import CommandLine
import Glibc
import Postgres

/// pgbench inserts or updates one event in each transaction. Each variant adds more of the
/// triggers' work.
struct SmallTransactionsWorkload: Workload {
  let letter: String
  let title: String

  private static let events = 20_000

  /// How much of the triggers' work a transaction does; `change` removes the rest.
  private struct Variant {
    let key: String
    let header: String
    let change: SQL
  }

  private static let variants = [
    Variant(
      key: "plain_tps", header: "no history",
      change: "alter table quake.quake disable trigger user"),
    Variant(
      key: "history_tps", header: "history",
      change: "alter table quake.change_pending disable trigger change_pending_10_number"),
    Variant(
      key: "notify_tps", header: "+ NOTIFY",
      change: """
        create or replace function quake.change_pending__number() returns trigger
          language plpgsql as $$
        begin
          perform pg_notify('quake_changes', '{"token":"' || new.transaction_id || '"}');
          return null;
        end $$
        """),
    Variant(key: "all_tps", header: "+ token", change: "select"),
  ]

  private static let statements = [
    (
      "insert",
      """
      \\set i random(1, 1000000000000000)
      \\set m random(1, 90000)
      insert into quake.quake (code, time, magnitude, place, title)
      values ('x' || :i, now(), :m / 10000.0, '10 km N of somewhere', 'M 4.5 - 10 km N of somewhere');

      """
    ),
    (
      "update",
      """
      \\set i random(1, \(events))
      \\set m random(1, 90000)
      update quake.quake set magnitude = :m / 10000.0 where code = 'bench' || :i;

      """
    ),
  ]

  func run(_ bench: Bench) throws -> ResultTable {
    let seconds = bench.options.isQuick ? 1 : 5
    var table = ResultTable(
      self, size: "\(seconds) s a run, transactions a second",
      columns: Self.variants.map { .init($0.key, $0.header, places: 0) } + [
        .init("all_to_history", "token / history", places: 2),
        .init("all_to_notify", "token / NOTIFY", places: 2),
        .init("others_cpus", "others' CPUs", places: 2),
      ])
    table.subject = "clients"
    table.notes = [
      """
      Each column includes the work of the one on its left. pgbench runs prepared statements on the same \
      machine.
      """
    ]
    guard let quake = bench.contender("quake") else { return table }
    guard let pgbench = try find(bench) else {
      table.notes.append("Not measured: there is no pgbench.")
      return table
    }
    let empty = try bench.databases.template(for: quake, before: nil, bench)
    for (index, variant) in Self.variants.enumerated() {
      try prepare(index, variant, from: empty, bench)
    }
    defer { for index in Self.variants.indices { try? bench.server.drop("variant_\(index)") } }
    for (name, statement) in Self.statements {
      let file = "\(bench.folder)/\(name).sql"
      try write(statement, to: file)
      for clients in [1, 4, 16] {
        var runs = Array(repeating: [Double](), count: Self.variants.count)
        var others: [Double] = []
        for round in 0..<bench.options.repeats {
          for place in runs.indices {
            let index = (place + round) % runs.count
            let program = bench.program(
              pgbench,
              [
                "-n", "-M", "prepared", "-c", "\(clients)", "-j", "2", "-T", "\(seconds)", "-f",
                file, bench.server.conninfo("variant_\(index)"),
              ])
            let server = bench.server.processes.cpu
            let usage = try MeasuredChild(folder: bench.folder).run(program)
            let own = bench.server.processes.cpu - server + usage.cpu
            others.append(max(0, usage.machineCPU - own) / usage.seconds)
            let rate = try rate(usage.output)
            runs[index].append(rate)
            bench.diagnostics.note(
              "\(letter): \(clients), \(name), \(Self.variants[index].header): \(Int(rate))/s")
          }
        }
        let medians = runs.map(\.median)
        table.add(
          "\(clients), \(name)",
          medians + [medians[3] / medians[1], medians[3] / medians[2], others.median])
      }
    }
    return table
  }

  private func prepare(
    _ index: Int, _ variant: Variant, from template: String, _ bench: Bench
  ) throws {
    let name = "variant_\(index)"
    try bench.server.create(name, from: template)
    let connection = try bench.server.connect(name)
    try connection.execute(
      SQL(
        trusted: """
          insert into quake.quake (code, time, magnitude, place, title)
          select 'bench' || i, now(), 4.5, '10 km N of somewhere', 'M 4.5 - 10 km N of somewhere'
            from generate_series(1, \(Self.events)) i
          """))
    try connection.execute(variant.change)
    try connection.execute("vacuum (analyze)")
  }

  private func find(_ bench: Bench) throws -> String? {
    let psql = try bench.server.psqlPath
    let beside = psql.lastIndex(of: "/").map { psql[..<$0] + "/pgbench" }.map(String.init)
    return beside.flatMap { SearchPath.find($0) } ?? SearchPath.find("pgbench")
  }

  private func write(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(descriptor) }
    let count = text.utf8.count
    guard descriptor >= 0,
      Array(text.utf8).withUnsafeBytes({
        Glibc.write(descriptor, $0.baseAddress, count)
      }) == count
    else { throw BenchFailure("could not write file \"\(path)\"") }
  }

  /// The number in pgbench's line `tps = 1234.5 (without initial connection time)`.
  private func rate(_ output: [UInt8]) throws -> Double {
    for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count > 2, words[0] == "tps", let rate = Double(words[2]) { return rate }
    }
    throw BenchFailure("pgbench printed no rate")
  }
}
