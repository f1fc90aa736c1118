// Works with a SQLite file, or a schema on a PostgreSQL server, as it is told, one command a line on its standard input, and answers each with one line. Several of
// these write one file in an order that a test decides.

import Foundation
import Trellis
import TrellisPostgres

let places = Array(CommandLine.arguments.dropFirst())
let store: StoreConfiguration =
  places.count > 1
  ? .postgres(places[0], schema: places[1], connections: 2, timeout: 60)
  : .sqlite(at: URL(filePath: places.first ?? ""), durability: .relaxed)
let writer = try Writer(store)
while let line = readLine() {
  FileHandle.standardOutput.write(Data((writer.answer(line) + "\n").utf8))
}
