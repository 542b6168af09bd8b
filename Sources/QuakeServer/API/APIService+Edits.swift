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
          .problem(
            404,
            "No event has or had this id; or it was deleted before, and the members tell by whom."),
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

  private static let force = Option.flag("force", help: "overwrite later changes")

  var restoreRoute: Route {
    let options = [Self.force, Self.dryRun]
    return Route(
      method: .post, path: "/v1/quakes/{id}/restore",
      operation: Operation(
        "restoreQuake", "restore a deleted event as it was", tag: "edits",
        description: """
          The rows that were deleted together with it are restored, too. An event that is not deleted \
          stays as it is. With `force`, an event whose deletion was purged from the history is no longer \
          kept deleted, so that a feed may bring it back.
          """,
        parameters: [Self.id] + APIParameters.describe(options),
        answers: [
          Self.outcome,
          .problem(404, "No event has or had this id."),
          .problem(
            409, "The event was changed since, or its deletion was purged from the history."),
        ]),
      access: .token,
      handler: .query { request, context in
        let arguments = try APIParameters.read(request, options)
        try Self.refuseBody(request)
        let id = try Self.id(request)
        return try restore(id, request, arguments, context.connection)
      })
  }

  private static let edit = Operation.Parameter(
    "edit", .integer(from: 1, to: Int(Int32.max)),
    "the number of an edit, the member `edit` of its outcome",
    in: .path, example: "7")

  var editRestoreRoute: Route {
    let options = [Self.force, Self.dryRun]
    return Route(
      method: .post, path: "/v1/edits/{edit}/restore",
      operation: Operation(
        "restoreEdit", "restore all events of an edit as they were before it", tag: "edits",
        description: """
          Events that it deleted are stored again, and columns that it changed get their old values. If the \
          server ends meanwhile, `finished` is false, and the same request does the rest.
          """,
        parameters: [Self.edit] + APIParameters.describe(options),
        answers: [
          Self.outcome, .problem(404, "There is no such edit."),
          .problem(409, "Events were changed since, or the edit was purged from the history."),
        ]),
      access: .token,
      handler: .query { request, context in
        let arguments = try APIParameters.read(request, options)
        try Self.refuseBody(request)
        let text = request.parameters["edit"] ?? ""
        guard let id = Int32(text), id > 0, "\(id)" == text else {
          throw HTTPError(404, "There is no edit \"\(text.prefix(100))\".")
        }
        return try restore(Int64(id), request, arguments, context.connection)
      })
  }

  private func restore(
    _ edit: Int64, _ request: Request, _ arguments: ParsedArguments, _ connection: Connection
  ) throws -> Response {
    let isForced = arguments.flag("force")
    let batch = BatchRestore(
      EventRestore(
        .edit(edit), isForced: isForced, by: author(request, "POST /v1/edits/{edit}/restore")),
      over: connection)
    let plan = try batch.plan()
    if plan.conflictCount > 0, !isForced {
      let codes = plan.conflicts.prefix(5).map { "\"\($0.code)\"" }.joined(separator: ", ")
      throw HTTPError(
        409,
        """
        \(Readable.count(plan.conflictCount, "event")) of edit \(edit) \(plan.conflictCount == 1 ? "was" : "were") \
        changed since, such as \(codes). force=true overwrites that.
        """)
    }
    if plan.lost > 0, !isForced {
      throw HTTPError(
        409,
        """
        \(Readable.count(plan.lost, "event")) of edit \(edit) cannot be restored: the history was purged. \
        force=true restores the rest.
        """)
    }
    return try run(batch, plan, arguments)
  }

  private func run(
    _ batch: BatchRestore, _ plan: RestorePlan, _ arguments: ParsedArguments
  ) throws -> Response {
    if arguments.flag("dry-run") { return JSONDocument.response { $0.plan(plan) } }
    guard plan.count + plan.conflictCount + plan.lost > 0 else {
      return JSONDocument.response { $0.outcome(.nothingToDo, of: "restore") }
    }
    let outcome = try batch.run(shouldStop: isStopping)
    return JSONDocument.response { $0.outcome(outcome, of: "restore") }
  }

  private func restore(
    _ id: String, _ request: Request, _ arguments: ParsedArguments, _ connection: Connection
  ) throws -> Response {
    var selection = EventSelection()
    selection.filter.codes = [id]
    let isForced = arguments.flag("force")
    let batch = BatchRestore(
      EventRestore(
        .events(selection), isForced: isForced,
        by: author(request, "POST /v1/quakes/{id}/restore")), over: connection)
    let plan = try batch.plan()
    if plan.conflictCount > 0, !isForced {
      throw HTTPError(
        409, "The event \"\(id)\" was changed since it was deleted. force=true overwrites that.")
    }
    if plan.lost > 0, plan.count == 0 {
      guard try Tombstone.find(id, over: connection) != nil else {
        let exists = try EventHistory(connection: connection).event(id) != nil
        guard exists else { throw Self.unknown(id) }
        return JSONDocument.response { $0.outcome(.nothingToDo, of: "restore") }
      }
      guard isForced else {
        throw HTTPError(
          409,
          """
          The event "\(id)" cannot be restored: the history of its deletion was purged. With force=true it is \
          no longer kept deleted, so that the next snapshot that has it stores it anew.
          """)
      }
    }
    return try run(batch, plan, arguments)
  }
}
