import QuakeModel
import TestSupport

/// Random snapshots of a few earthquakes whose ids change, split and join again, and the state of a store that
/// must follow from each.
struct IdentityModel {
  /// One event of a snapshot.
  struct Feature {
    var code: String
    var ids: [String]
    var magnitude: Double
  }

  private static let networks = ["ak", "ci", "nc", "us"]
  private static let earthquakes = 6
  /// An event of every snapshot, so that none is empty.
  static let constant = Feature(code: "xx", ids: ["xx"], magnitude: 1)

  /// Random snapshots, one after the other.
  ///
  /// - Parameter vanishing: How many of a hundred events a snapshot lacks.
  static func snapshots(
    _ count: Int, vanishing: Int, using generator: inout SeededGenerator
  ) -> [[Feature]] {
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
    /// For each earthquake the groups that its ids form, the first id of a group being its event's.
    var groups = (0..<earthquakes).map { _ in [[String]]() }
    return (0..<count).map { _ in
      var features = [constant]
      for earthquake in 0..<earthquakes {
        var ids = groups[earthquake].flatMap { $0 }
        if ids.isEmpty || chance(40) {
          if let new = networks.filter({ !ids.contains($0) }).randomElement(using: &generator),
            ids.isEmpty || chance(50)
          {
            ids.append(new)
          }
          ids.shuffle(using: &generator)
          var parts = ids.prefix(chance(40) ? Int.random(in: 1...ids.count, using: &generator) : 1)
            .map { [$0] }
          for id in ids.dropFirst(parts.count) {
            parts[Int.random(in: 0..<parts.count, using: &generator)].append(id)
          }
          groups[earthquake] = parts
        }
        for group in groups[earthquake] where !chance(vanishing) {
          // Sometimes an id is left out, or the id of another event is claimed.
          var told = group.prefix(1) + group.dropFirst().filter { _ in !chance(15) }
          if chance(10), let other = ids.randomElement(using: &generator), !told.contains(other) {
            told.append(other)
          }
          features.append(
            Feature(
              code: "\(group[0])\(earthquake)", ids: told.map { "\($0)\(earthquake)" },
              magnitude: Double(Int.random(in: 1...3, using: &generator))))
        }
      }
      return features
    }
  }

  private struct Row {
    var magnitude: Double
    var absences = 0
    var withdrawnAt: Int?
  }

  private var rows: [String: Row] = [:]
  /// The event that each id belongs to, by the newest snapshot that mentions it.
  private var owners: [String: String] = [:]

  /// Applies the next snapshot, number `number`.
  mutating func apply(_ features: [Feature], _ number: Int) {
    let own = Set(features.map(\.code))
    var claimed: [String: String] = [:]
    for feature in features {
      for id in feature.ids where !own.contains(id) {
        claimed[id] = min(claimed[id] ?? feature.code, feature.code)
      }
      rows[feature.code] = Row(magnitude: feature.magnitude)
    }
    for code in own { owners[code] = code }
    owners.merge(claimed) { $1 }
    for code in rows.keys where present(code) == code && !own.contains(code) {
      rows[code]?.absences += 1
      if rows[code]?.absences == 3 { rows[code]?.withdrawnAt = number }
    }
  }

  /// The preferred event of an id's earthquake.
  private func present(_ id: String) -> String {
    var id = id
    while let owner = owners[id], owner != id { id = owner }
    return id
  }

  /// The rows, as code|magnitude|superseded_by|number of the snapshot that withdrew it, the last for preferred
  /// rows only.
  func state(withdrawals: Bool) -> [String] {
    rows.map { code, row in
      let successor = present(code)
      let withdrawn = successor == code && withdrawals ? row.withdrawnAt.map { "\($0)" } : nil
      return
        "\(code)|\(Int(row.magnitude))|\(successor == code ? "-" : successor)|\(withdrawn ?? "-")"
    }.sorted()
  }

  /// The event that each alias leads to.
  func aliases() -> [String] {
    owners.keys.filter { present($0) != $0 }.map { "\($0)|\(present($0))" }.sorted()
  }
}
