import BenchModel
import Foundation
import Trellis
import Workload

/// The workloads, in an order in which each finds the data that it needs.
struct TrellisBench {
  let settings: Settings
  let report: Report
  let isMemory: Bool
  private let path: String

  init(_ settings: Settings) {
    self.settings = settings
    isMemory = settings.isOn("BENCH_MEMORY_STORE")
    report = Report(isMemory ? "trellis-memory" : "trellis", settings)
    path = settings.databasePath("trellis.db")
  }

  var count: Int { settings.count }

  func open() throws -> PersistentContainer {
    try PersistentContainer(
      model: .bench,
      store: isMemory
        ? .memory : .sqlite(at: URL(fileURLWithPath: path), durability: settings.isDurable ? .durable : .relaxed))
  }

  /// Lends a new context, which lives until the body ends: objects whose context is gone load nothing more.
  func withContext(_ container: PersistentContainer, _ body: (ManagedObjectContext) throws -> Int) rethrows -> Int {
    let context = container.newContext()
    defer { withExtendedLifetime(context) {} }
    return try body(context)
  }

  func run() throws {
    if settings.isReopening { try runReopened() } else { try runFresh() }
  }

  private func runFresh() throws {
    let container = try open()
    let ids = try insert(container)
    try fetch(container, ids)
    try traverse(container)
    try toMany("toMany", Diary.all, container)
    try toMany("toManyPrefetch", .withImages, container)
    try tagAll(container)
    try manyToMany(container)
    try update(container)
    try smallSaves("smallSaves", ids, container)
    try saveOneDirty(container)
    try rollback(container)
    try undo(container)
    try propertyAccess(container)
    try upsert(container)
    try deleteCascade(container)
    report.peak("peakMegabytes")
  }
}
