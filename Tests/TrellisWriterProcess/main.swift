// Works with a SQLite file as it is told, one command a line on its standard input, and answers each with one line. Several of
// these write one file in an order that a test decides.

import Foundation
import Trellis

let path = CommandLine.arguments.dropFirst().first ?? ""
let writer = try Writer(.sqlite(at: URL(filePath: path), durability: .relaxed))
while let line = readLine() {
  FileHandle.standardOutput.write(Data((writer.answer(line) + "\n").utf8))
}
