internal import QuakeModel

/// Which way an import takes and when it commits. It is decided once, before anything is written.
struct ImportPlan: Equatable {
  enum Way: Equatable {
    /// All records are staged, judged if the options have limits, and merged with one statement.
    case snapshot
    /// The records are imported batch by batch: new events are copied, stored ones are compared first.
    case bulk(BulkStart)
  }

  enum Commits: Equatable {
    case onceAtTheEnd
    /// The import is several transactions, each with at most this number of records.
    case afterEach(records: Int64)
  }

  /// How often the source can be read.
  enum Access {
    /// The source is a stream, or its caller cannot open it again.
    case readableOnce
    /// The source can be opened again if the import has to begin anew.
    case reopenable
  }

  /// The event services end a feed after this number of events. A longer source is a catalogue.
  static let longestFeed: Int64 = 20_000
  /// The most records of a transaction if several are open at once: the ids of each are kept in memory.
  static let mostInParallel: Int64 = 65_536

  let way: Way
  let commits: Commits

  /// - Parameters:
  ///   - source: The source; its first record has been read.
  ///   - isEmpty: Whether the source has no records.
  ///   - connections: The number of connections that the import may use at once.
  ///   - isStoreEmpty: Whether the store knows no event. Evaluated only if the plan depends on it.
  init(
    for source: some ImportSource, isEmpty: Bool, access: Access, options: ImportOptions,
    connections: Int = 1, isStoreEmpty: @autoclosure () throws -> Bool
  ) rethrows {
    if let every = options.commitEvery, !options.dryRun {
      let most = connections > 1 ? Self.mostInParallel : .max
      commits = .afterEach(records: min(Int64(every), most))
      // The first records decide whether the source can be imported at all.
      way = .bulk(.afterSnapshot(records: min(Int64(every), Self.longestFeed)))
      return
    }
    commits = .onceAtTheEnd
    let generated = SnapshotImport.age(of: source, options)
    // The judge looks at all records, and the end of a source may still state its age.
    guard !isEmpty, options.limits == nil, generated != nil || !source.mayTellGenerated else {
      way = .snapshot
      return
    }
    let startsWithSnapshot = Way.bulk(.afterSnapshot(records: Self.longestFeed))
    guard generated != nil,
      // A time that the source states later replaces the one in the options.
      source.generated != nil || !source.mayTellGenerated,
      options.policy.overwrites
    else {
      way = startsWithSnapshot
      return
    }
    if try isStoreEmpty() {
      way = .bulk(.inEmptyStore)
    } else if access == .reopenable, SnapshotScope(options.scope, generated: generated) == nil {
      way = .bulk(.besideStoredEvents)
    } else {
      // Only a source that was staged whole shows which events are missing.
      way = startsWithSnapshot
    }
  }
}

enum BulkStart: Equatable {
  /// At the first record, while the store knows no event. Ids that events claim are resolved at the end.
  case inEmptyStore
  /// At the first record, beside stored events. The import begins anew if batches turn out not to be
  /// enough: see `ImportRun`.
  case besideStoredEvents
  /// After the first records, which are staged and merged like a snapshot. A source that has no more of
  /// them is a snapshot.
  case afterSnapshot(records: Int64)
}
