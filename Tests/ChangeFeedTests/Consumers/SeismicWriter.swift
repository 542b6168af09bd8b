import Postgres
import TestSupport

/// Writes what consumers find hard: thresholds crossed, ids that change and part again, two agencies, withdrawals,
/// deletions, many changes in one transaction.
struct SeismicWriter {
  private var random: SeededGenerator
  private var codes: [String] = []

  init(_ random: SeededGenerator) { self.random = random }

  /// Writes until so many changes were committed. A transaction that fails is lost.
  mutating func write(_ changes: Int, _ connect: () throws -> Connection) {
    var connection: Connection?
    var done = 0
    while done < changes {
      let statements = transaction()
      do {
        let used = try connection ?? connect()
        connection = used
        try used.transaction { for statement in statements { try used.run(statement) } }
        done += statements.count
      } catch {
        connection = nil
      }
    }
  }

  private mutating func transaction() -> [String] {
    let count = [1, 1, 1, 1, 2, 5, 30].randomElement(using: &random) ?? 1
    return (0..<count).map { _ in statement() }
  }

  private mutating func statement() -> String {
    let magnitude =
      ([3, 4.4, 4.7, 4.9, 5, 5.1, 5.9, 6.2] as [Double]).randomElement(using: &random) ?? 5
    let luck = Int.random(in: 0..<100, using: &random)
    guard luck >= 35, let code = codes.suffix(400).randomElement(using: &random) else {
      return insertion(magnitude)
    }
    let event = "where code = '\(code)'"
    switch luck {
    case ..<80:
      let depth = Int.random(in: 0..<600, using: &random)
      return "update quake.quake set magnitude = \(magnitude), depth = \(depth) \(event)"
    case ..<86:
      return """
        update quake.quake set withdrawn_at = case when withdrawn_at is null then now() end \(event)
        """
    case ..<93:
      let other = codes.suffix(50).randomElement(using: &random) ?? code
      return """
        update quake.quake set superseded_by = nullif('\(other)', code) \(event)
           and exists (select from quake.quake where code = '\(other)')
        """
    case ..<97: return "update quake.quake set superseded_by = null \(event)"
    default: return "delete from quake.quake \(event)"
    }
  }

  private mutating func insertion(_ magnitude: Double) -> String {
    let agency = ["usgs", "emsc"].randomElement(using: &random) ?? "usgs"
    let code = "\(agency == "usgs" ? "us" : "em")\(codes.count)"
    codes.append(code)
    let latitude = Int.random(in: -60...60, using: &random)
    let longitude = Int.random(in: -170...170, using: &random)
    let age = Int.random(in: 0..<60, using: &random)
    return """
      insert into quake.quake (code, source, time, magnitude, place, latitude, longitude, depth)
      values ('\(code)', '\(agency)', now() - interval '\(age) minutes', \(magnitude), 'place of \(code)',
              \(latitude), \(longitude), 10)
      on conflict do nothing
      """
  }
}
