// Opens a SQLite file with a model, and so migrates it, and says in a file how far it is: "migrating" and "open", a line each.
// Arguments are the file, the model file, the file of what is said, and the number of milliseconds of rest after "migrating".

import Foundation
import TrellisModel
import TrellisModelFile
import TrellisStorage

let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 4, let bytes = FileManager.default.contents(atPath: words[1]),
  let description = ModelFile.parse([UInt8](bytes), path: words[1]).description
else { exit(2) }

@Sendable func say(_ word: String) {
  let output = fopen(words[2], "a")
  defer { if let output { fclose(output) } }
  if let output { fputs(word + "\n", output) }
}

let observer = MigrationObserver { fraction in
  guard fraction == 0 else { return }
  say("migrating")
  Thread.sleep(forTimeInterval: (Double(words[3]) ?? 0) / 1_000)
}
do {
  let store = try StoreConfiguration.sqlite(at: URL(filePath: words[0]), busyTimeout: 60)
    .openObserved(Model(description), observer)
  say("open")
  store.close()
} catch {
  say("failed: \(error)")
  exit(1)
}
