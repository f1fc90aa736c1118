import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// What needs a process of its own, on the file that an earlier run has left.
  func runReopened() throws {
    try report.run("fetchAllCold", items: count) {
      try withContext(open()) { try $0.fetch(Diary.all).reduce(0) { $0 &+ $1.sum } }
    }
    let container = try open()
    if isMemory { _ = try insert(container) }
    try bytesPerObject(container)
    if settings.wants("smallSavesDurable") {
      let ids = try container.newContext().fetch(Diary.all).map(\.objectID)
      try smallSaves("smallSavesDurable", ids, container)
    }
  }

  /// The objects are held in an array and by their context.
  private func bytesPerObject(_ container: PersistentContainer) throws {
    let context = container.newContext()
    try report.bytesPerObject {
      _ = try context.snapshots(of: Diary.all)
    } hold: { isHeld in
      let all = try context.fetch(Diary.all)
      isHeld(all.count)
      withExtendedLifetime((all, context)) {}
    }
  }
}
