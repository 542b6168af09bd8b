internal import QuakeModel
internal import QuakeWorker

extension LockWait {
  /// Writes the session as a member of the status. Members that the role may not see are null.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.key("waiter")
      waiter.write(to: &json)
      json.key("seconds")
      json.double(seconds)
      json.key("object")
      json.string(object)
      json.key("type")
      json.string(type)
      json.key("mode")
      json.string(mode)
      json.key("relation")
      json.string(relation)
      json.key("holders")
      json.array { json in for holder in holders { holder.write(to: &json) } }
      json.key("holder_count")
      json.integer(holderCount)
    }
  }
}

extension LockWait.Session {
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.key("pid")
      json.integer(processID)
      json.key("role")
      json.string(role)
      json.key("application")
      json.string(application)
      json.key("client")
      json.string(client)
      json.key("state")
      json.string(state)
      json.key("state_seconds")
      json.double(stateSeconds)
      json.key("prepared_transaction")
      json.string(preparedTransaction)
    }
  }
}
