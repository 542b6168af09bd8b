import Foundation
import TestSupport
import Testing

/// `quake-admin associations`, and what lists show of it.
@Suite final class AssociationToolTests: ToolSuite {
  private func tool(_ name: String, _ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run(name, arguments)
  }

  private func associations(_ arguments: String...) throws -> ToolProcess.Outcome {
    try database.run("quake-admin", ["associations"] + arguments)
  }

  private func load(_ path: String) throws {
    try tool("quake-ingest", "import", path).requireSuccess()
  }

  /// EMSC's form of an event.
  private static func emsc(_ id: String, time: String, latitude: String = "35.8") -> String {
    """
    {"type":"Feature","id":"\(id)","geometry":{"type":"Point","coordinates":[-117.5,\(latitude),-8.0]},\
    "properties":{"source_id":"1","source_catalog":"EMSC-RTS","lastupdate":"2023-11-14T23:00:00.0Z",\
    "time":"\(time)","flynn_region":"CENTRAL CALIFORNIA","lat":\(latitude),"lon":-117.5,"depth":8.0,\
    "evtype":"ke","auth":"SCSN","mag":2.6,"magtype":"ml","unid":"\(id)"}}
    """
  }

  private func loadBoth() throws {
    try load(
      folder.write(
        "usgs.geojson",
        Feeds.collection([Feeds.feature("us1"), Feeds.feature("us2", time: 1_700_005_000_000)])))
    try load(
      folder.write(
        "emsc.json",
        """
        {"type":"FeatureCollection","metadata":{"totalCount":2},"features":[\
        \(Self.emsc("20231114_0000001", time: "2023-11-14T22:13:22.0Z")),
        \(Self.emsc("20231114_0000002", time: "2023-11-14T20:00:00.0Z"))]}
        """))
  }

  @Test func listsAndCountsShowAnEarthquakeOnce() throws {
    try loadBoth()
    let before = try tool("quake-query", "list", "--json").output
    #expect(!before.contains("others"))
    #expect(try associations("run").status == 1)
    let trial = try associations("run", "--dry-run")
    #expect(trial.lines.first?.hasSuffix("associated 2, released 0") == true)
    #expect(try tool("quake-query", "list", "--json").output == before)
    try associations("enable").expect(0, printing: "associated 2, released 0")

    #expect(try tool("quake-query", "list", "--count").output == "3\n")
    #expect(try tool("quake-query", "stats", "--json").output.contains("\"count\":3"))
    #expect(try database.count("quake.current_quake") == 3)
    #expect(try database.count("quake.live") == 3)
    #expect(try database.count("quake.quake") == 4)
    let lines = try tool("quake-query", "list").lines
    #expect(lines.contains { $0.hasSuffix("(us1)  also emsc:20231114_0000001") })
    #expect(lines.contains { $0.hasSuffix("(us2)") })
    let list = try tool("quake-query", "list", "--json").lines.map(JSONLine.init)
    #expect(
      list.map { $0.text.contains("\"others\":[\"emsc:20231114_0000001\"]") } == [
        false, true, false,
      ])
    #expect(
      try tool("quake-query", "list", "--columns", "code,place").output.contains(
        /us1 +10 km N of Nowhere +also emsc:20231114_0000001\n/))
    // The other lines are what they were.
    #expect(
      Set(before.split(separator: "\n")).intersection(list.map { Substring($0.text) }).count == 2)
    let shown = try tool("quake-query", "show", "emsc:20231114_0000001")
    #expect(shown.output.contains("code "))
    #expect(shown.lines.last?.hasPrefix("others ") == true)
    #expect(try tool("quake-query", "show", "us1", "--json").output.contains("\"others\":[\"emsc:"))
    #expect(try tool("quake-query", "export", "--format", "csv").lines.count == 4)

    let watched = try tool("quake-watch", "--from-start", "--no-follow", "--json", "--op", "update")
    #expect(watched.lines.count == 1)
    #expect(watched.output.contains("\"changed\":[\"superseded_by\"]"))

    let events = try associations("show", "us1", "--json")
    #expect(events.output.contains("\"preferred\":\"us1\""))
    #expect(events.output.contains("\"seconds\":2"))
    #expect(try associations("show", "us2").status == 1)
    #expect(try associations("list").lines.count == 2)

    #expect(try associations("disable").status == 0)
    #expect(try tool("quake-query", "list", "--json").output == before)
  }

  /// A restore never brings back a successor that an association gave an event and that may be gone.
  @Test(arguments: [
    ["delete emsc:20231114_0000001 us1", "restore emsc:20231114_0000001"],
    ["delete emsc:20231114_0000001", "restore emsc:20231114_0000001", "delete us1"],
  ])
  func aRestoredEventIsShown(edits: [String]) throws {
    try loadBoth()
    #expect(try associations("enable").status == 0)
    for edit in edits {
      let words = edit.split(separator: " ").map(String.init)
      try database.succeed("quake-admin", ["events"] + words + ["--yes"])
    }
    #expect(
      try tool("quake-query", "list", "--codes").lines.sorted()
        == ["emsc:20231114_0000001", "emsc:20231114_0000002", "us2"])
    try load(folder.write("us1.geojson", Feeds.collection([Feeds.feature("us9", time: 1)])))
    #expect(try tool("quake-query", "list", "--count").output == "4\n")
  }

  @Test func whatAssociatedEventsIsNotUndone() throws {
    try loadBoth()
    #expect(try associations("enable").status == 0)
    let token = try database.value("select quake.latest_token()")
    #expect(try associations("disable").status == 0)
    #expect(try tool("quake-query", "list", "--count").output == "4\n")
    let end = try database.value("select quake.latest_token()")
    for transaction in [token, end] {
      try tool("quake-admin", "events", "restore", "--transaction", transaction, "--yes").expect(
        65, "associations split")
    }
    #expect(try tool("quake-query", "list", "--count").output == "4\n")
  }

  @Test func theServerShowsAnEarthquakeOnce() throws {
    try loadBoth()
    let server = try ServerProcess(database)
    func answer(_ target: String) throws -> String {
      try server.get(target).expect(200, with: target).text
    }
    #expect(try !answer("/v1/quakes").contains("quake:others"))
    #expect(try associations("enable").status == 0)
    try eventually("the server answers with the association") {
      try answer("/v1/quakes").contains("\"quake:others\":[\"emsc:20231114_0000001\"]")
    }
    #expect(try answer("/v1/quakes").components(separatedBy: "\"Feature\"").count == 4)
    #expect(try answer("/v1/quakes/emsc:20231114_0000001").contains("\"id\":\"us1\""))
    #expect(try answer("/v1/quakes/us1").contains("quake:others"))
    #expect(try answer("/v1/stats").contains("\"count\":3"))
    #expect(
      try answer("/fdsnws/event/1/count?starttime=2023-11-14&endtime=2023-11-15").hasPrefix("3"))
    #expect(try answer("/v1/quakes?columns=code").contains("others") == false)
  }

  @Test func importsAssociateByThemselves() throws {
    #expect(try associations("enable").status == 0)
    try loadBoth()
    #expect(try tool("quake-query", "list", "--count").output == "3\n")
    let preferred = try associations("prefer", "emsc", "--box", "-120,30,-110,40").expect(0)
    #expect(!preferred.errors.contains("warning"))
    let misspelt = try associations("prefer", "emcs,gfz", "--box", "1,2,3,4").errors
    #expect(misspelt.contains("there are no events of source 'emcs' yet"))
    #expect(misspelt.contains("did you mean 'emsc'?"))
    #expect(misspelt.contains("there are no events of source 'gfz' yet"))
    #expect(try associations("prefer", "--box", "1,2,3,4", "--remove").status == 0)
    #expect(try associations("prefer").output == "-120,30,-110,40: emsc\neverywhere: usgs\n")
    #expect(
      try tool("quake-query", "list").lines.contains {
        $0.hasSuffix("(emsc:20231114_0000001)  also us1")
      })
    #expect(
      try associations("split", "us1", "emsc:20231114_0000001", "--author", "ann").status == 0)
    #expect(try tool("quake-query", "list", "--count").output == "4\n")
    #expect(
      try database.value(
        "select author || context from quake.change_transaction order by token desc limit 1")
        == "annassociation")
    #expect(try associations("join", "us1", "emsc:20231114_0000001").status == 0)
    #expect(try associations("show", "us1").output.contains("joined by hand"))
    #expect(try associations("dissolve", "us1").status == 0)
    #expect(try associations("forget", "us1", "emsc:20231114_0000001").status == 0)
    #expect(try tool("quake-query", "list", "--count").output == "3\n")
    #expect(try associations("settings", "--time", "1s").output.contains("time       1 s"))
    #expect(try associations("run").output.contains("released 2"))
    #expect(try tool("quake-query", "list", "--count").output == "4\n")
  }

  private static let refused: [(arguments: [String], status: Int32)] = [
    (["join", "us1", "none"], 65), (["join", "us1", "us2"], 1), (["join", "us1"], 64),
    (["prefer", "a,a"], 64), (["prefer", "a", "--box", "1,5,3,4"], 64),
    (["prefer", "--remove", "--box", "1,2,3,4"], 1), (["settings", "--time", "0s"], 64),
    (["show", "none"], 65), (["dissolve", "us2"], 1), (["forget", "us1", "us2"], 1),
  ]

  @Test func invalidDecisionsAboutAssociationsAreRefused() throws {
    #expect(try associations("enable").status == 0)
    try loadBoth()
    for (arguments, status) in Self.refused {
      let outcome = try database.run("quake-admin", ["associations"] + arguments).expectFailure(
        status, with: arguments)
      #expect(!outcome.errors.isEmpty, "\(arguments)")
    }
  }
}
