import CommandLine
import QuakeFeed
import QuakeModel
import QuakeStore
import QuakeTool

/// The options that `run` and `import` have in common.
struct ImportSettings {
  let author: String
  let policy: MergePolicy
  let commitEvery: Int?
  let isStrict: Bool
  let isDryRun: Bool
  let generated: Timestamp?
  /// Nil for the feed library's own.
  let timeoutMilliseconds: Int?

  init(_ arguments: ParsedArguments) throws {
    author = arguments.string("author") ?? "quake-ingest"
    policy =
      try arguments.choice("merge", of: MergePolicy.allCases.map(\.rawValue))
      .flatMap { MergePolicy(rawValue: $0) } ?? .incoming
    commitEvery = try arguments.integer("commit-every", in: 1...)
    timeoutMilliseconds = try arguments.duration(
      "timeout", in: .milliseconds(1)...(.seconds(86_400))
    )
    .map { Int($0.pollTimeout) }
    isStrict = arguments.flag("strict")
    isDryRun = arguments.flag("dry-run")
    if arguments.subcommand.first == "import", let text = arguments.string("generated") {
      guard let time = Timestamp(iso8601: text) else {
        throw arguments.invalidValue(
          text, for: "generated", expected: "a time such as 2024-01-31T12:00:00Z")
      }
      generated = time
    } else {
      generated = nil
    }
  }

  func importOptions(for reference: FeedReference, program: String) -> ImportOptions {
    var options = ImportOptions(
      source: reference.description, feed: reference.name, program: "\(program) \(productVersion)",
      author: author)
    options.policy = policy
    options.commitEvery = commitEvery
    options.dryRun = isDryRun
    options.generated = generated
    return options
  }
}
