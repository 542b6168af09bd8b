import QuakeModel
import Testing

@testable import QuakeImport

@Suite struct ImportPlanTests {
  private static let now = "2024-01-02T00:00:00Z"
  private static let day = FeedScope(name: "all_day", source: "usgs", window: 86_400)

  /// A source that stated its age before its first record.
  private let dated = FakeSource([EventRecord("a")], generated: now)

  private func options(_ change: (inout ImportOptions) -> Void = { _ in }) -> ImportOptions {
    var options = ImportOptions(source: "-", feed: "f", program: "tests 1", author: "a")
    change(&options)
    return options
  }

  /// A source that has not stated its age.
  private func undated(mayTell: Bool) -> FakeSource {
    var source = FakeSource([EventRecord("a")])
    source.mayTellGenerated = mayTell
    return source
  }

  private func plan(
    _ source: FakeSource, isEmpty: Bool = false, _ access: ImportPlan.Access = .reopenable,
    isStoreEmpty: Bool = false, _ change: (inout ImportOptions) -> Void = { _ in }
  ) -> ImportPlan {
    ImportPlan(
      for: source, isEmpty: isEmpty, access: access, options: options(change),
      isStoreEmpty: isStoreEmpty)
  }

  /// The way of a source that need not be judged, but may have to be known whole if it is short.
  private let startsWithSnapshot = ImportPlan.Way.bulk(.afterSnapshot(records: 20_000))

  @Test func aSourceThatCanBeReopenedIsImportedInBatches() {
    #expect(plan(dated).way == .bulk(.besideStoredEvents))
    #expect(plan(dated).commits == .onceAtTheEnd)
    #expect(plan(dated, .readableOnce).way == startsWithSnapshot)
    #expect(plan(dated) { $0.scope = Self.day }.way == startsWithSnapshot)
    var selective = Self.day
    selective.isSelective = true
    #expect(plan(dated) { $0.scope = selective }.way == .bulk(.besideStoredEvents))
  }

  @Test(arguments: [
    ImportPlan.Access.reopenable, .readableOnce,
  ])
  func aSourceIsImportedInBatchesIntoAnEmptyStore(access: ImportPlan.Access) {
    #expect(plan(dated, access, isStoreEmpty: true).way == .bulk(.inEmptyStore))
    #expect(
      plan(dated, access, isStoreEmpty: true) { $0.scope = Self.day }.way == .bulk(.inEmptyStore))
  }

  @Test func aSourceThatIsJudgedOrMayStateItsAgeIsStagedWhole() {
    for isStoreEmpty in [false, true] {
      #expect(
        plan(dated, isStoreEmpty: isStoreEmpty) { $0.limits = SnapshotLimits() }.way == .snapshot)
      #expect(plan(dated, isEmpty: true, isStoreEmpty: isStoreEmpty).way == .snapshot)
      #expect(plan(undated(mayTell: true), isStoreEmpty: isStoreEmpty).way == .snapshot)
    }
  }

  @Test(arguments: [
    false, true,
  ])
  func theFirstRecordsOfASourceOfUnknownAgeAreCompared(isStoreEmpty: Bool) {
    #expect(
      plan(undated(mayTell: false), isStoreEmpty: isStoreEmpty).way == startsWithSnapshot)
    // The age in the options counts, unless the source may yet state another one.
    let generated = Timestamp(iso8601: Self.now)
    #expect(
      plan(undated(mayTell: false), isStoreEmpty: isStoreEmpty) { $0.generated = generated }.way
        == .bulk(isStoreEmpty ? .inEmptyStore : .besideStoredEvents))
    #expect(
      plan(undated(mayTell: true), isStoreEmpty: isStoreEmpty) { $0.generated = generated }.way
        == startsWithSnapshot)
  }

  @Test(
    arguments:
      MergePolicy.allCases)
  func theFirstRecordsAreStagedIfStoredEventsMustNotBeOverwritten(policy: MergePolicy) {
    let overwrites = policy == .incoming || policy == .always
    #expect(
      plan(dated) { $0.policy = policy }.way
        == (overwrites ? .bulk(.besideStoredEvents) : startsWithSnapshot))
    #expect(
      plan(dated, isStoreEmpty: true) { $0.policy = policy }.way
        == (overwrites ? .bulk(.inEmptyStore) : startsWithSnapshot))
  }

  @Test func anImportCommitsSeveralTimesIfItsOptionsSaySo() {
    let small = plan(dated) { $0.commitEvery = 10 }
    #expect(small.way == .bulk(.afterSnapshot(records: 10)))
    #expect(small.commits == .afterEach(records: 10))
    let large = plan(dated, isStoreEmpty: true) {
      $0.commitEvery = 100_000
      $0.limits = SnapshotLimits()
    }
    #expect(large.way == startsWithSnapshot)
    #expect(large.commits == .afterEach(records: 100_000))
    let dryRun = plan(dated) {
      $0.commitEvery = 10
      $0.dryRun = true
    }
    #expect(dryRun == plan(dated))
  }

  @Test func theTransactionsOfSeveralConnectionsAreLimited() {
    for (every, records) in [(1_000, 1_000), (1_000_000, 65_536)] as [(Int, Int64)] {
      let plan = ImportPlan(
        for: dated, isEmpty: false, access: .reopenable,
        options: options { $0.commitEvery = every },
        connections: 2, isStoreEmpty: true)
      #expect(plan.commits == .afterEach(records: records))
    }
  }

  @Test func theStoreIsAskedWhetherItIsEmptyOnlyIfThatMatters() {
    func isAsked(_ change: (inout ImportOptions) -> Void) -> Bool {
      var wasAsked = false
      func isStoreEmpty() -> Bool {
        wasAsked = true
        return false
      }
      _ = ImportPlan(
        for: dated, isEmpty: false, access: .reopenable, options: options(change),
        isStoreEmpty: isStoreEmpty())
      return wasAsked
    }
    #expect(isAsked { _ in })
    #expect(!isAsked { $0.limits = SnapshotLimits() })
    #expect(!isAsked { $0.commitEvery = 10 })
    #expect(!isAsked { $0.policy = .store })
  }

  @Test func newEventsAreCopiedAtOnceAfterALookupOrNever() {
    typealias Copying = BulkWriter.Copying
    var news = ImportReport()
    news.seen = 10
    news.rejected = 1
    news.duplicate = 1
    news.inserted = 8
    var known = news
    known.inserted = 7
    let nothing = ImportReport()
    #expect(Copying(start: .inEmptyStore, first: nothing, isLate: false) == .withoutLookup)
    #expect(Copying(start: .besideStoredEvents, first: nothing, isLate: false) == .afterLookup)
    let start = BulkStart.afterSnapshot(records: 10)
    #expect(Copying(start: start, first: news, isLate: false) == .withoutLookup)
    #expect(Copying(start: start, first: known, isLate: false) == .afterLookup)
    #expect(Copying(start: start, first: news, isLate: true) == .never)
    #expect(Copying.never.after(newEvents: true) == .never)
    #expect(Copying.withoutLookup.after(newEvents: false) == .afterLookup)
    #expect(Copying.afterLookup.after(newEvents: true) == .withoutLookup)
  }
}
