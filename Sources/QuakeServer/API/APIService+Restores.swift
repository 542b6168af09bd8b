import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeQuery
import QuakeTool

extension APIService {
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
          .init(404, "No event has or had this id.", [Self.problem], schema: "Problem"),
          .init(
            409, "The event was changed since, or its deletion was purged from the history.",
            [Self.problem], schema: "Problem"),
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
    "edit", .integer(1...Int(Int32.max)), "the number of an edit, the member `edit` of its outcome",
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
          Self.outcome, .init(404, "There is no such edit.", [Self.problem], schema: "Problem"),
          .init(
            409, "Events were changed since, or the edit was purged from the history.",
            [Self.problem], schema: "Problem"),
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
