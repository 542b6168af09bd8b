import Foundation
import Postgres
import TestSupport

/// A known bug, put into the functions of a scratch database.
struct SQLMutation: Sendable {
  /// One replacement in the text of a function.
  struct Edit: Sendable {
    let function: String
    let text: String
    let replacement: String
  }

  let name: String
  let edits: [Edit]

  /// Puts it in. Each text must be there exactly once: else the function has changed, and the bug
  /// would be another, or none.
  func apply(to database: TestDatabase) throws {
    let connection = try database.connect()
    for edit in edits {
      let definition =
        try connection.ask("select pg_get_functiondef('\(edit.function)'::regproc)") ?? ""
      let parts = definition.components(separatedBy: edit.text)
      guard parts.count == 2 else {
        throw ToolProcess.Failure(
          description: "\(name): \(parts.count - 1) times in \(edit.function): \(edit.text)")
      }
      try connection.execute(SQL(trusted: parts.joined(separator: edit.replacement)))
    }
  }

  private static let number = "quake.change_pending__number"
  private static let lock = "lock table quake.commit_lock in share update exclusive mode;"
  private static let notify = "then pg_notify('quake_changes', format("

  /// None: what is checked must be right then.
  static let none = SQLMutation(name: "none", edits: [])

  /// The number of a transaction is drawn at its first change.
  static let numberAtFirstChange = SQLMutation(
    name: "number at the first change",
    edits: [
      Edit(
        function: number, text: "nextval('quake.token')", replacement: "new.transaction_id")
    ]
  )

  /// Numbers are drawn at commit, but nothing keeps others from overtaking.
  static let noLock = SQLMutation(
    name: "no lock", edits: [Edit(function: number, text: lock, replacement: "")])

  /// The notification says a number that is not drawn yet.
  static let notificationBeforeNumber = SQLMutation(
    name: "notification before the number",
    edits: [
      Edit(function: number, text: notify, replacement: "then length(format("),
      Edit(
        function: number, text: lock,
        replacement: """
          perform pg_notify('quake_changes', json_build_object('token', new_token || '.00000000',
            'inserted', new.inserted, 'updated', new.updated, 'deleted', new.deleted,
            'truncated', new.truncated)::text);
          \(lock)
          """),
    ])

  /// The notification is sent over another session, and so before the change can be read.
  static func notificationBeforeCommit(_ conninfo: String) -> SQLMutation {
    SQLMutation(
      name: "notification before the commit",
      edits: [
        Edit(
          function: number, text: notify,
          replacement: """
            then public.dblink_exec('\(conninfo)', 'notify quake_changes')
              || concat(format(
            """)
      ])
  }

  /// No bug: a commit that, when everything else is done, waits for lock 43.
  static let stopBeforeCommit = SQLMutation(
    name: "stop before the commit",
    edits: [
      Edit(
        function: number, text: "return null;",
        replacement: """
          perform pg_advisory_xact_lock_shared(43);
          return null;
          """)
    ])

  /// No bug: a session called "late" waits, when it has its number, for lock 42.
  static let stopAfterNumber = SQLMutation(
    name: "stop after the number",
    edits: [
      Edit(
        function: number, text: "if own_import is not null then",
        replacement: """
          if current_setting('application_name') = 'late' then perform pg_advisory_xact_lock(42); end if;
          if own_import is not null then
          """)
    ])
}
