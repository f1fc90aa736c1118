// Starts a PostgreSQL server and says "running", then ends. Arguments are the folder for the server's folder, and how it ends:
// "return", "crash", or "wait" to be killed.

import Foundation
import TrellisTestSupport

let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 2 else { exit(2) }
let cluster = try PostgresCluster.start(in: words[0])
FileHandle.standardOutput.write(Data("running\n".utf8))
switch words[1] {
case "return": exit(0)
case "crash": abort()
default: while true { sleep(60) }
}
