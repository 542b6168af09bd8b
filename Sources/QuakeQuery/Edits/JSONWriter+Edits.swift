package import QuakeModel

extension JSONWriter {
  /// Writes what a batch edit would do.
  package mutating func plan(_ plan: EditPlan, of action: EditAction) {
    object { json in
      json.member("action", action.name)
      json.member("dry_run", true)
      json.member("count", plan.count)
      json.array("sample") { json in
        for event in plan.sample { json.quake(event) }
      }
    }
  }

  /// Writes what a restore would do.
  package mutating func plan(_ plan: RestorePlan) {
    object { json in
      json.member("action", "restore")
      json.member("dry_run", true)
      json.member("count", plan.count)
      json.member("inserted", plan.inserted)
      json.member("updated", plan.updated)
      json.member("deleted", plan.deleted)
      json.member("unchanged", plan.unchanged)
      json.member("lost", plan.lost)
      json.conflicts(plan.conflicts, plan.conflictCount)
      json.member("sample", plan.sample)
    }
  }

  /// Writes what a batch edit or a restore has done.
  ///
  /// - Parameter action: The name of the action.
  package mutating func outcome(_ outcome: EditOutcome, of action: String) {
    object { json in
      json.member("action", action)
      json.member("dry_run", false)
      json.member("edit", outcome.edit)
      json.member("selected", outcome.selected)
      json.member("changed", outcome.changed)
      json.member("changed_before", outcome.changedBefore)
      json.member("finished", outcome.isFinished)
      json.member("lost", outcome.lost)
      json.member("tombstones_removed", outcome.tombstonesRemoved)
      json.member("transactions", outcome.transactions)
      json.member("first_transaction", outcome.first.map { "\($0)" })
      json.member("last_transaction", outcome.last.map { "\($0)" })
      json.conflicts(outcome.conflicts, outcome.conflictCount)
    }
  }

  private mutating func conflicts(_ conflicts: [RestoreConflict], _ count: Int64) {
    member("conflict_count", count)
    array("conflicts") { json in
      for conflict in conflicts {
        json.object { json in
          json.member("code", conflict.code)
          json.member("op", conflict.operation?.rawValue)
          json.member("transaction", conflict.transaction.map { "\($0)" })
          json.member("author", conflict.author)
        }
      }
    }
  }
}
