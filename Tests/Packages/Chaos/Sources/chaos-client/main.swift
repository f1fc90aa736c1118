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

/// Works for all tenants at once, each on the store that has its objects.
func work(_ settings: Settings, by directory: Directory) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for shard in directory.shards {
      // A store that cannot be reached holds up its own tenants alone.
      group.addTask {
        let onShard = settings.on(shard)
        let container = try await open(onShard, Journal(onShard.journal))
        defer { container.close() }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for tenant in shard.tenants {
            let own = settings.on(shard, for: tenant)
            let load = try Load(own, container, Journal(own.journal)) { try Operation.perform($0, in: $1) }
            group.addTask { await load.run() }
          }
          try await group.waitForAll()
        }
      }
    }
    try await group.waitForAll()
  }
}

func run() async throws {
  let settings = try Settings()
  if let directory = settings.directory { return try await work(settings, by: Directory(directory)) }
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
