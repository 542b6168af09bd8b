/// The counts of an import. `seen` is the sum of `inserted`, `updated`, `unchanged`, `rejected` and
/// `duplicate`.
public struct ImportReport: Hashable, Sendable {
  /// The import's row; nil after a dry run.
  public var id: Int64?
  /// Records in the feed.
  public var seen: Int64 = 0
  /// Events that were new.
  public var inserted: Int64 = 0
  /// Events whose contents differed.
  public var updated: Int64 = 0
  /// Events left untouched.
  public var unchanged: Int64 = 0
  /// Records that were rejected.
  public var rejected: Int64 = 0
  /// The rejected records that are stored in `quake.import_reject`.
  public var rejectsKept: Int64 = 0
  package var rejectBytesKept: Int64 = 0
  /// Records whose code occurred again later in the feed.
  public var duplicate: Int64 = 0
  /// The unchanged records whose row is of a newer snapshot.
  public var stale: Int64 = 0
  /// Events that were superseded by another row of the same earthquake.
  public var superseded: Int64 = 0
  /// Events that were withdrawn because they had been missing often enough.
  public var withdrawn: Int64 = 0
  /// Events that were restored after they had been superseded or withdrawn.
  public var restored: Int64 = 0
  /// The verdict on a quarantined snapshot; nil if the snapshot was imported.
  public var quarantine: QuarantineVerdict?
  /// Bytes of the body after decompression.
  public var bytes: Int64 = 0
  /// Time spent on receiving, decoding and staging.
  public var receiveDuration: Duration = .zero
  /// Time spent on merging.
  public var mergeDuration: Duration = .zero
  /// The token of the (last) transaction in which it changed events; nil if it changed none.
  public var token: ChangeToken?
  /// When the snapshot was generated, if known.
  public var generated: Timestamp?
  /// Whether the whole feed was imported: false if the import was stopped between two batches.
  public var isComplete = false
  /// The first record that was rejected.
  public var firstReject: ImportReject?

  /// A report with all counts 0.
  public init() {}

  /// Adds the counts of another report.
  public mutating func add(_ batch: ImportReport) {
    seen += batch.seen
    inserted += batch.inserted
    updated += batch.updated
    unchanged += batch.unchanged
    rejected += batch.rejected
    rejectsKept += batch.rejectsKept
    rejectBytesKept += batch.rejectBytesKept
    duplicate += batch.duplicate
    stale += batch.stale
    superseded += batch.superseded
    withdrawn += batch.withdrawn
    restored += batch.restored
    mergeDuration += batch.mergeDuration
    receiveDuration += batch.receiveDuration
    if firstReject == nil { firstReject = batch.firstReject }
  }
}

/// A record that cannot be imported; an error, so that a `Result` can hold it.
public struct ImportReject: Error, Hashable, Sendable {
  /// Its position in the input: a line or a byte offset, in words.
  public let place: String
  /// Why it was rejected.
  public let reason: String
  /// The record as the source has it.
  public let raw: String
  /// The event's code, if it could be read. The event then does not count as missing.
  public let code: String?
  /// Whether the reason is a missing or impossible time.
  public let isOfTime: Bool

  /// A rejected record of the given parts. The texts have the symbol U+2400 in place of the character NUL, which
  /// PostgreSQL cannot store; a code with it is that of no event.
  public init(
    place: String, reason: String, raw: String, code: String? = nil, isOfTime: Bool = false
  ) {
    self.code = code.flatMap { $0.utf8.contains(0) ? nil : $0 }
    self.isOfTime = isOfTime
    self.place = Self.storable(place)
    self.reason = Self.storable(reason)
    self.raw = Self.storable(raw)
  }

  private static func storable(_ text: String) -> String {
    guard text.utf8.contains(0) else { return text }
    var scalars = String.UnicodeScalarView()
    scalars.append(contentsOf: text.unicodeScalars.map { $0 == "\0" ? "\u{2400}" : $0 })
    return String(scalars)
  }

  /// The reject without its texts, with only its code and whether it is about a time.
  package var withoutText: ImportReject {
    ImportReject(place: "", reason: "", raw: "", code: code, isOfTime: isOfTime)
  }
}

/// The reason for which a snapshot was quarantined.
public enum QuarantineReason: String, CaseIterable, Sendable {
  /// Too many of its events have an origin time, or a time of update, that is missing, before any catalogue
  /// or in the future.
  case implausibleTimes = "implausible times"
  /// Too many of the events that it should hold are missing.
  case massLoss = "mass loss"
  /// It was generated before one that was imported, or its contents are older than those of the store.
  case stale
  /// It has no events, though it should have.
  case empty
  /// Its body ends too early.
  case truncated
  /// Its body cannot be read for another reason.
  case damaged
}

/// The fault of a snapshot.
public struct QuarantineVerdict: Hashable, Sendable {
  /// The kind of fault.
  public let reason: QuarantineReason
  /// The figures that led to it, as a sentence.
  public let detail: String

  /// A verdict of the given parts.
  public init(_ reason: QuarantineReason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }
}
