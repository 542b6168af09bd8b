package import Basics
package import Postgres
internal import QuakeModel

/// The first copy of the tables, which the workers of a subscription make.
package struct RegionCopy {
  private let region: Connection
  private let subscription: String

  package init(of region: Region, over connection: Connection) {
    self.region = connection
    subscription = region.slot
  }

  /// How many tables of how many are copied.
  package func progress() throws(PostgresError) -> (ready: Int, all: Int) {
    try region.row(
      """
      select count(*) filter (where r.srsubstate = 'r'), count(*)
        from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
       where s.subname = \(subscription)
      """, as: (Int, Int).self)
  }

  private func errors() throws(PostgresError) -> Int64 {
    try region.firstRow(
      """
      select e.apply_error_count + e.sync_error_count
        from pg_subscription s cross join pg_stat_get_subscription_stats(s.oid) e
       where s.subname = \(subscription)
         and s.subdbid = (select oid from pg_database where datname = current_database())
      """, as: Int64.self) ?? 0
  }

  /// Waits until all tables are copied.
  ///
  /// - Parameters:
  ///   - deadline: When to stop waiting; the copy goes on.
  ///   - wake: Becomes readable when the program is asked to stop.
  ///   - report: Gets the number of copied tables, and of all, whenever it has changed.
  /// - Throws: `StoreError` of kind `locked` after the deadline, `conflict` if the workers fail; `PostgresError`.
  package func wait(
    until deadline: Deadline, wake: Int32, _ report: (Int, Int) -> Void
  ) throws {
    let before = try errors()
    var shown = -1
    while true {
      let (ready, all) = try progress()
      if ready != shown { report(ready, all) }
      shown = ready
      if ready == all { return }
      guard try errors() == before else {
        throw StoreError(
          .conflict, "the workers of subscription \(subscription) cannot copy the tables",
          hint:
            "The log of the region's server has the reason. They try again; \"quake-admin region check\" tells whether they succeed."
        )
      }
      guard !deadline.hasPassed, Connection.pause(for: .milliseconds(100), wake: wake) != .woken
      else {
        let limit = try Region.transactionLimit(over: region)
        throw StoreError(
          .locked, "\(all - ready) of \(all) tables are not copied yet",
          hint: limit.map(Region.advice(onLimit:))
            ?? "The copy goes on by itself; \"quake-admin region check\" tells how far it is.")
      }
    }
  }
}
