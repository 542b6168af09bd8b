import CIdleMemory
import Postgres
import QuakeModel
import QuakeStore
let c = try Connection(ConnectionSettings("host=/tmp/pg port=5499 user=postgres dbname=dev", applicationName: "quake-watch"))
let l = try ChangeListener(connection: c)
var r = try HistoryReader(connection: c, after: .beginning)
var n = 0
while try !r.readPage({ _ in n += 1 }) {}
print(n)
quake_give_back_idle_memory()
while true { _ = try l.wait(for: .seconds(5), wake: 0) }
