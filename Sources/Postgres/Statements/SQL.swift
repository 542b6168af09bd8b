/// A statement with its values. Interpolation binds: `"select … where code = \(code)"` has the text `$1` in the
/// place of the value, which is sent beside the text and never becomes a part of it.
///
/// PostgreSQL infers the type of a parameter from its place. Where it cannot, the statement says it:
/// `\(time)::timestamptz`.
///
/// Text comes only from literals, and from what the interpolation names: `\(sql: condition)` splices another
/// statement with its values, `\(identifier: name)` a quoted name. `init(trusted:)` makes SQL of a `String`,
/// and its caller vouches for the text.
///
/// A part that is spliced twice has its parameters once. A value that a statement uses in several places is
/// such a part: `let since: SQL = "\(time)::timestamptz"`.
public struct SQL: ExpressibleByStringInterpolation, Sendable {
  /// A value of one interpolation. It is one parameter in all the places where its part is spliced.
  private final class Binding: Sendable {
    let parameter: Parameter

    init(_ parameter: Parameter) {
      self.parameter = parameter
    }
  }

  /// The text before, between and after the bindings: one piece more than there are bindings.
  private var pieces: [String]
  private var bindings: [Binding] = []

  /// The literal's text.
  public init(stringLiteral value: StaticString) {
    pieces = ["\(value)"]
  }

  /// Text that is part of the program: a migration, or names from a list in the source.
  package init(trusted text: String) {
    pieces = [text]
  }

  /// A literal with values, statements and names in it.
  public init(stringInterpolation: StringInterpolation) {
    self = stringInterpolation.sql
  }

  /// The statement as it is sent, with `$1`, `$2`, ... for the parameters.
  public var text: String { rendered.text }

  /// The values of `$1`, `$2`, ...
  package var parameters: [Parameter] { rendered.parameters }

  /// The statement as it is sent, and the values of its parameters.
  var rendered: (text: String, parameters: [Parameter]) {
    guard !bindings.isEmpty else { return (pieces[0], []) }
    var numbers: [ObjectIdentifier: Int] = [:]
    var parameters: [Parameter] = []
    var text = pieces[0]
    for (binding, piece) in zip(bindings, pieces.dropFirst()) {
      let id = ObjectIdentifier(binding)
      let number = numbers[id] ?? parameters.count + 1
      if number > parameters.count {
        numbers[id] = number
        parameters.append(binding.parameter)
      }
      text += "$\(number)"
      text += piece
    }
    return (text, parameters)
  }

  /// Whether it has no text.
  public var isEmpty: Bool { bindings.isEmpty && pieces[0].isEmpty }

  fileprivate mutating func append(_ text: String) {
    pieces[pieces.count - 1] += text
  }

  fileprivate mutating func append(_ parameter: Parameter) {
    bindings.append(Binding(parameter))
    pieces.append("")
  }

  /// Appends another statement, whose parameters follow those of this one.
  public static func += (left: inout SQL, right: SQL) {
    left.append(right.pieces[0])
    left.pieces += right.pieces.dropFirst()
    left.bindings += right.bindings
  }

  /// The concatenation of two texts with their parameters.
  public static func + (left: SQL, right: SQL) -> SQL {
    var sum = left
    sum += right
    return sum
  }

  /// The statement with a literal in the place of each parameter.
  func filled(
    _ literal: (Parameter) throws(PostgresError) -> String
  ) throws(PostgresError) -> SQL {
    var filled = SQL(trusted: pieces[0])
    for (binding, piece) in zip(bindings, pieces.dropFirst()) {
      // The literal is a token of its own, whatever stands before it.
      filled.append(" " + (try literal(binding.parameter)))
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
  package func joined(separator: SQL) -> SQL {
    var joined: SQL = ""
    for (index, sql) in enumerated() {
      if index > 0 { joined += separator }
      joined += sql
    }
    return joined
  }
}
