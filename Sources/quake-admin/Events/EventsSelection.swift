import CommandLine
import QuakeModel
import QuakeQuery
import QuakeTool

/// The events that a command line selects: by conditions, ids, standard input or a file with conditions.
struct EventsSelection {
  static let positional = Positional(
    "ID", .any, completion: .files, help: "an event; - reads ids, @FILE reads conditions")

  /// Options that a filter has already are left out.
  static let options: [Option] =
    FilterOptions.events + EventQueryOptions.past
    + [
      .value("limit", "N", help: "at most N events, the oldest first"),
      .flag("every-event", help: "all events; needed if there is no condition and no id"),
    ]

  /// The most ids on standard input.
  private static let mostCodes = 5_000_000

  private(set) var events: EventSelection
  /// The ids that the command line and files name, without those on standard input.
  let codes: Set<String>
  /// The selection as text, the same for each run of a command.
  let title: String
  /// Whether there is a condition or an id.
  let isGiven: Bool
  let isEveryEvent: Bool

  /// - Parameters:
  ///   - words: The arguments that are ids, - or @FILE.
  ///   - arguments: Gets the conditions of the files.
  init(
    _ words: [String], _ arguments: inout ParsedArguments, _ diagnostics: Diagnostics
  ) throws {
    var codes: [String] = []
    var own: Set<String> = []
    var readsInput = false
    func readInput() throws {
      readsInput = true
      TerminalInput.announce("ids, one a line,", diagnostics)
      codes += try Self.codesOnStandardInput()
    }
    for word in words {
      if word == "-" {
        guard !readsInput else { throw arguments.usageError("- is given twice") }
        try readInput()
      } else if word.hasPrefix("@") {
        try Self.add(fileOf: String(word.dropFirst()), to: &arguments)
      } else {
        codes.append(word)
        own.insert(word)
      }
    }
    var filter = try FilterOptions.filter(arguments, withChanges: false)
    if filter.codes?.remove("-") != nil, !readsInput { try readInput() }
    self.codes = own.union(filter.codes ?? [])
    let named = !codes.isEmpty || readsInput
    if named { filter.codes = (filter.codes ?? []).union(codes) }
    events = EventSelection(filter)
    let past = EventQueryOptions.past(arguments)
    events.includesSuperseded = past.contains(.superseded)
    events.includesWithdrawn = past.contains(.withdrawn)
    events.limit = try arguments.integer("limit", in: 1...).map { Int64($0) }
    isEveryEvent = arguments.flag("every-event")
    let conditions = FilterOptions.events.filter { arguments.isGiven($0.name) }
    isGiven = named || !conditions.isEmpty
    if isEveryEvent, isGiven {
      throw arguments.usageError("option --every-event cannot be used with conditions or ids")
    }
    title = Self.title(arguments, codes)
  }

  private static func title(_ arguments: ParsedArguments, _ codes: [String]) -> String {
    var parts: [String] = []
    for option in options where arguments.isGiven(option.name) {
      let values = arguments.strings(option.name)
      parts += values.isEmpty ? ["--\(option.name)"] : values.map { "--\(option.name) \($0)" }
    }
    if !codes.isEmpty {
      let sorted = codes.sorted()
      let list = sorted.joined(separator: " ")
      // FNV-1a: enough to tell two lists of ids apart.
      let hash = list.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
        ($0 ^ UInt64($1)) &* 0x100_0000_01b3
      }
      parts.append(
        list.utf8.count <= 1000 ? list : "\(codes.count) ids (\(String(hash, radix: 16)))")
    }
    let text = parts.joined(separator: " ")
    return text.utf8.count <= 60_000 ? text : String(text.prefix(10_000)) + "…"
  }

  /// Adds the conditions of a file to a command line, which has precedence.
  private static func add(fileOf path: String, to arguments: inout ParsedArguments) throws {
    guard !path.isEmpty else { throw arguments.usageError("expected the name of a file after @") }
    let settings = try ConfigurationFile.read(
      path, as: "file of conditions", for: arguments.title)
    for setting in settings where !options.contains(where: { $0.name == setting.key }) {
      let allowed = options.map(\.name).joined(separator: ", ")
      throw arguments.usageError(
        "\(setting.place): key '\(setting.key)' is not a condition: expected one of \(allowed)")
    }
    arguments = try arguments.completed(by: settings)
  }

  private static func codesOnStandardInput() throws -> [String] {
    var codes: [String] = []
    var reader = CodeReader()
    while let code = try reader.next() {
      guard codes.count < mostCodes else {
        throw StoreError(
          .badData, "standard input has more than \(Readable.count(mostCodes)) ids",
          hint: "Select the events by conditions, or divide the list among several commands.")
      }
      codes.append(code)
    }
    return codes
  }
}
