extension SchemaListing {
  /// The differences of these objects from `expected`: what was changed, what was added, what is missing. The objects
  /// of `optional` need not be there.
  func deviations(
    from expected: SchemaListing, allowing optional: SchemaListing
  ) -> [SchemaDeviation] {
    let known = Dictionary(
      (expected.objects + optional.objects).map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    let present = Set(objects.map(\.name))
    let functions = Set(expected.objects.compactMap(\.calledName))
    var found: [SchemaDeviation] = []
    for object in objects {
      if let original = known[object.name] {
        if object.properties != original.properties { found += object.changes(from: original) }
      } else if let whole = object.whole, known[whole] == nil, present.contains(whole) {
        continue
      } else {
        let isOverload = object.calledName.map(functions.contains) ?? false
        found.append(
          SchemaDeviation(
            text: "\(object.name) is not Quake's"
              + (isOverload ? ", and may be called instead of Quake's function of this name" : ""),
            object: object.target, statement: object.removal,
            isNote: object.isHarmless && !isOverload))
      }
    }
    for original in expected.objects where !present.contains(original.name) {
      if let whole = original.whole, !present.contains(whole) { continue }
      found.append(
        SchemaDeviation(
          text: "\(original.name) is missing", object: original.target,
          statement: "-- create \(original.name), as in migrations/schema.sql"))
    }
    return found
  }
}

extension SchemaListing.Object {
  /// `function`, `column`, ...
  private var kind: Substring { name.prefix { $0 != " " } }

  /// The object that this is a part of: `table quake.feed` of `column url of table quake.feed`.
  fileprivate var whole: String? {
    name.firstRange(of: " of ").map { String(name[$0.upperBound...]) }
  }

  /// The name with its schema: `quake.feed` of `column url of table quake.feed`.
  fileprivate var target: String {
    guard let start = name.firstRange(of: " quake.") else { return name }
    let rest = name[name.index(after: start.lowerBound)...]
    let end = rest.firstRange(of: " of ") ?? rest.firstRange(of: " to ")
    return String(rest[..<(end?.lowerBound ?? rest.endIndex)])
  }

  /// The name of a function without its arguments; nil for other objects.
  fileprivate var calledName: Substring? {
    let kinds: [Substring] = ["function", "procedure", "aggregate"]
    return kinds.contains(kind) ? name.dropFirst(kind.count).prefix { $0 != "(" } : nil
  }

  /// The properties in which it is different.
  fileprivate func changes(from original: Self) -> [SchemaDeviation] {
    let before = original.values
    let now = values
    let names = original.properties.map(Self.split) + properties.map(Self.split)
    var seen: Set<Substring> = []
    return names.map(\.name).filter { seen.insert($0).inserted && now[$0] != before[$0] }.map {
      property in
      SchemaDeviation(
        text:
          "\(name) has \(property) \(now[property] ?? "none") instead of \(before[property] ?? "none")",
        object: target, statement: undo(property, to: before[property]))
    }
  }

  private var values: [Substring: Substring] {
    Dictionary(properties.map(Self.split), uniquingKeysWith: { first, _ in first })
  }

  private static func split(_ property: String) -> (name: Substring, value: Substring) {
    guard let colon = property.firstRange(of: ": ") else { return (property[...], "") }
    return (property[..<colon.lowerBound], property[colon.upperBound...])
  }

  /// The statement that gives a property its value again; a comment where that takes more than one clause.
  private func undo(_ property: Substring, to value: Substring?) -> String {
    let part = name.dropFirst(kind.count + 1).prefix(
      upTo: name.firstRange(of: " of ")?.lowerBound ?? name.endIndex)
    let isOn = value == "on"
    let clause: String? =
      switch (kind, property, value) {
      case (_, "persistence", let value?): "set \(value)"
      case (_, "row security", _): "\(isOn ? "enable" : "disable") row level security"
      case (_, "row security of the owner", _): "\(isOn ? "force" : "no force") row level security"
      case ("trigger", "state", "enabled"?): "enable trigger \(part)"
      case ("column", "default", let value?): "alter column \(part) set default \(value)"
      case ("column", "default", nil): "alter column \(part) drop default"
      case ("column", "null values", let value):
        "alter column \(part) \(value == "refused" ? "set" : "drop") not null"
      case ("sequence", "increment", let value?), ("sequence", "cache", let value?):
        "\(property) \(value)"
      case ("sequence", "minimum", let value?): "minvalue \(value)"
      case ("sequence", "maximum", let value?): "maxvalue \(value)"
      case ("sequence", "cycle", "no"?): "no cycle"
      case ("function", "rights of", let value):
        "security \(value == "its owner" ? "definer" : "invoker")"
      case ("function", "settings", let value):
        "reset all"
          + (value ?? "").split(separator: ";").map { entry in
            " set \(entry.trimmingPrefix(" ").replacing("=", with: " = "))"
          }.joined()
      default: nil
      }
    guard let clause else { return "-- make \(name) anew, as in migrations/schema.sql" }
    let altered =
      switch kind {
      case "function": name
      case "sequence": "sequence \(target)"
      default: whole ?? name
      }
    return "alter \(altered) \(clause)"
  }
}
