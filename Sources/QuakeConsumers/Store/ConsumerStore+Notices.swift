package import Postgres
package import QuakeModel

extension ConsumerStore {
  /// What has become of a consumer since its process last looked.
  package enum Notice: Hashable, Sendable {
    /// It was paused or resumed, or its deliveries were changed by hand.
    case changed
    /// It was rewound: it is to be taken anew.
    case rewound
    /// Another process has taken it.
    case replaced
    /// It was removed.
    case removed
  }

  /// Looks for what people and other processes did to consumers of this process.
  ///
  /// - Parameter known: Their names, and `State.changedAt` as it was.
  package func notices(
    _ known: [(name: String, changedAt: Timestamp)], over connection: Connection
  ) throws -> [(name: String, notice: Notice)] {
    try connection.rows(
      """
      select k.name,
             case when c.name is null then 'removed'
                  when split_part(w.holder, ':', 1) = \(holder) then 'changed'
                  when coalesce(w.holder, 'rewound') ~ '^rewound' then 'rewound' else 'replaced' end
        from unnest(\(known.map(\.name))::text[], \(known.map { "\($0.changedAt)" })::timestamptz[])
               k (name, changed_at)
        left join quake.watcher w on w.name = k.name
        left join quake.consumer c on c.name = k.name
       where split_part(w.holder, ':', 1) is distinct from \(holder) or c.changed_at is distinct from k.changed_at
       order by k.name
      """, prepared: true, as: (String, String).self
    ).map { name, notice in
      switch notice {
      case "removed": (name, .removed)
      case "changed": (name, .changed)
      case "rewound": (name, .rewound)
      default: (name, .replaced)
      }
    }
  }

  /// The states of consumers after a notice.
  package func reload(
    _ names: [String], over connection: Connection
  ) throws -> [String: State] {
    try states(of: names, over: connection)
  }
}
