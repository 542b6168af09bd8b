import Basics
import CommandLine
import Glibc
import Postgres
import QuakeTool

/// pgbench inserts or updates one event in each transaction. Each variant adds more of the
/// triggers' work.
struct SmallTransactionsWorkload: Workload {
  let letter: String
  let title: String

  private static let events = 20_000

  /// How much of the triggers' work a transaction does; `change` removes the rest.
  private static let variants: [(key: String, header: String, change: SQL)] = [
    ("plain_tps", "no history", "alter table quake.quake disable trigger user"),
    (
      "history_tps", "history",
      "alter table quake.change_pending disable trigger change_pending_10_number"
    ),
    (
      "notify_tps", "+ NOTIFY",
      """
      create or replace function quake.change_pending__number() returns trigger
        language plpgsql as $$
      begin
        perform pg_notify('quake_changes', '{"token":"' || new.transaction_id || '"}');
        return null;
      end $$
      """
    ),
    ("all_tps", "+ token", "select"),
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
    let variants = Self.variants
    var table = ResultTable(
      self, size: "\(seconds) s a run, transactions a second",
      columns: variants.map { .init($0.key, $0.header, places: 0) } + [
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
    guard let quake = bench.quake else { return table }
    // Beside the server's programs, or where PATH leads to.
    let beside = String(try bench.server.psqlPath.dropLast("psql".count)) + "pgbench"
    let pgbench =
      access(beside, X_OK) == 0 ? bench.program(beside, []) : bench.found("pgbench", [])
    var question = pgbench
    question.arguments.append("--version")
    guard bench.firstLine(of: question) != nil else {
      table.notes.append("Not measured: there is no pgbench.")
      return table
    }
    let empty = try bench.databases.template(for: quake, before: nil, bench)
    for (index, variant) in variants.enumerated() {
      try prepare("variant_\(index)", variant.change, from: empty, bench)
    }
    defer { for index in variants.indices { try? bench.server.drop("variant_\(index)") } }
    for (name, statement) in Self.statements {
      let file = "\(bench.folder)/\(name).sql"
      try AtomicFile(file).write(Array(statement.utf8))
      for clients in [1, 4, 16] {
        var rates = Array(repeating: [Double](), count: variants.count)
        var others: [Double] = []
        try bench.alternate(variants.count) { index, _ in
          var program = pgbench
          program.arguments += [
            "-n", "-M", "prepared", "-c", "\(clients)", "-j", "2", "-T", "\(seconds)", "-f",
            file, bench.server.conninfo("variant_\(index)"),
          ]
          let server = bench.server.processes.cpu
          var run = try Measurement(of: program, in: bench.folder)
          run.serverCPU = bench.server.processes.cpu - server
          others.append(run.othersCPU / run.seconds)
          let rate = try rate(run.output)
          rates[index].append(rate)
          bench.diagnostics.note(
            "\(letter): \(clients), \(name), \(variants[index].header): \(Int(rate))/s")
        }
        let medians = rates.map(\.median)
        table.add(
          "\(clients), \(name)",
          medians + [medians[3] / medians[1], medians[3] / medians[2], others.median])
      }
    }
    return table
  }

  private func prepare(
    _ database: String, _ change: SQL, from template: String, _ bench: Bench
  ) throws {
    try bench.server.create(database, from: template)
    let connection = try bench.server.connect(database)
    try connection.execute(
      """
      insert into quake.quake (code, time, magnitude, place, title)
      select 'bench' || i, now(), 4.5, '10 km N of somewhere', 'M 4.5 - 10 km N of somewhere'
        from generate_series(1, \(Self.events)::bigint) i
      """)
    try connection.execute(change)
    try connection.execute("vacuum (analyze)")
  }

  /// The number in pgbench's line `tps = 1234.5 (without initial connection time)`.
  private func rate(_ output: String) throws -> Double {
    for line in output.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count > 2, words[0] == "tps", let rate = Double(words[2]) { return rate }
    }
    throw BenchFailure("pgbench printed no rate")
  }
}
