import Basics
import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-admin consumers`: what consumers owe, and what an operator does with them.
enum ConsumersCommand {
  static let table = Command(
    "consumers", purpose: "list, pause, rewind or remove consumers, and what they owe",
    discussion: """
      A consumer is a named watcher that owes each message until its receiver has taken it. The process that runs \
      it obeys these commands within seconds. They are for the owner of the database and for the consumer's own \
      role; everybody who may read the tables may list.
      """,
    subcommands: [
      Command(
        "list", purpose: "list the consumers, their lag and what they owe; the default",
        options: [json]),
      Command(
        "show", purpose: "print all about consumers, with the messages that they owe",
        options: [
          json,
          .value(
            "limit", "N", default: "20",
            help: "the most messages to print of each; those that are parked come first"),
        ], positionals: [names]),
      Command(
        "pause", purpose: "deliver nothing until consumers are resumed",
        discussion: """
          What a paused consumer owes goes on to be recorded, up to its limit (backlog). It then reads no \
          further, and holds purges back.
          """, positionals: [names]),
      Command("resume", purpose: "go on with paused consumers", positionals: [names]),
      Command(
        "rewind", purpose: "move a consumer to a place of the history",
        discussion: """
          The consumer goes on after that place. It forgets the conversations that began later, and the \
          messages about later changes that it owes: both are made again with the same ids. Conversations \
          that had begun become what they were at that place. A place ahead of the consumer leaves out what \
          is between. On a terminal the command asks first; elsewhere it needs --yes.
          """,
        options: [
          .value(
            "to", "TOKEN|NUMBER|TIME",
            help:
              "after this transaction, or the last one by that time; \"oldest\": all that is held"
          ),
          Consent.option,
        ], positionals: [name]),
      Command(
        "retry", purpose: "deliver parked messages, and those that wait for their next attempt",
        discussion: """
          The next attempt is made at once, and the time until messages are parked (give-up) begins again.
          """,
        positionals: [name, ids("by default all that are parked or wait")]),
      Command(
        "discard", purpose: "delete messages, so that they are never delivered",
        discussion: "On a terminal the command asks first; elsewhere it needs --yes.",
        options: [
          .flag("all", help: "all that the consumer owes").onCommandLineOnly(), Consent.option,
        ], positionals: [name, ids("by default those that are parked")]),
      Command(
        "remove", purpose: "remove consumers, with their cursors, conversations and all they owe",
        discussion: """
          A consumer of that name begins anew at its next start. The role purger may do this as well. On a \
          terminal the command asks first; elsewhere it needs --yes.
          """,
        options: [Consent.option], positionals: [names]),
    ],
    standard: "list",
    examples: [
      .init("quake-admin consumers", "the lag of each consumer, and what it owes"),
      .init("quake-admin consumers show pager", "which messages are parked, and why"),
      .init("quake-admin consumers rewind pager --to '2 h ago' --yes", "deliver two hours again"),
    ])

  private static let json = Option.flag("json", help: "one JSON object a line")
  private static let found = ValueCompletion.found(stored: "consumers")
  private static let names = Positional(
    "NAME", .oneOrMore, completion: found, help: "name of a consumer")
  private static let name = Positional("NAME", completion: found, help: "name of a consumer")

  private static func ids(_ otherwise: String) -> Positional {
    Positional("ID", .any, help: "id of a message; \(otherwise)")
  }

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let action = arguments.subcommand.last
    let consent =
      ["rewind", "discard", "remove"].contains(action) ? try Consent(arguments, diagnostics) : nil
    let limit = action == "show" ? try arguments.integer("limit", in: 0...100_000) ?? 20 : 0
    let place = action == "rewind" ? try place(arguments) : nil
    let connection = try DatabaseAccess(arguments, diagnostics)
      .connectToStore(answerTimeout: .seconds(60))
    let consumers = try ConsumerStatus.list(over: connection)
    if action == nil || action == "list" || action == "consumers" {
      try ConsumersOutput.write(consumers, isJSON: arguments.flag("json"))
      if consumers.isEmpty {
        EmptyResult.announce(
          "there is no consumer; \"quake-watch run\" makes those of its configuration", diagnostics)
      }
      return .ok
    }
    let actions = ConsumerActions(
      connection: connection, diagnostics: diagnostics, consent: consent)
    let all = arguments.positionals
    let takesIDs = action == "retry" || action == "discard"
    let chosen = try actions.choose(takesIDs ? Array(all.prefix(1)) : all, among: consumers)
    let ids = takesIDs ? Array(all.dropFirst()) : []
    switch action {
    case "show":
      try ConsumersOutput.writeDetails(
        chosen, atMost: limit, over: connection, isJSON: arguments.flag("json"))
    case "pause": try actions.pause(chosen)
    case "resume": try actions.resume(chosen)
    case "rewind":
      guard let place, let consumer = chosen.first else { return .usage }
      return try actions.rewind(consumer, to: place)
    case "retry": for consumer in chosen { try actions.retry(ids, of: consumer) }
    case "discard":
      guard let consumer = chosen.first else { return .usage }
      if arguments.flag("all"), !ids.isEmpty {
        throw arguments.usageError("--all and ids cannot be used together")
      }
      return try actions.discard(
        arguments.flag("all") ? .all : ids.isEmpty ? .parked : .ids(ids), of: consumer)
    default: return try actions.remove(chosen)
    }
    return .ok
  }

  private static func place(_ arguments: ParsedArguments) throws -> HistoryBound {
    guard let text = arguments.string("to") else {
      throw arguments.usageError("--to is needed: a token, a time, or \"oldest\"")
    }
    return try arguments.place(text, for: "to")
  }
}
