import Foundation
import TestSupport
import Testing

/// The lines that `quake-watch` prints for people.
@Suite final class ChangeLineTests: ToolSuite {
  private func watch(_ arguments: String...) throws -> [String] {
    let outcome = try database.run("quake-watch", ["--from-start", "--no-follow"] + arguments)
    try #require(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    return outcome.lines
  }

  /// The lines on a terminal with a number of columns.
  private func onTerminal(columns: Int, _ arguments: String...) throws -> [String] {
    let command = """
      stty cols \(columns); quake-watch --from-start --no-follow \
      \(arguments.joined(separator: " ")) --database '\(database.conninfo)'
      """
    return try Tools.shell(
      "script -qec \"\(command)\" /dev/null", environment: ["TERM": "xterm", "NO_COLOR": "1"]
    ).requireSuccess().lines.map { $0.replacing("\r", with: "") }
  }

  /// An event that is then changed by statements on `quake.quake q`, each in a transaction.
  private func change(
    place: String = "10 km N of Nowhere", time: String = "'2024-05-06 07:08:09.5Z'",
    _ assignments: String...
  ) throws {
    try database.psql(
      """
      insert into quake.quake (code, net, time, magnitude, magnitude_type, place, title, sig, depth,
        latitude, longitude, status)
      values ('us1', 'us', \(time), 5.9, 'mb', '\(place)', 'M 5.9', 500, 35.04, 10, 20, 'automatic');
      """
        + assignments.map { "update quake.quake set \($0) where code = 'us1';\n" }.joined())
  }

  // MARK: Words

  @Test func aLineSaysWhatAPersonWantsToKnow() throws {
    try change(
      "magnitude = 6.1, sig = 600, title = 'M 6.1', updated = now(), as_of = now()",
      "updated = now(), ids = ',us1,us2,', types = ',dyfi,', url = 'https://example.org'",
      "depth = 35.01, longitude = 20.0001, time = time + interval '10 ms', rms = null",
      "depth = 10, longitude = 20.1, time = time - interval '2 s'",
      "place = 'Elsewhere', title = 'M 6.1 - Elsewhere', status = 'reviewed'",
      "status = 'REVIEWED'",
      "withdrawn_at = now()", "withdrawn_at = null", "superseded_by = 'ci7'",
      "superseded_by = null", "validated = true", "validated = false", "magnitude = null",
      "alert = 'green', felt = 3, cdi = 4.5, magnitude_type = 'mww'", "title = 'Felt!'")
    let head = "changed 2024-05-06T07:08:09Z  M  6.1  "
    let early = "changed 2024-05-06T07:08:07Z  M  6.1  "
    let none = "changed 2024-05-06T07:08:07Z  M    ?  "
    let who = "  by quake"
    let lines = try watch().map { $0.replacing(#/  by quake \([a-z]+\)$/#, with: who) }
    #expect(
      lines == [
        "new     2024-05-06T07:08:09Z  M  5.9  10 km N of Nowhere (us1): depth 35 km\(who)",
        "\(head)10 km N of Nowhere (us1): magnitude 5.9 → 6.1\(who)",
        "\(early)10 km N of Nowhere (us1): depth 35 → 10 km, …\(who)",
        "\(early)Elsewhere (us1): place was 10 km N of Nowhere, …\(who)",
        "\(early)Elsewhere (us1): withdrawn\(who)",
        "\(early)Elsewhere (us1): back\(who)",
        "\(early)Elsewhere (us1): superseded by ci7\(who)",
        "\(early)Elsewhere (us1): back\(who)",
        "\(early)Elsewhere (us1): validated\(who)",
        "\(early)Elsewhere (us1): no longer validated\(who)",
        "\(none)Elsewhere (us1): magnitude 6.1 → none\(who)",
        "\(none)Elsewhere (us1): alert none → green, …\(who)",
        "\(none)Elsewhere (us1): title M 6.1 - Elsewhere → Felt!\(who)",
      ])
  }

  @Test func bookkeepingIsShownOnRequestAndAlwaysInJSON() throws {
    try change("updated = now(), as_of = now(), ids = ',us1,'", "magnitude = 6")
    #expect(try watch().count == 2)
    #expect(try watch("--limit", "2").count == 2, "what is not shown does not count")
    let all = try watch("--verbose")
    #expect(all.count == 3 && all[1].contains("(us1): updated, ids, as_of"), "\(all)")
    #expect(try watch("--changed", "ids").count == 1, "a filter on a column asks for it")
    let json = try watch("--json").map(JSONLine.init)
    #expect(
      json.map { $0.strings("changed") } == [[], ["updated", "ids", "as_of"], ["magnitude"]])
    #expect(try watch("--exec", "echo \"$QUAKE_OP\"") == ["insert", "update", "update"])
  }

  /// The default author of imports is on every line, so it tells nothing.
  @Test func theAuthorOfImportsIsLeftOut() throws {
    let file = try folder.write("one.geojson", Feeds.collection(count: 1))
    try database.succeed("quake-ingest", ["import", file])
    let other = try folder.write("two.geojson", Feeds.collection(count: 1, from: 2))
    try database.succeed("quake-ingest", ["import", other, "--author", "ada"])
    // Not an import: somebody only says that it is one.
    try database.psql(
      "set quake.author = 'quake-ingest'; update quake.quake set magnitude = 1 where code = 'us1';")
    let lines = try watch()
    #expect(lines.count == 3)
    #expect(lines[0].hasSuffix("(us1): depth 8.1 km"), "\(lines)")
    #expect(lines[1].hasSuffix("(us2): depth 8.1 km  by ada (role quake)"), "\(lines)")
    #expect(lines[2].contains("  by quake-ingest"), "\(lines)")
  }

  // MARK: Width

  @Test(arguments: [40, 80, 160])
  func aLineFitsTheTerminalAndKeepsTheMagnitude(columns: Int) throws {
    try change(
      place: "a place with a long name, which no line can hold, far away from everything",
      "magnitude = 6.1, depth = 10, longitude = 21, place = '北海道の東の沖でとても長い名前の場所にある地震の震央です'",
      "place = E'a\\u0301\\u0302 प्राकृतिक भूकम्प ' || repeat('ü', 300)")
    for lines in [
      try onTerminal(columns: columns, "--utc"), try onTerminal(columns: columns),
    ] {
      #expect(lines.count == 3)
      for line in lines { #expect(Self.width(line) <= columns, "\(line)") }
      #expect(lines[1].contains("magnitude 5.9 → 6.1"), "\(lines)")
      if columns >= 80 { #expect(lines.allSatisfy { $0.contains("us1") }, "\(lines)") }
    }
    // A wide terminal is used.
    if columns == 160 {
      #expect(try onTerminal(columns: columns)[0].contains("far away from everything (us1)"))
    }
    let piped = try watch()
    #expect(piped.allSatisfy { Self.width($0) <= 100 }, "\(piped)")
    #expect(piped[0].contains("a place with a long name, which… (us1): depth 35 km"), "\(piped)")
  }

  /// The columns of a line, counted without the tool: two for the characters of this test that are wide.
  private static func width(_ line: String) -> Int {
    line.unicodeScalars.reduce(0) { sum, scalar in
      switch scalar.properties.generalCategory {
      case .nonspacingMark: sum
      default: sum + ((0x3000...0x9FFF).contains(scalar.value) ? 2 : 1)
      }
    }
  }

  @Test func columnsOfChangesAreAligned() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, place)
      select 'e' || n, now() - n * interval '7 hours', nullif(n, 3) - 1.5, 'Here' from generate_series(1, 12) n;
      """)
    for lines in [try watch(), try onTerminal(columns: 90)] {
      #expect(Set(lines.map { $0.prefix(while: { $0 != "H" }).count }).count == 1, "\(lines)")
      #expect(Set(lines.map { $0.prefix(while: { $0 != "M" }).count }).count == 1, "\(lines)")
    }
  }

  // MARK: Times

  @Test func aTerminalShowsHowLongAgo() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude)
      select 'e' || n, now() - age, 1
        from unnest(array['5 s', '12 min', '3 h 10 min', '5 d 1 h', '-10 min', '1 year']::interval[])
             with ordinality a (age, n);
      """)
    let lines = try onTerminal(columns: 100)
    let times = lines.map { String($0.dropFirst(8).prefix(while: { $0 != "M" })) }
    // The times go on: this holds for 55 seconds.
    let seconds = times[0].wholeMatch(of: /(\d+) s ago +/).flatMap { Int($0.1) }
    #expect(seconds.map { (5...59).contains($0) } == true, "\(times)")
    #expect(times[1...3] == ["12 min ago  ", "3 h ago     ", "5 d ago     "])
    #expect(times[4].wholeMatch(of: /in (9|10) min +/) != nil, "\(times)")
    #expect(times[5].wholeMatch(of: #/\d{4}-\d\d-\d\d +/#) != nil, "\(times)")
    let exact = try onTerminal(columns: 100, "--utc")
    #expect(exact == (try watch()).map { $0 }, "a pipe always has exact times")
    #expect(exact.allSatisfy { $0.contains(#/ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  M/#) }, "\(exact)")
  }
}
