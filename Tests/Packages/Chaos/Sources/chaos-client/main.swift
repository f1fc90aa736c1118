import ChaosWork
import Foundation
import Trellis

/// Opens the store, again and again until it can be reached.
func open(_ settings: Settings, _ journal: Journal) async throws -> PersistentContainer {
  while true {
    let start = ContinuousClock.now
    func note(_ kind: String, _ code: String, _ message: String) {
      let milliseconds = String(format: "%.1f", (ContinuousClock.now - start) / .milliseconds(1))
      journal.note("open", settings.name, kind, code, milliseconds, message)
    }
    do {
      let container = try PersistentContainer(model: .shop, store: settings.store) { problem in
        journal.note("problem", settings.name, "\(problem)")
      }
      note("acknowledged", "", "")
      return container
    } catch let error as StoreError {
      note("refused", error.code.rawValue, "\(error)")
      guard settings.command == .load else { throw error }
      try await Task.sleep(for: .milliseconds(300))
    }
  }
}

func run() async throws {
  let settings = try Settings()
  let journal = try Journal(settings.journal)
  let container = try await open(settings, journal)
  defer { container.close() }
  switch settings.command {
  case .prepare: try Operation.prepare(container.newContext())
  case .load:
    await Load(settings, container, journal) { try Operation.perform($0, in: $1) }.run()
  case .dump: try Dump(container: container).run()
  case .open: break
  }
}

do {
  try await run()
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
