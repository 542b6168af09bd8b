import Foundation
import QuakeStore
import TestSupport
import Testing

/// Runs each row of the table in `docs/abilities.md`: its command, its SQL and its library call, each on a
/// database of its own with the same events, and compares the results.
@Suite struct AbilityTests {
  /// A row of the document.
  private struct Row {
    let ability: String
    let command: String
    let statement: String

    init(_ line: Substring) throws {
      let cells = line.replacingOccurrences(of: "\\|", with: "\u{0}").split(
        separator: "|", omittingEmptySubsequences: true
      ).map {
        $0.replacingOccurrences(of: "\u{0}", with: "|").trimmingCharacters(in: .whitespaces)
      }
      try #require(cells.count == 5, "\(line)")
      func code(_ cell: String) throws -> String {
        try #require(cell.hasPrefix("`") && cell.hasSuffix("`"), "\(cell)")
        return String(cell.dropFirst().dropLast())
      }
      ability = cells[0]
      command = try code(cells[2])
      statement = try code(cells[4])
    }
  }

  /// The database and folder of one run.
  private struct Scene {
    let database: LiveDatabase
    let connection: Connection
    let folder: TemporaryFolder

    init() throws {
      database = try LiveDatabase()
      connection = try database.test.connect()
      folder = try TemporaryFolder()
      try folder.write(
        "bulletin.csv", "id,time,mag,latitude,longitude\nnew,2026-01-02T00:00:00Z,3.5,1,2\n")
      try connection.run(
        """
        insert into quake.quake (code, time, magnitude, place, type) values
          ('deep', now() - interval '1 hour', 6.1, '6 km SSW of Pāhala, Hawaii', 'earthquake'),
          ('shallow', now() - interval '2 hours', 5.2, '10 km N of Pāhala, Hawaii', 'earthquake'),
          ('blast', now() - interval '40 days', 2.5, '3 km W of Town, Nevada', 'quarry blast'),
          ('gone', now() - interval '3 hours', 4.4, 'south of the Fiji Islands', 'earthquake'),
          ('old', now() - interval '50 days', null, 'Town, Nevada', 'earthquake')
        """)
      try connection.run("delete from quake.quake where code = 'gone'")
    }
  }

  /// What the library does for a row, and how to read the row's result.
  private struct Ability {
    /// For rows that change events: the state to compare, instead of what is printed.
    var state: String?
    /// Reads the values that count from a line that the command prints.
    var read: @Sendable (JSONLine) throws -> String = { try text($0, "code") }
    let library: @Sendable (Scene) async throws -> [String]
  }

  private static let author = EditAuthor(program: "tests 1", author: "ann")

  private static func codes(_ query: EventQuery, _ scene: Scene) async throws -> [String] {
    try await scene.database.live.events(query).events.compactMap { $0.text(.code) }
  }

  private static func apply(
    _ action: EditAction, _ selection: EventSelection, _ scene: Scene
  ) async throws -> [String] {
    _ = try await scene.database.live.apply(EventEdit(action, of: selection, by: author))
    return []
  }

  private static let abilities: [String: Ability] = [
    "Fetch with a predicate, in an order, at most N": Ability { scene in
      var query = EventQuery()
      query.filter.types = ["earthquake"]
      query.order = [.greatestFirst]
      query.limit = 2
      return try await codes(query, scene)
    },
    "Count": Ability { scene in
      var query = EventQuery()
      query.filter.minimumMagnitude = 5
      return ["\(try await scene.database.live.count(query))"]
    },
    "Fetch only some properties": Ability(
      read: { "\(try text($0, "code"))|\($0.double("magnitude").map { "\($0)" } ?? "")" }
    ) { scene in
      var query = EventQuery()
      query.columns = [.code, .magnitude]
      query.order = [EventOrder(.code)]
      return try await scene.database.live.events(query).events.map {
        #expect(!$0.has(.place))
        return "\($0.text(.code) ?? "")|\($0.double(.magnitude).map { "\($0)" } ?? "")"
      }
    },
    "Fetch only identifiers": Ability { scene in
      var query = EventQuery()
      query.columns = [.code]
      query.order = [EventOrder(.code)]
      return try await codes(query, scene)
    },
    "Fetch in batches": Ability { scene in
      var query = EventQuery()
      query.order = [EventOrder(.code)]
      for try await page in scene.database.live.pages(query, size: 2) {
        return page.compactMap { $0.code }
      }
      return []
    },
    "Average by group": Ability(
      read: {
        let average = $0.double("average").map { "\($0)" } ?? ""
        return "\(try text($0, "key"))|\(try #require($0.integer("count")))|\(average)"
      }
    ) { scene in
      try await scene.database.live.groups(EventQuery(), by: .place).map { group in
        let average = group.summary.average.map { "\($0)" } ?? ""
        return "\(name(group.key))|\(group.summary.count)|\(average)"
      }
    },
    "Sections": Ability(
      read: { "\(try text($0, "key"))|\(try #require($0.integer("count")))" }
    ) { scene in
      try await scene.database.live.sections(EventQuery(), by: .type).map { section in
        "\(name(section.key))|\(section.events.count)"
      }.sorted()
    },
    "One object by any of its ids": Ability { scene in
      [try await scene.database.live.event("shallow")?.code ?? ""]
    },
    "Batch insert": Ability(
      state: "select time, magnitude from quake.quake where code in ('new', 'bulletin:new')"
    ) { scene in
      _ = try await importBulletin("new 2026-01-02T00:00:00Z 1 2 3.5", into: scene.database.live)
      return []
    },
    "Batch update": Ability(state: "select code from quake.quake where validated order by code") {
      scene in
      var strong = EventFilter()
      strong.minimumMagnitude = 5
      return try await apply(.validate, EventSelection(strong), scene)
    },
    "Batch delete with a limit": Ability(state: "select code from quake.quake order by code") {
      scene in
      var weak = EventFilter()
      weak.maximumMagnitude = 5
      var selection = EventSelection(weak)
      selection.limit = 1
      return try await apply(.delete, selection, scene)
    },
    "Expiry after 30 days": Ability(state: "select code from quake.quake order by code") { scene in
      try await apply(
        .expire(olderThan: .seconds(30 * 86_400), forever: false), EventSelection(), scene)
    },
    "Undo": Ability(state: "select code, magnitude, place, type from quake.quake order by code") {
      scene in
      let token = try await scene.database.live.latestToken()
      _ = try await scene.database.live.apply(EventRestore(.transactions([token]), by: author))
      return []
    },
    "History after a point": Ability { scene in
      var query = HistoryQuery()
      query.filter.operations = [.delete]
      return try await scene.database.live.history(query).codes()
    },
    "Count of the history": Ability { scene in
      ["\(try await scene.database.live.history(HistoryQuery()).count())"]
    },
    "Remote changes": Ability(read: { "\(try text($0, "op"))|\(try text($0, "code"))" }) { scene in
      var lines: [String] = []
      for try await change in scene.database.live.changes(after: ChangeToken.beginning) {
        lines.append("\(change.op)|\(change.code ?? "")")
        if change.op == .delete { break }
      }
      return lines
    },
    "A list that refreshes itself": Ability { scene in
      for try await update in scene.database.live.live() {
        return update.events.compactMap { $0.text(.code) }
      }
      return []
    },
    "An earlier state": Ability { scene in
      var query = EventQuery()
      query.asOf = .number(1)
      return ["\(try await scene.database.live.count(query))"]
    },
  ]

  private static func text(_ line: JSONLine, _ key: String) throws -> String {
    try #require(line.string(key))
  }

  private static func name(_ key: EventKey.Value?) -> String {
    guard case .text(let text) = key else { return "" }
    return text
  }

  private static func rows() throws -> [Row] {
    let text = try String(contentsOfFile: Tools.package + "/docs/abilities.md", encoding: .utf8)
    return try text.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst(2).map(Row.init)
  }

  @Test func eachRowOfTheTableOfAbilitiesHasALibraryCallAndEachCallARow() throws {
    #expect(Set(try Self.rows().map(\.ability)) == Set(Self.abilities.keys))
  }

  @Test(arguments: abilities.keys.sorted())
  func commandLibraryAndSQLGiveTheSameResult(_ name: String) async throws {
    let row = try #require(try Self.rows().first { $0.ability == name })
    let ability = try #require(Self.abilities[name])
    func result(_ answer: [String], _ scene: Scene) throws -> [String] {
      guard let state = ability.state else { return answer }
      return try scene.connection.table(state)
    }

    let shell = try Scene()
    let environment = ["DATABASE_URL": shell.database.test.conninfo]
    let outcome = try Tools.shell(row.command, environment: environment, folder: shell.folder.path)
    try #require(outcome.status == 0, "\(outcome.errors)")
    let printed = try outcome.lines.map { line in
      line.hasPrefix("{") ? try ability.read(try JSONLine(line)) : line
    }
    let library = try Scene()
    let called = try result(try await ability.library(library), library)
    let direct = try Scene()
    let asked = try result(try direct.connection.table(row.statement), direct)

    #expect(!asked.isEmpty)
    #expect(called == asked)
    #expect(try result(printed, shell) == asked, "\(outcome.output)")
  }
}
