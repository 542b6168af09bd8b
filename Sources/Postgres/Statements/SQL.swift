/// A statement with its values. Interpolation binds: `"select … where code = \(code)"` has the text `$1` in the
/// place of the value, which is sent beside the text and never becomes a part of it.
///
/// PostgreSQL infers the type of a parameter from its place. Where it cannot, the statement says it:
/// `\(time)::timestamptz`.
///
/// Text comes only from literals, and from what the interpolation names: `\(sql: condition)` splices another
/// statement with its values, `\(identifier: name)` a quoted name. `init(trusted:)` makes SQL of a `String`,
/// and its caller vouches for the text.
public struct SQL: ExpressibleByStringInterpolation, Sendable {
  /// The text before, between and after the parameters: one piece more than there are parameters.
  private var pieces: [String]
  /// The values of `$1`, `$2`, ...
  public private(set) var parameters: [Parameter] = []

  /// The literal's text.
  public init(stringLiteral value: StaticString) {
    pieces = ["\(value)"]
  }

  /// Text that is part of the program: a migration, or names from a list in the source.
  public init(trusted text: String) {
    pieces = [text]
  }

  /// A literal with values, statements and names in it.
  public init(stringInterpolation: StringInterpolation) {
    self = stringInterpolation.sql
  }

  /// The statement as it is sent, with `$1`, `$2`, ... for the parameters.
  public var text: String {
    var text = pieces[0]
    for (index, piece) in pieces.dropFirst().enumerated() {
      text += "$\(index + 1)"
      text += piece
    }
    return text
  }

  /// Whether it has no text.
  public var isEmpty: Bool { pieces.allSatisfy(\.isEmpty) && parameters.isEmpty }

  /// Appends text.
  fileprivate mutating func append(_ text: String) {
    pieces[pieces.count - 1] += text
  }

  fileprivate mutating func append(_ parameter: Parameter) {
    parameters.append(parameter)
    pieces.append("")
  }

  /// Appends another statement, whose parameters follow those of this one.
  public static func += (left: inout SQL, right: SQL) {
    left.append(right.pieces[0])
    left.pieces += right.pieces.dropFirst()
    left.parameters += right.parameters
  }

  /// The concatenation of two texts with their parameters.
  public static func + (left: SQL, right: SQL) -> SQL {
    var sum = left
    sum += right
    return sum
  }

  /// The statement with a literal in the place of each parameter.
  func filled(
    _ literal: (Parameter) throws(PostgresError) -> SQLLiteral
  ) throws(PostgresError) -> SQL {
    var filled = SQL(trusted: pieces[0])
    for (parameter, piece) in zip(parameters, pieces.dropFirst()) {
      // The literal is a token of its own, whatever stands before it.
      filled.append(" " + (try literal(parameter)).text)
      filled.append(piece)
    }
    return filled
  }

  /// The parts of a literal with interpolations.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var sql: SQL = ""

    /// An empty statement.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Text of the literal.
    public mutating func appendLiteral(_ literal: StaticString) {
      sql.append("\(literal)")
    }

    /// A value, which becomes a parameter.
    public mutating func appendInterpolation(_ value: some SQLEncodable) {
      sql.append(value.sqlParameter)
    }

    /// A value that may be null.
    public mutating func appendInterpolation<Value: SQLEncodable>(_ value: Value?) {
      sql.append(value.sqlParameter)
    }

    /// Another statement, or a part of one, with its parameters.
    public mutating func appendInterpolation(sql other: SQL) {
      sql += other
    }

    /// A name of a table, a role, ..., quoted.
    public mutating func appendInterpolation(identifier name: String) {
      sql += SQL(identifier: name)
    }
  }

  /// A name, quoted. No name in PostgreSQL contains NUL; it is left out, because it would end the text.
  public init(identifier name: String) {
    let quoted = name.replacing("\"", with: "\"\"").replacing("\0", with: "")
    self.init(trusted: "\"\(quoted)\"")
  }
}

extension Sequence<SQL> {
  /// All of them with `separator` between them.
  public func joined(separator: SQL) -> SQL {
    var joined: SQL = ""
    for (index, sql) in enumerated() {
      if index > 0 { joined += separator }
      joined += sql
    }
    return joined
  }
}
