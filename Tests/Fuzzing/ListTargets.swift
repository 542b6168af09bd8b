import QuakeFeed
import QuakeHistory

@testable import CommandLine
@testable import QuakeModel
@testable import QuakeQuery
@testable import QuakeServer
@testable import QuakeTool

/// The parameters of lists, of the history and of statistics, and the regions of backfills.
enum ListTargets {
  static let all = [
    FuzzTarget(
      text: "lists", longest: 1024,
      words: (lists + history + statistics).map { "&\($0.name)=" } + [
        "magnitude:desc", "-time", "b-stability", "oldest", "1042.9f3ac2d1", "inf", "1e308", "-0",
      ],
      seeds: [
        "as-of=1042.9f3ac2d1&sort=-magnitude,place:asc&columns=code,time&all&min-magnitude=5",
        "as-of-feed=2024-01-31&superseded&withdrawn=0&bbox=170,-50,-170,50&within=100:35.7,-117.5",
        "after=oldest&up-to=2024-02-01&descending&op=update&changed=place",
        "transaction=7.00000007",
        "by=magnitude&bin=0.5&limit=10", "of=depth&completeness=2.5", "completeness=b-stability",
      ], check: check)
  ]

  private static let lists =
    FilterOptions.events + EventQueryOptions.points + EventQueryOptions.past
    + [EventQueryOptions.sort, EventQueryOptions.columns]
  private static let history = HistoryQueryOptions.selection
  private static let statistics =
    FilterOptions.events + [StatisticsOptions.by, StatisticsOptions.of, StatisticsOptions.limit]
    + StatisticsOptions.classes

  private static func arguments(_ query: [QueryItem], _ options: [Option]) -> ParsedArguments? {
    try? ParsedArguments(
      url: "/x", options: options, parameters: query.map { (name: $0.name, value: $0.value) })
  }

  @Sendable private static func check(_ text: String) {
    guard let target = try? RequestTarget("/x?" + text) else { return }
    if let arguments = arguments(target.query, lists) { checkList(arguments) }
    if let arguments = arguments(target.query, history) {
      _ = try? HistoryQueryOptions.query(arguments)
    }
    if let arguments = arguments(target.query, statistics),
      let options = try? StatisticsOptions(arguments, groupOptions: ["bin"])
    {
      require(options.limit ?? 1 >= 1, "a list has at least one group")
    }
  }

  private static func checkList(_ arguments: ParsedArguments) {
    if let region = try? FilterOptions.region(arguments) {
      checkRegion(EventService.Region(box: region.boundingBox, circle: region.circle))
    }
    if let columns = try? EventQueryOptions.columns(arguments) {
      require(Set(columns).count == columns.count, "each column is there once")
    }
    guard var query = try? EventQueryOptions.query(arguments),
      (try? EventQueryOptions.setOrder(of: &query, arguments, page: nil)) != nil
    else { return }
    let order = EventOrder.total(query.order)
    require(order.last?.column == .code, "an order is total")
    // Every event of a store has a time.
    for event in FeedSamples.events where event.has(.time) {
      let cursor = EventCursor(of: event, in: query.order)
      require(cursor.order == order, "a cursor has the order of its list")
      require(EventCursor(cursor.description) == cursor, "the cursor of a page comes back")
    }
  }

  /// A region written as options is read as the same region.
  private static func checkRegion(_ region: EventService.Region) {
    guard let text = region.options else { return }
    let words = text.split(separator: " ").map(String.init)
    let items = stride(from: 0, to: words.count - 1, by: 2).map {
      QueryItem(name: String(words[$0].dropFirst(2)), value: words[$0 + 1])
    }
    let read = arguments(items, lists).flatMap { try? FilterOptions.region($0) }
    require(
      read?.boundingBox == region.box && read?.circle == region.circle,
      "the region \(text) comes back")
  }
}
