import CommandLine
import QuakeModel
import QuakeQuery
import QuakeTool

enum EventsCommand {
  static let table = Command(
    "events", purpose: "edit events in batches: validate, set columns, delete, restore, expire",
    discussion: """
      The events are those that meet all conditions, or those that are named: as arguments, or on \
      standard input (-), one id a line. @FILE reads conditions from a file: lines of key = value, where \
      a key is the long name of an option. Superseded and withdrawn events are left out as "quake-query \
      list" leaves them out.

      An edit is many short transactions. If it is interrupted, the same command does the rest. On a \
      terminal it asks first; elsewhere it needs --yes. --dry-run shows the number of events and the \
      first of them.
      """,
    subcommands: [
      Command(
        "validate", purpose: "mark events as checked by a person",
        options: EventsSelection.options + EditOptions.options,
        positionals: [EventsSelection.positional],
        examples: [
          .init("quake-admin events validate us7000pn9s us7000pna1", "two events"),
          .init("quake-admin events validate --min-magnitude 6 --dry-run", "how many there are"),
        ]),
      Command(
        "unvalidate", purpose: "remove the mark of checked events",
        options: EventsSelection.options + EditOptions.options,
        positionals: [EventsSelection.positional],
        examples: [
          .init("quake-admin events unvalidate --every-event --yes", "remove it from all events"),
          .init(
            "quake-admin events unvalidate - < ids.txt --yes", "from the events in a file"),
        ]),
      Command(
        "set", purpose: "set columns of events",
        discussion: """
          COLUMN=VALUE sets a column; COLUMN= sets it to null. A feed overwrites the value with its next \
          snapshot that has the event, except those of validated, withdrawn_at and superseded_by, \
          which no feed overwrites.
          """,
        options: EventsSelection.options + EditOptions.options,
        positionals: [
          .init(
            "COLUMN=VALUE|ID", .oneOrMore,
            help: "a column and its value, or an id; - reads ids, @FILE reads conditions")
        ],
        examples: [
          .init(
            "quake-admin events set type='quarry blast' us7000pn9s", "correct the type of an event"),
          .init(
            "quake-admin events set alert= --type explosion --yes", "remove the alert of explosions"
          ),
        ]),
      Command(
        "delete", purpose: "delete events, so that feeds do not bring them back",
        discussion: """
          A deleted event stays deleted, even if a feed still lists it, under this id or another, until it \
          is restored. The rows that it superseded are deleted with it.
          """,
        options: EventsSelection.options + EditOptions.options,
        positionals: [EventsSelection.positional],
        examples: [
          .init("quake-admin events delete --min-magnitude 5 --yes", "without asking"),
          .init("quake-admin events delete @swarm.query --dry-run", "by conditions in a file"),
        ]),
      Command(
        "restore", purpose: "undo a transaction or an edit, or restore deleted events",
        discussion: """
          --transaction and --edit bring events back to what they were: inserted ones are deleted, \
          updated columns get their old values, deleted ones their rows, with the time when they were \
          first stored. If later transactions changed the same columns, they are listed and nothing is \
          restored; --force overwrites them. Conditions and ids select deleted events; the \
          conditions apply to the events as they were when they were deleted.
          """,
        options: [
          .value(
            "transaction", "TOKEN", repeatable: true, help: "undo the transaction of this token"),
          .value("edit", "ID", help: "undo all transactions of this edit"),
          .flag(
            "force",
            help: """
              overwrite later changes; remove the tombstones of events whose deletion was purged from \
              the history, so that a feed may bring them back
              """),
        ] + EventsSelection.options + EditOptions.options,
        positionals: [EventsSelection.positional],
        examples: [
          .init(
            "quake-admin events restore --transaction 1042.9f3ac2d1 --yes", "undo a transaction"),
          .init("quake-admin events restore us7000pn9s", "restore a deleted event"),
        ]),
      Command(
        "expire", purpose: "delete events whose origin time is older than an age",
        discussion: """
          The command deletes the oldest events first, superseded and withdrawn ones included. An expired \
          event stays deleted even if a feed still lists it. If a feed gives it a later origin time, so \
          that it is younger than the age, the feed brings it back; with --forever, only "events restore" \
          does.
          """,
        options: [
          .value("older-than", "AGE", help: "the age from which on events expire, such as 30d"),
          .flag("forever", help: "keep them deleted, whatever a feed says"),
        ] + EventsSelection.options + EditOptions.options,
        positionals: [EventsSelection.positional],
        examples: [
          .init("quake-admin events expire --older-than 30d --limit 10000 --yes", "at most 10,000"),
          .init(
            "quake-admin events expire --older-than 30d --source emsc --dry-run", "one catalogue"),
        ]),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    var arguments = arguments
    let action = arguments.subcommand.last ?? ""
    if action == "restore" {
      return try EventsRestore(&arguments, diagnostics).run()
    }
    return try EventsEdit(action, &arguments, diagnostics).run()
  }
}
