import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

extension APIService {
  static let dryRun = Option.flag(
    "dry-run", help: "say what would be done; change nothing")

  static let outcome = Operation.Answer(
    200, "The effects of the edit; with `dry-run`, those that it would have.", [json],
    schema: "Edit")

  /// The author of an edit, named after the access token; the context is the route.
  func author(_ request: Request, _ route: String) -> EditAuthor {
    EditAuthor(
      program: "quake-serve \(version)", author: request.author ?? "quake-serve", context: route)
  }

  var deleteRoute: Route {
    Route(
      method: .delete, path: "/v1/quakes/{id}",
      operation: Operation(
        "deleteQuake", "delete an event, so that feeds do not bring it back", tag: "edits",
        description: """
          The rows that the event superseded are deleted with it, but not the events of other sources that \
          are the same earthquake.
          """,
        parameters: [Self.id] + APIParameters.describe([Self.dryRun]),
        answers: [
          Self.outcome,
          .init(
            404,
            "No event has or had this id; or it was deleted before, and the members tell by whom.",
            [Self.problem], schema: "Problem"),
        ]),
      access: .token,
      handler: .query { request, context in
        let arguments = try APIParameters.read(request, [Self.dryRun])
        try Self.refuseBody(request)
        let id = try Self.id(request)
        let history = EventHistory(connection: context.connection)
        guard let code = try history.editedCode(of: id) else {
          return try Self.absence(of: id, request, context.connection, status: 404)
        }
        var selection = EventSelection()
        selection.filter.codes = [code]
        return try run(
          EventEdit(.delete, of: selection, by: author(request, "DELETE /v1/quakes/{id}")),
          arguments, context.connection)
      })
  }

  private static let validationOptions: [Option] =
    FilterOptions.events + EventQueryOptions.past + [
      .value("limit", "N", help: "at most N events, the oldest first"),
      .flag("every-event", help: "all events; needed if there is no condition"),
      dryRun,
    ]

  var validateRoute: Route {
    Route(
      method: .post, path: "/v1/validate",
      operation: Operation(
        "validateQuakes", "mark the events that meet all conditions as checked by a person",
        tag: "edits",
        description: """
          Many short transactions, as those of `quake-admin events validate`. If the server ends \
          meanwhile, `finished` is false, and the same request does the rest.
          """,
        parameters: APIParameters.describe(Self.validationOptions), answers: [Self.outcome]),
      access: .token,
      handler: .query { request, context in
        let arguments = try APIParameters.read(request, Self.validationOptions)
        try Self.refuseBody(request)
        let hasCondition = FilterOptions.events.contains { arguments.isGiven($0.name) }
        let isEveryEvent = arguments.flag("every-event")
        guard hasCondition != isEveryEvent else {
          throw HTTPError(
            409,
            hasCondition
              ? "The parameter every-event cannot be used with conditions."
              : "A condition is missing; every-event=true stands for all events.")
        }
        var selection = EventSelection(try FilterOptions.filter(arguments, withChanges: false))
        let past = EventQueryOptions.past(arguments)
        selection.includesSuperseded = past.contains(.superseded)
        selection.includesWithdrawn = past.contains(.withdrawn)
        selection.limit = try arguments.integer("limit", in: 1...).map { Int64($0) }
        return try run(
          EventEdit(.validate, of: selection, by: author(request, "POST /v1/validate")),
          arguments, context.connection)
      })
  }

  private func run(
    _ edit: EventEdit, _ arguments: ParsedArguments, _ connection: Connection
  ) throws -> Response {
    let batch = BatchEdit(edit, over: connection)
    if arguments.flag("dry-run") {
      let plan = try batch.plan()
      return JSONDocument.response { $0.plan(plan, of: edit.action) }
    }
    let outcome = try batch.run(shouldStop: isStopping)
    return JSONDocument.response { $0.outcome(outcome, of: edit.action.name) }
  }
}
