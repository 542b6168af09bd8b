import CommandLine
import QuakeModel

/// The machine, the versions, the server's settings, and the tables.
struct Report {
  private let machine: Machine
  private let versions: [(name: String, version: String)]
  private let absent: [(name: String, hint: String)]
  private let settings: [(name: String, value: String)]
  private let date: String
  private var tables: [ResultTable] = []

  init(_ bench: Bench) throws {
    machine = Machine()
    versions =
      [("PostgreSQL", try bench.server.version()), ("Swift", SwiftVersion.text)]
      + bench.contenders.map { ($0.contender.name, $0.version) }
    absent = bench.absent.map { ($0.contender.name, $0.hint) }
    settings = try bench.server.settings()
    date = String(Timestamp.now().description.prefix(10))
  }

  mutating func add(_ table: ResultTable) {
    tables.append(table)
  }

  // MARK: Forms

  private var settingsText: String {
    settings.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
  }

  func headText() -> String {
    var text = "\(date), \(machine.description)\n"
    for (name, version) in versions { text += "\(name): \(version)\n" }
    for (name, hint) in absent { text += "\(name): not installed; \(hint)\n" }
    return text + "settings: \(settingsText)\n"
  }

  func headJSON() -> String {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("date")
      writer.string(date)
      writer.key("machine")
      writer.string(machine.description)
      writer.key("versions")
      writer.object { writer in
        for (name, version) in versions {
          writer.key(dynamic: name)
          writer.string(version)
        }
      }
      writer.key("absent")
      writer.array { writer in for (name, _) in absent { writer.string(name) } }
      writer.key("settings")
      writer.object { writer in
        for (name, value) in settings {
          writer.key(dynamic: name)
          writer.string(value)
        }
      }
    }
    writer.newline()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  func markdown() -> String {
    var text = "Measured on \(date): \(machine.description).\n\n"
    for (name, version) in versions { text += "- \(name): \(version)\n" }
    for (name, hint) in absent { text += "- \(name): not installed (\(hint))\n" }
    text += "\nThe server's settings: `\(settingsText)`.\n\n"
    return text + tables.map { $0.markdown() }.joined(separator: "\n")
  }
}
