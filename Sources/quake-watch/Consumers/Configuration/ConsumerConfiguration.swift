import Basics
import CommandLine
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeSinks
import QuakeTool

/// A consumer as a section of the configuration file has it.
struct ConsumerConfiguration: Sendable {
  let name: String
  /// The file and line where it begins.
  let place: String
  /// What tells a consumer of changes which ones it wants. An alerting one has it in its rule.
  let filter: EventFilter
  /// When it tells of earthquakes; nil: it tells of changes.
  let rule: AlertRule?
  let plan: any SinkPlan
  let delivery: DeliveryQueue.Settings
  let rate: RateLimit?
  /// How many messages it may owe: then it reads no further.
  let backlog: Int
  /// Where it begins if it has no cursor yet.
  let start: Start
  /// The entries without their lines, to see what a new file changes.
  let entries: [String: [String]]
  /// Whether entries name files, which may have changed.
  let readsFiles: Bool

  enum Start: Sendable, Equatable {
    case now
    /// With the first change ever.
    case start
    /// With the oldest change that is still held.
    case oldest
    case at(HistoryBound)
  }

  var description: ConsumerStore.Description {
    ConsumerStore.Description(name: name, sink: plan.shown, isAlert: rule != nil)
  }

  /// Whether everything is as in another file.
  func isSame(as other: ConsumerConfiguration) -> Bool { entries == other.entries && !readsFiles }
}

extension ConsumerConfiguration {
  static let keys: [Option] =
    AlertKeys.options + SinkKeys.options + MQTTKeys.options + [
      .value("at-once", "N", default: "8", help: "attempts under way; of commands 1"),
      .value("batch", "N", default: "1", help: "messages in one request or command"),
      .value("give-up", "DURATION", default: "24h", help: "park a message after this time"),
      .value("limit-rate", "N/UNIT", help: "make at most so many messages, and drop the others"),
      .value("backlog", "N", default: "10000", help: "messages that it may owe"),
      .value(
        "from", "PLACE", default: "now",
        help: "where it begins: now, start, oldest, a token or a time"),
    ]

  /// The consumers of the sections of a file, in their order.
  ///
  /// - Throws: `UsageError` with file and line of the first invalid entry.
  static func read(_ arguments: ParsedArguments) throws -> [ConsumerConfiguration] {
    try read(arguments.sections, arguments)
  }

  /// The same for other sections than those that the command began with.
  static func read(
    _ sections: [Setting], _ arguments: ParsedArguments
  ) throws -> [ConsumerConfiguration] {
    var names: [String] = []
    var entries: [String: [Setting]] = [:]
    for setting in sections {
      let name = try name(ofSectionWith: setting, arguments)
      if entries[name] == nil {
        names.append(name)
      } else if let known = names.first(where: { $0 == name }),
        !known.utf8.elementsEqual(name.utf8)
      {
        throw arguments.usageError(
          "\(setting.place): the name \"\(name)\" is written in two ways, which look alike: expected the same bytes"
        )
      }
      entries[name, default: []].append(setting)
    }
    guard !names.isEmpty else {
      throw arguments.usageError(
        "the configuration file has no section [consumer NAME]: expected at least one")
    }
    let all = try names.map { try ConsumerConfiguration($0, entries[$0] ?? [], arguments) }
    try refuseOneClientForTwo(all, arguments)
    return all
  }

  /// A broker ends the older of two connections with one id.
  private static func refuseOneClientForTwo(
    _ all: [ConsumerConfiguration], _ arguments: ParsedArguments
  ) throws(UsageError) {
    var owners: [String: String] = [:]
    for consumer in all {
      guard let plan = consumer.plan as? MQTTPlan else { continue }
      let client = "\(plan.address.text) \(plan.client)"
      guard let other = owners.updateValue(consumer.name, forKey: client) else { continue }
      throw arguments.usageError(
        "\(consumer.place): consumers \"\(other)\" and \"\(consumer.name)\" have the same id at a broker:"
          + " expected different values of key 'client-id'")
    }
  }

  private static func name(
    ofSectionWith setting: Setting, _ arguments: ParsedArguments
  ) throws(UsageError) -> String {
    let section = setting.section ?? ""
    let words = section.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0] == "consumer" else {
      throw arguments.usageError(
        "\(setting.place): unknown section [\(section)]: expected [consumer NAME]")
    }
    let name = String(words[1])
    guard (1...200).contains(name.unicodeScalars.count) else {
      throw arguments.usageError(
        "\(setting.place): invalid name of a consumer: expected 1 to 200 characters")
    }
    return name
  }

  private init(_ name: String, _ settings: [Setting], _ arguments: ParsedArguments) throws {
    let keys = try ParsedArguments(
      sectionOf: arguments.title, options: Self.keys, settings: settings)
    self.name = name
    place = settings[0].place
    entries = Dictionary(grouping: settings, by: \.key).mapValues { $0.map(\.value) }
    readsFiles = settings.contains { $0.key.hasSuffix("-file") }
    (filter, rule) = try Self.located(place, name) { try Self.filter(keys) }
    plan = try Self.located(place, name) { try SinkKeys.plan(keys, of: name) }
    var delivery = DeliveryQueue.Settings()
    let isCommand = keys.isGiven("exec") || keys.isGiven("exec-batch")
    delivery.atOnce = try keys.integer("at-once", in: 1...256) ?? (isCommand ? 1 : 8)
    delivery.batch = try keys.integer("batch", in: 1...1000) ?? 1
    if let pause = try keys.duration("give-up", in: .seconds(1)...) { delivery.giveUp = pause }
    self.delivery = delivery
    rate = try keys.rateLimit()
    backlog = try keys.integer("backlog", in: 1...100_000) ?? 10_000
    start = try Self.start(keys)
  }

  private static func filter(_ keys: ParsedArguments) throws -> (EventFilter, AlertRule?) {
    var (filter, rule) = try AlertKeys.filter(keys)
    guard keys.string("retain") == "open", rule != nil else { return (filter, rule) }
    // The broker forgets an earthquake with the message that closes it.
    guard !keys.isGiven("tell-closed") || keys.flag("tell-closed") else {
      throw keys.contradiction("key 'retain' with the value open needs tell-closed = true")
    }
    rule?.tellsClosed = true
    return (filter, rule)
  }

  /// Says where the section is whose keys do not fit together.
  private static func located<Value>(
    _ place: String, _ name: String, _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch let error as UsageError where error.isContradiction {
      throw error.located("\(place): consumer \"\(name)\"")
    }
  }

  private static func start(_ keys: ParsedArguments) throws -> Start {
    switch keys.string("from") {
    case nil, "now": return .now
    case "start": return .start
    case "oldest": return .oldest
    case let text?:
      do {
        return .at(try keys.place(text))
      } catch  where error is StoreError || error is UsageError {
        throw keys.invalidValue(
          text, for: "from", expected: "now, start, oldest, a token or a time")
      }
    }
  }
}
