import Foundation
import TestSupport
import Testing

/// The recipes of docs/recipes.md that read an export or copy changes, with stand-ins for services.
@Suite final class RecipeTests: ExecSuite {
  private let text: String

  override init() throws {
    text = try contents(of: Tools.package + "/docs/recipes.md")
    try super.init()
  }

  /// The part below a heading.
  private func part(_ heading: String) throws -> String {
    try #require(text.components(separatedBy: "\n\(heading)\n").dropFirst().first).components(
      separatedBy: "\n## ")[0].components(separatedBy: "\n### ")[0]
  }

  private func blocks(_ heading: String, _ language: String) throws -> [String] {
    try part(heading).components(separatedBy: "```\(language)\n").dropFirst().map {
      $0.components(separatedBy: "```")[0]
    }
  }

  private func shell(_ commands: String) throws -> ToolProcess.Outcome {
    try Tools.shell(
      "PATH='\(folder.path)':$PATH; " + commands,
      environment: [
        "DATABASE_URL": database.conninfo, "HOME": folder.path,
        "MPLCONFIGDIR": folder.path,
      ], folder: folder.path)
  }

  @Test(
    .enabled(if: Tools.isSoak, "make soak has it"),
    .enabled(if: Clients.python != nil, "\(Clients.isMissing)"))
  func obspyFitsTheGutenbergRichterRelation() throws {
    // Magnitudes of which ten times as many are greater by one less: b is near 1.
    try database.psql(
      """
      insert into quake.quake
        (code, net, source, type, time, magnitude, magnitude_type, longitude, latitude, depth)
      select 'ci' || i, 'ci', 'usgs', 'earthquake', now() - i * interval '1 minute',
             round((2.5 - log((i - 0.5) / 400))::numeric, 2), 'ml', -117.6, 35.77, 8
        from generate_series(1, 400) i;
      insert into quake.quake
        (code, net, source, type, time, magnitude, magnitude_type, longitude, latitude, depth)
      values ('cifar', 'ci', 'usgs', 'earthquake', now(), 6, 'mw', -120, 40, 8),
             ('ciblast', 'ci', 'usgs', 'quarry blast', now(), 4, 'ml', -117.6, 35.77, 0);
      """)
    let export = try #require(blocks("## ObsPy", "sh").last)
    let program = try #require(blocks("## ObsPy", "python").first)
    try folder.write("ridgecrest.py", program)
    let outcome = try shell(export + "'\(Clients.python ?? "")' ridgecrest.py\n").requireSuccess()

    let magnitudes = try database.column(
      "select magnitude from quake.quake where code ~ '^ci[0-9]'"
    ).compactMap(Double.init).map { ($0 * 10).rounded(.toNearestOrEven) / 10 }
    let above = magnitudes.filter { $0 > 3.45 }
    let mean = above.reduce(0, +) / Double(above.count)
    let b = log10(exp(1)) / (mean - 3.45)
    #expect(abs(b - 1) < 0.15)
    #expect(
      outcome.lines.last?.hasPrefix(
        "400 events, \(above.count) from M 3.5: b = \(String(format: "%.2f", b)) ± ") == true,
      "\(outcome.output)")
    let picture = try Data(contentsOf: URL(fileURLWithPath: file("ridgecrest.png")))
    #expect(picture.prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
  }

  @Test func kafkaGetsEachChangeWithItsCodeAsKey() throws {
    let kcat = try folder.write(
      "kcat", "#!/bin/sh\n{ printf '%s ' \"$@\"; echo; cat; } >> '\(file("sent"))'\n")
    try #require(chmod(kcat, 0o755) == 0)
    let scripts = try blocks("### Kafka", "sh")
    try #require(scripts.count == 2)
    try folder.write("publish", scripts[0])
    let watcher = scripts[1].trimmingCharacters(in: .newlines) + " --no-follow"

    try database.psql(
      #"insert into quake.quake (code, time, magnitude, place) values ('us1', now(), 6, E'a\t"b"\\c');"#
    )
    #expect(try shell(watcher).status == 0)
    try database.psql("update quake.quake set magnitude = 6.1; truncate quake.quake cascade;")
    #expect(try shell(watcher).status == 0)

    let sent = try lines(of: "sent")
    let call = #"-P -b kafka.example.org:9092 -t quakes -K \t -X enable.idempotence=true "#
    #expect(sent.filter { $0 == call }.count == 3)
    let messages = sent.filter { $0 != call }.map {
      $0.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    }
    #expect(messages.map { $0[0] } == ["us1", "us1", ""])
    let changes = try messages.map { try JSONLine($0[1]) }
    #expect(changes.map { $0.string("op") } == ["snapshot", "update", "truncate"])
    #expect(changes[0]["new"]?.string("place") == "a\t\"b\"\\c")
  }

  @Test func theModelForDbtTakesEachChangeOnce() throws {
    let rest = try #require(
      part("### dbt").components(separatedBy: "\n```\n{{ config").dropFirst().first)
    let model = rest.components(separatedBy: "\n```")[0]
      .replacing("{{ source(\"quake\", \"change\") }}", with: "quake.change")
      .replacing("{{ this }}", with: "public.changes")
    let select = try #require(model.firstRange(of: "select"))
    let condition = try #require(model.firstRange(of: "{% if is_incremental() %}"))
    let first = String(model[select.lowerBound..<condition.lowerBound])
    let next =
      first
      + String(model[condition.upperBound...]).replacing("{% endif %}", with: "")
    #expect(next.contains("history_covers") && !next.contains("{"), "\(next)")

    try insert("a", "b")
    try database.psql("create table public.changes as \(first);")
    try database.psql("update quake.quake set magnitude = 6 where code = 'a';")
    try database.psql("delete from quake.quake where code = 'b';")
    for _ in 1...2 { try database.psql("insert into public.changes \(next);") }
    #expect(
      try database.column(
        "select op || ' ' || code from public.changes order by token_number, version")
        == ["insert a", "insert b", "update a", "delete b"])
  }
}
