// Saves to a store until somebody kills it, and says on its standard output, a line for each save that has returned, who saved
// and how often that was. What follows the kind of store and its path are the writers: each has a thread and a context.

import Foundation
import Trellis
import TrellisJSON

let words = CommandLine.arguments.dropFirst()
let url = URL(filePath: words.dropFirst().first ?? "")
let store: StoreConfiguration = words.first == "json" ? .json(at: url) : .sqlite(at: url, busyTimeout: 60)
let container = try PersistentContainer(model: .loop, store: store, log: nil)
for writer in words.dropFirst(2) {
  Thread.detachNewThread {
    let loop = SaveLoop(writer: writer, context: container.newContext())
    do {
      while true {
        do {
          FileHandle.standardOutput.write(Data("\(writer) \(try loop.save())\n".utf8))
        } catch  where error.isOfSuspension {
          loop.context.rollback()
          usleep(500)
        }
      }
    } catch {
      FileHandle.standardError.write(Data("\(writer): \(error)\n".utf8))
      exit(1)
    }
  }
}
// Each line of the standard input suspends the store, or resumes it.
while let line = readLine() {
  if line == "suspend" {
    try container.suspend(within: .seconds(30))
    FileHandle.standardOutput.write(Data("suspended\n".utf8))
  } else {
    container.resume()
  }
}
while true { sleep(1_000) }
