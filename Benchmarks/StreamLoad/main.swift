import Glibc

// stream-load DATABASE PORT PROCESS [CLIENTS [FILTERS [COMMITS [IDLE_SECONDS]]]]
let words = CommandLine.arguments
guard words.count >= 4, let port = UInt16(words[2]), let process = Int32(words[3]) else {
  print("usage: stream-load DATABASE PORT PROCESS [CLIENTS [FILTERS [COMMITS [IDLE_SECONDS]]]]")
  exit(64)
}
var settings = StreamLoad.Settings()
settings.conninfo = words[1]
settings.port = port
settings.process = process
if words.count > 4 { settings.clients = Int(words[4]) ?? settings.clients }
if words.count > 5 { settings.filters = Int(words[5]) ?? settings.filters }
if words.count > 6 { settings.commits = Int(words[6]) ?? settings.commits }
if words.count > 7 { settings.idleSeconds = Int(words[7]) ?? settings.idleSeconds }
try StreamLoad(settings).run()
