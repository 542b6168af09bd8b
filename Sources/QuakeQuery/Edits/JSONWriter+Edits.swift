package import QuakeModel

extension JSONWriter {
  /// Writes what a batch edit would do.
  package mutating func plan(_ plan: EditPlan, of action: EditAction) {
    object { json in
      json.key("action")
      json.string(action.name)
      json.key("dry_run")
      json.bool(true)
      json.key("count")
      json.integer(Int(plan.count))
      json.key("sample")
      json.array { json in
        for event in plan.sample { json.quake(event) }
      }
    }
  }

  /// Writes what a restore would do.
  package mutating func plan(_ plan: RestorePlan) {
    object { json in
      json.key("action")
      json.string("restore")
      json.key("dry_run")
      json.bool(true)
      json.key("count")
      json.integer(Int(plan.count))
      for (key, count) in [
        ("inserted" as StaticString, plan.inserted), ("updated", plan.updated),
        ("deleted", plan.deleted), ("unchanged", plan.unchanged), ("lost", plan.lost),
      ] {
        json.key(key)
        json.integer(Int(count))
      }
      json.conflicts(plan.conflicts, plan.conflictCount)
      json.key("sample")
      json.array { json in
        for code in plan.sample { json.string(code) }
      }
    }
  }

  /// Writes what a batch edit or a restore has done.
  ///
  /// - Parameter action: The name of the action.
  package mutating func outcome(_ outcome: EditOutcome, of action: String) {
    object { json in
      json.key("action")
      json.string(action)
      json.key("dry_run")
      json.bool(false)
      json.key("edit")
      json.integer(outcome.edit)
      json.key("selected")
      json.integer(Int(outcome.selected))
      json.key("changed")
      json.integer(Int(outcome.changed))
      json.key("changed_before")
      json.integer(Int(outcome.changedBefore))
      json.key("finished")
      json.bool(outcome.isFinished)
      json.key("lost")
      json.integer(Int(outcome.lost))
      json.key("tombstones_removed")
      json.integer(Int(outcome.tombstonesRemoved))
      json.key("transactions")
      json.integer(Int(outcome.transactions))
      for (key, token) in [
        ("first_transaction" as StaticString, outcome.first), ("last_transaction", outcome.last),
      ] {
        json.key(key)
        json.string(token.map { "\($0)" })
      }
      json.conflicts(outcome.conflicts, outcome.conflictCount)
    }
  }

  private mutating func conflicts(_ conflicts: [RestoreConflict], _ count: Int64) {
    key("conflict_count")
    integer(Int(count))
    key("conflicts")
    array { json in
      for conflict in conflicts {
        json.object { json in
          json.key("code")
          json.string(conflict.code)
          json.key("op")
          json.string(conflict.operation?.rawValue)
          json.key("transaction")
          json.string(conflict.transaction.map { "\($0)" })
          json.key("author")
          json.string(conflict.author)
        }
      }
    }
  }
}
