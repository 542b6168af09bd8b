internal import Basics
internal import Postgres
public import QuakeConsumers
internal import QuakeHistory
internal import QuakeModel

/// Alerts about earthquakes.
extension QuakeDatabase {
  /// What a rule tells of earthquakes, as it is committed, without an end: one conversation for each earthquake,
  /// which is opened, updated, retracted and closed.
  ///
  /// - Parameters:
  ///   - rule: Which earthquakes are told, and which of their changes.
  ///   - name: The name of the consumer, 1 to 200 characters. The database keeps under it how far the program has come
  ///     and what it has told. A new name begins with what is committed from then on.
  public func alerts(_ rule: AlertRule, named name: String) -> EarthquakeAlerts {
    EarthquakeAlerts { [settings, log] wake in
      AlertSource(rule, named: name, settings, wake: wake, log: log)
    }
  }
}

/// What a rule tells of earthquakes, without an end: after the last alert the sequence waits for the next.
///
/// ```swift
/// var rule = AlertRule()
/// rule.filter.minimumMagnitude = 4.5
/// for try await alert in database.alerts(rule, named: "duty") {
///   try await send(alert.text, id: alert.id)
/// }
/// ```
///
/// It is what a consumer of `quake-watch run` with `alert = true` tells: changes of the preferred id, several agencies
/// and revisions around the threshold are one conversation.
///
/// - **Nothing is lost.** An alert counts as delivered when the next one is asked for. A program that ends, is killed or
///   leaves the loop before that gets it again, with the same `Alert.id`, when it begins again under the same name.
/// - **One program at a time** has a name: the last that began. The sequence of the other one ends with a `StoreError`
///   of kind `replaced`. So does one whose consumer was removed or rewound.
/// - **Lost connections** are made again. Alerts that were not yet recorded as delivered do not come again meanwhile.
/// - The rest is as documented for `EventChanges`: back-pressure, cancelling, and errors.
///
/// It needs the privileges of the role `quake_watcher`. The consumer is in `quake-admin consumers list`, and holds purges
/// of the history back.
public struct EarthquakeAlerts: AsyncSequence, Sendable {
  /// The element of the sequence.
  public typealias Element = Alert

  let makeSource: PullThread<Alert>.MakeSource

  /// Begins where the consumer of this name has come to, with the first `next()`.
  public func makeAsyncIterator() -> PullIterator<Alert> { PullIterator(makeSource) }
}
