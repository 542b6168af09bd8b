import ChildProcesses
import Postgres

/// One of the ways that the sample which Quake grew out of compares, rebuilt on PostgreSQL. The third,
/// streaming, is Quake's own.
struct OriginalWay: Contender {
  let name: String
  let role: Role
  let pace: Pace
  let summary: String
  let layout = Layout.plain
  let contents = Contents.statement(table: "public.plain")

  func availability(_ bench: Bench) -> Availability {
    .present(version: "this program")
  }

  func command(
    loading file: DataFile, into database: String, _ bench: Bench
  ) throws -> ChildProcess {
    bench.program(BenchOptions.program, role.arguments + [file.path], database: database)
  }
}
