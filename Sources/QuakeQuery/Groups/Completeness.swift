/// How the magnitude of completeness of events is found. A number stands for itself: `completeness: 4.5`.
public enum Completeness: Sendable, Hashable, ExpressibleByFloatLiteral,
  ExpressibleByIntegerLiteral
{
  /// The class with the most events, plus 0.2 (Wiemer and Wyss, 2000; Woessner and Wiemer, 2005).
  case maximumCurvature
  /// The least magnitude from which the b-value stays within its standard error over half a unit (Cao and Gao,
  /// 2002).
  case bStability
  /// A magnitude that is known already.
  case magnitude(Double)

  /// A magnitude that is known already.
  public init(floatLiteral value: Double) { self = .magnitude(value) }
  /// A magnitude that is known already.
  public init(integerLiteral value: Int) { self = .magnitude(Double(value)) }

  /// The names of the methods: on the command line, in URLs, in JSON and in SQL.
  package static let methods = ["maximum-curvature", "b-stability"]

  /// The name of the method; `given` if there is none.
  package var name: String {
    switch self {
    case .maximumCurvature: Self.methods[0]
    case .bStability: Self.methods[1]
    case .magnitude: "given"
    }
  }

  /// The method that has this name.
  package init?(method name: String) {
    switch name {
    case Self.methods[0]: self = .maximumCurvature
    case Self.methods[1]: self = .bStability
    default: return nil
    }
  }
}
