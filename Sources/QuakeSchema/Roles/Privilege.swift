/// A privilege as PostgreSQL names it.
public enum Privilege: String, CaseIterable, Sendable {
  case select = "SELECT"
  case insert = "INSERT"
  case update = "UPDATE"
  case delete = "DELETE"
  case truncate = "TRUNCATE"
  case references = "REFERENCES"
  case trigger = "TRIGGER"
  case execute = "EXECUTE"
  case usage = "USAGE"
  case create = "CREATE"
  case connect = "CONNECT"
  case temporary = "TEMPORARY"

  /// The letter for it in psql's `\dp`.
  var letter: String {
    switch self {
    case .select: "r"
    case .insert: "a"
    case .update: "w"
    case .delete: "d"
    case .truncate: "D"
    case .references: "x"
    case .trigger: "t"
    case .execute: "X"
    case .usage: "U"
    case .create: "C"
    case .connect: "c"
    case .temporary: "T"
    }
  }
}
