/// The b-value of the Gutenberg-Richter relation, for magnitudes in classes of 0.1, or why these events have none.
public struct BValue: Sendable, Hashable {
  /// Why there is no b-value.
  public enum Refusal: Sendable, Hashable {
    /// There are fewer than `BValue.fewestEvents`.
    case fewEvents
    /// All events are in one class.
    case oneClass
    /// There is no magnitude from which the b-value is stable.
    case noStableCutoff
    /// Another cutoff has another b-value, beyond the errors of both.
    ///
    /// - Parameters:
    ///   - b: What the b-value would be.
    ///   - from: The cutoff whose b-value differs most from it.
    ///   - other: The b-value from that cutoff on.
    ///   - steady: The least cutoff from which the b-value does not depend on the cutoff; nil: there is none.
    case dependsOnCutoff(b: Double, from: Double, other: Double, steady: Double?)
  }

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

    package init?(method name: String) {
      switch name {
      case Self.methods[0]: self = .maximumCurvature
      case Self.methods[1]: self = .bStability
      default: return nil
      }
    }
  }

  /// The magnitude of completeness, the middle of a class; nil: the method found none.
  public let completeness: Double?
  /// How it was found.
  public let method: Completeness
  /// How many events are in this class and above.
  public let events: Int64
  /// The average magnitude of these events, by their classes.
  public let mean: Double?
  /// The b-value by maximum likelihood for classes (Aki, 1965; Tinti and Mulargia, 1987); nil: `refusal` says why.
  public let b: Double?
  /// Its standard error (Shi and Bolt, 1982).
  public let standardError: Double?
  /// Why there is no b-value; nil: there is one.
  public let refusal: Refusal?

  /// No b-value is computed from fewer events.
  package static let fewestEvents = 50
}

extension BValue.Refusal {
  /// The name of the reason in JSON and in SQL.
  package var name: String {
    switch self {
    case .fewEvents: "few-events"
    case .oneClass: "one-class"
    case .noStableCutoff: "no-stable-cutoff"
    case .dependsOnCutoff: "depends-on-cutoff"
    }
  }
}
