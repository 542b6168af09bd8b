import Foundation
import TestSupport
import Testing

/// The benchmark, with little data.
@Suite struct BenchmarkTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func bench(_ arguments: [String]) throws -> ToolProcess.Outcome {
    try Tools.start(
      "quake-bench",
      [
        "--events", "2000", "--month-events", "500", "--grown-events", "2000", "--folder",
        folder.path,
      ] + arguments
    ).exit(within: .seconds(900))
  }

  @Test func eachRowHasPlausibleFigures() throws {
    let markdown = folder.path + "/tables.md"
    let contenders = ["limit", "quake"]
    let outcome = try bench([
      "--json", "--quiet", "--repeat", "2", "--only", "a,b,g,k", "--contenders",
      contenders.joined(separator: ","), "--markdown", markdown,
    ]).requireSuccess()
    let lines = try outcome.lines.map { try JSONLine($0) }
    let head = try #require(lines.first)
    #expect(head.string("machine")?.contains("Linux") == true)
    #expect(head["settings"]?.string("fsync") == "on")
    #expect(head["versions"]?.keys.isSuperset(of: contenders + ["PostgreSQL", "Swift"]) == true)

    let rows = Array(lines.dropFirst())
    func names(_ letter: String, _ subject: String = "contender") -> [String] {
      rows.filter { $0.string("workload") == letter }.compactMap { $0.string(subject) }
    }
    for letter in ["a", "b"] { #expect(names(letter) == contenders) }
    #expect(names("g").first == "quake")
    #expect(
      names("k", "store") == [
        "first load, empty", "first load, grown", "unchanged, empty", "unchanged, grown",
        "2 % revised, empty", "2 % revised, grown",
      ])
    for row in rows {
      let seconds = try #require(row.double("seconds"), "\(row.text)")
      let fastest = try #require(row.double("seconds_min"))
      let slowest = try #require(row.double("seconds_max"))
      #expect(row.integer("runs") == 2)
      #expect(0.001 < fastest && fastest <= seconds && seconds <= slowest && slowest < 60)
      #expect(try #require(row.double("peak_memory_mb")) > 1, "\(row.text)")
      #expect(try #require(row.double("peak_memory_mb")) < 1000, "\(row.text)")
      #expect(try #require(row.double("client_cpu_seconds")) <= slowest * 4, "\(row.text)")
      if row.string("workload") != "g" {
        #expect(try #require(row.double("wal_mb")) > 0.001, "\(row.text)")
        #expect(try #require(row.double("ratio")) > 0)
      }
      if row.string("contender") == "limit" { #expect(row.double("ratio") == 1) }
    }
    // A first load writes more write-ahead log than an unchanged one.
    func figure(_ letter: String, _ name: String, _ key: String) -> Double {
      rows.first { $0.string("workload") == letter && $0.string("contender") == name }?.double(key)
        ?? .nan
    }
    #expect(figure("a", "quake", "wal_mb") > figure("b", "quake", "wal_mb"))

    let text = try contents(of: markdown)
    for letter in ["a", "b", "g", "k"] { #expect(text.contains("\n### (\(letter)) ")) }
    #expect(text.components(separatedBy: "\n| ").count == rows.count + 4 * 2 + 1)
    // The data and the server are gone.
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tables.md"])
  }

  /// A contender that stores fewer events than the file has fails the run; the others are measured.
  @Test func wrongRowsFailTheRun() throws {
    let bin = folder.path + "/bin"
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
    let program = try folder.write(
      "bin/quake-ingest",
      """
      #!/bin/sh
      case "$*" in
        *--jobs* | *--version*) exec "\(Tools.folder)/quake-ingest" "$@" ;;
        *) exec "\(Tools.folder)/quake-ingest" import --quiet \(folder.path)/less.geojson ;;
      esac
      """)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    try Tools.succeed(
      "quake-ingest", ["simulate", "--events", "499", "--output", folder.path + "/less.geojson"])
    let outcome = try bench([
      "--json", "--repeat", "1", "--only", "a", "--contenders", "quake,quake-jobs", "--bin", bin,
    ]).expect(1, "error: quake left wrong rows of month", "there are 499 events")
    let rows = try outcome.lines.dropFirst().map { try JSONLine($0) }
    #expect(rows.map { $0.string("contender") } == ["quake-jobs"])
  }
}
