import Foundation
import TestSupport
import Testing

/// `quake-query list` and `stats`: order, pages, columns, codes, terminal, and bad input.
@Suite final class ListTests: ToolSuite {
  override init() throws {
    try super.init()
    try database.psql(
      """
      insert into quake.quake (code, time, magnitude, depth, place, net, type, longitude, latitude, felt) values
        ('us1', '2024-05-06 07:08:09.5+00', 5.5, 10, '6 km SSW of Pāhala, Hawaii', 'us', 'earthquake', 179.9, 20, 7),
        ('us2', '2024-05-07 00:00:00+00', 1.25, null, '100% "odd" place_name', 'us', 'quarry blast', 30, 40, null),
        ('hv3', '2024-05-08 00:00:00+00', null, -1.5, '10 km N of Volcano, Hawaii', 'hv', null, -179.9, 20, 0),
        ('hv4', '2024-05-08 00:00:00+00', 5.5, 3, null, 'hv', 'earthquake', null, null, 200);
      """)
  }

  private func query(_ arguments: [String], input: String = "/dev/null") throws
    -> ToolProcess.Outcome
  {
    try database.run("quake-query", arguments, input: input)
  }

  private func lines(_ arguments: String...) throws -> [String] {
    try query(arguments).requireSuccess().lines
  }

  @Test func theOrderIsTheOneAskedFor() throws {
    #expect(try lines("list", "--codes") == ["hv3", "hv4", "us2", "us1"])
    #expect(
      try lines("list", "--codes", "--sort", "magnitude:desc,time") == ["us1", "hv4", "us2", "hv3"])
    #expect(try lines("list", "--codes", "--sort", "depth") == ["hv3", "hv4", "us1", "us2"])
    #expect(try lines("list", "--codes", "--json", "--limit", "1") == ["{\"code\":\"hv3\"}"])
  }

  @Test func pagesMakeUpTheList() throws {
    for order in ["time:desc", "place:desc,felt"] {
      let whole = try lines("list", "--sort", order, "--json", "--columns", "code,place")
      // A script: the cursor is in the last line.
      var pages: [String] = []
      var page = ["--page"]
      var count = 0
      while count < 9 {
        let outcome = try query(
          ["list", "--sort", order, "--json", "--limit", "2", "--columns", "code,place"] + page
        ).expect(0, errors: "")
        pages += outcome.lines.dropLast()
        count += 1
        let last = try JSONLine(try #require(outcome.lines.last))
        #expect(last.keys == ["next"])
        guard let next = last.string("next") else { break }
        page = ["--page", next]
      }
      #expect(pages == whole && count == 2)
    }
    // A person: the cursor is on standard error. It knows the order.
    let first = try query(["list", "--limit", "3", "--codes", "--sort", "magnitude"])
    let note = try #require(first.errors.firstMatch(of: /--page (\S+)/))
    #expect(first.lines == ["us2", "hv4", "us1"])
    #expect(try lines("list", "--codes", "--page", String(note.1)) == ["hv3"])
    #expect(try query(["list", "--limit", "4"]).errors.isEmpty, "there is no next page")
    #expect(try query(["list", "--limit", "1", "--quiet"]).errors.isEmpty)
    try query(["list", "--sort", "time", "--page", String(note.1)]).expect(65, "another order")
  }

  @Test func columnsAreThoseAskedFor() throws {
    #expect(
      try lines("list", "--json", "--columns", "place,code,place", "--code", "us2") == [
        #"{"place":"100% \"odd\" place_name","code":"us2"}"#
      ])
    let table = try lines("list", "--columns", "magnitude,depth,code", "--sort", "code")
    #expect(
      table == [
        "magnitude  depth  code", "            -1.5  hv3", "      5.5      3  hv4",
        "      5.5     10  us1", "     1.25         us2",
      ],
      "\(table)")
  }

  @Test func codesComeFromStandardInput() throws {
    try database.psql(
      "insert into quake.quake (code, time) values (E'it''s \"odd\" %_\\\\', '2024-01-01Z');")
    let file = try folder.write("codes", "us1\r\n\n  hv3  \nnone\nit's \"odd\" %_\\\n%\nus1")
    try query(["list", "--codes", "--code", "-"], input: file).expect(
      0, lines: ["hv3", "us1", "it's \"odd\" %_\\"])
    #expect(
      try query(
        ["list", "--count", "--code", "-", "--code", "us2", "--network", "us"], input: file
      ).lines == [
        "2"
      ])
    #expect(try query(["stats", "--by", "network", "--code", "-"], input: file).lines.count == 4)
    #expect(try query(["list", "--codes", "--code", "-"]).lines == [], "no code, no event")
    for bad in [String(repeating: "x", count: 300), "a\0b"] {
      let file = try folder.write("bad", "us1\n\(bad)\n")
      try query(["list", "--code", "-"], input: file).expectFailure(65, "line 2 of the codes")
    }
  }

  private static let codes = Tools.isSoak ? 1_000_000 : 60_000

  @Test func manyCodesAndEventsNeedLittleMemory() throws {
    try database.psql(
      """
      insert into quake.quake (code, time, place, magnitude)
      select 'many' || n, '2020-01-01Z'::timestamptz + n * interval '1 s', repeat('x', 30), n % 70 / 10.0
        from generate_series(1, \(Self.codes)) n
      """)
    let file = folder.path + "/codes"
    let text = (1...Self.codes).map { "many\($0)\n" }.joined()
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    for arguments in [
      ["list", "--codes", "--code", "-"], ["list", "--sort", "place,magnitude:desc", "--json"],
      ["stats", "--by", "hour", "--json"],
    ] {
      let process = try database.start(
        "quake-query", arguments, input: arguments.contains("-") ? file : "/dev/null")
      var peak = 0
      var count = 0
      while (try? process.line()) != nil {
        count += 1
        if count % 1000 == 0 { peak = max(peak, ProcessMemory.peakSoFar(of: process.pid) ?? 0) }
      }
      #expect(count >= (arguments[0] == "stats" ? Self.codes / 3600 : Self.codes), "\(arguments)")
      #expect(peak < 24 * 1024, "\(arguments): \(peak) kB")
    }
  }

  /// A terminal of 60 columns, by the program script.
  private func terminal(_ command: String, environment: [String: String] = [:]) throws -> String {
    try Tools.shell(
      "script -qec \"stty cols 60 rows 10; \(command) --database '\(database.conninfo)'\" /dev/null < /dev/null",
      environment: ["TERM": "xterm", "NO_COLOR": "1"].merging(environment) { $1 }
    ).expect(0).output.replacing("\r\n", with: "\n")
  }

  @Test(.enabled(if: access("/usr/bin/script", X_OK) == 0, "there is no script(1)"))
  func aTerminalGetsATableThatFitsAndAPager() throws {
    try database.psql(
      "insert into quake.quake (code, time, place) values ('long', '2024-05-09Z', repeat('long ', 100));"
    )
    let table = try terminal("quake-query list", environment: ["PAGER": ""])
    let lines = table.split(separator: "\n")
    #expect(lines.count == 6, "\(table)")
    #expect(
      lines[0].hasPrefix("time") && lines[0].contains("magnitude") && lines[0].hasSuffix("code"))
    for line in lines { #expect(line.count <= 60, "\(line)") }
    #expect(table.contains("…") && lines[1].hasSuffix("long"))
    // The pager gets the output, and its end is waited for.
    let paged = try terminal(
      "quake-query list", environment: ["PAGER": "sed 's/^/paged /'; echo end"])
    #expect(paged == lines.map { "paged \($0)\n" }.joined() + "end\n", "\(paged)")
    // A pager that leaves early ends the program quietly.
    #expect(try terminal("quake-query list", environment: ["PAGER": "head -n 1"]).hasPrefix("time"))
    // One that is not there is an error: nobody has seen the answer.
    try Tools.shell(
      "script -qec \"quake-query list --database '\(database.conninfo)'\" /dev/null < /dev/null",
      environment: ["TERM": "xterm", "NO_COLOR": "1", "PAGER": "/nonexistent/pager"]
    ).expect(1, printing: "error: could not run the pager \"/nonexistent/pager\"")
    // Without a terminal there is neither a table nor a pager.
    let piped = try database.run("quake-query", ["list"], environment: ["PAGER": "echo no"])
    #expect(piped.lines.count == 5 && piped.lines[0].contains("(long)"))
    // Some services have magnitudes and depths with 15 digits. Columns that are asked for have them.
    try database.psql(
      "update quake.quake set magnitude = 1.2499999999999, depth = 6.3099999427795 where code = 'us2'"
    )
    let rounded = try terminal("quake-query list --code us2", environment: ["PAGER": ""])
    #expect(rounded.contains(" 1.25   6.31  100% "), "\(rounded)")
    let exact = try terminal(
      "quake-query list --code us2 --columns magnitude,depth", environment: ["PAGER": ""])
    #expect(exact.contains("1.2499999999999  6.3099999427795"), "\(exact)")
  }

  // MARK: stats

  @Test func statsAreTextAndJSON() throws {
    let text = try lines("stats")
    #expect(text.contains { $0.hasPrefix("events  ") && $0.contains(" 3  earthquakes") }, "\(text)")
    #expect(text.contains { $0.contains("maximum curvature + 0.2 (Wiemer and Wyss, 2000)") })
    #expect(text.contains { $0.contains("1 event of other types, which --type any counts") })
    #expect(text.contains { $0.contains("fewer than 50 events") && $0.contains("--completeness") })
    let json = try JSONLine(try #require(try lines("stats", "--json", "--of", "felt").first))
    #expect(json.integer("count") == 3 && json.integer("known") == 3)
    #expect(json.integer("other_events") == 1 && json.string("b_value_refusal") == "few-events")
    #expect(json.double("average") == 69 && json.string("column") == "felt")
    #expect(
      json.keys == [
        "count", "column", "known", "average", "minimum", "maximum", "energy", "moment",
        "completeness", "b_value", "b_value_error", "b_value_events", "completeness_method",
        "b_value_refusal", "b_value_reason", "other_events",
      ])
    #expect(try lines("stats", "--by", "region", "--type", "any").count == 4)
    let note = try query(["stats", "--by", "region"]).errors
    #expect(note.contains("1 event of other types than earthquake is not counted"), "\(note)")
    #expect(
      try lines("stats", "--code", "none", "--json").first?.contains("\"completeness\":null")
        == true)
    let given = try JSONLine(
      try #require(try lines("stats", "--json", "--completeness", "5.5").first))
    #expect(given.integer("b_value_events") == 2 && given.double("completeness") == 5.5)
    #expect(given.string("completeness_method") == "given")
    let stability = try lines("stats", "--completeness", "b-stability")
    #expect(stability.contains { $0.contains("b-stability (Cao and Gao, 2002)") }, "\(stability)")
  }

  @Test func plotsAreBars() throws {
    let days = try lines("stats", "--by", "day", "--plot")
    #expect(days.count == 3 && days[1].hasPrefix("2024-05-06"), "\(days)")
    #expect(days.last?.hasPrefix("2024-05-08") == true, "\(days)")
    // Three events of magnitude 1.2 and above, and two of 5.5, which get log 3 + 0.3 and log 2 + 0.3.
    let magnitudes = try lines("stats", "--by", "magnitude", "--plot", "--type", "any")
    #expect(
      magnitudes[0].contains("events of each class and above")
        && magnitudes[0].hasSuffix("on a logarithmic scale"), "\(magnitudes)")
    let lengths = magnitudes[1...2].map { $0.filter { $0 == "█" }.count }
    #expect(lengths[1] < lengths[0] && 4 * lengths[1] > 2 * lengths[0], "\(magnitudes)")
    #expect(magnitudes.last == "1 event without magnitude", "\(magnitudes)")
    let classes = try lines("stats", "--by", "magnitude", "--json", "--type", "any")
    #expect(try classes.map { try JSONLine($0).integer("cumulative") } == [3, 2, nil])
    let plain = try database.run(
      "quake-query", ["stats", "--by", "day", "--plot"], environment: ["LC_ALL": "C"])
    #expect(
      plain.output.contains("##") && plain.output.utf8.allSatisfy { $0 < 0x80 }, "\(plain.output)")
  }

  @Test func textsAreTakenLiterally() throws {
    for (arguments, codes) in [
      (["--place", "%"], ["us2"]), (["--place", "\"ODD\""], ["us2"]), (["--place", "'"], []),
      (["--place", "pāHALA"], ["us1"]), (["--code", "us1' or '1'='1"], []),
      (["--network", "h_"], []),
      (["--bbox", "170,0,-170,50"], ["hv3", "us1"]), (["--within", "60:20,180"], ["hv3", "us1"]),
      (["--felt", "7"], ["hv4", "us1"]), (["--type", "quarry blast"], ["us2"]),
      (["--place", "volcano", "--place", "odd"], ["hv3", "us2"]),
    ] { try query(["list", "--codes"] + arguments).expect(0, lines: codes, with: arguments) }
  }
}
