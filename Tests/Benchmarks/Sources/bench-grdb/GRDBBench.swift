import GRDB
import Workload

/// The workloads, in an order in which each finds the data that it needs.
struct GRDBBench {
  let settings: Settings
  let report, fast: Report
  private let path: String

  init(_ settings: Settings) {
    self.settings = settings
    report = Report("grdb", settings)
    fast = Report("grdb-fast", settings)
    path = settings.databasePath("grdb.db")
  }

  var count: Int { settings.count }

  /// Opens the file with the settings that the other participants have, too.
  func open() throws -> DatabasePool {
    var configuration = Configuration()
    configuration.prepareDatabase {
      try $0.execute(sql: "PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON")
    }
    let pool = try DatabasePool(path: path, configuration: configuration)
    // A pool sets this by itself when it opens, so what was prepared before would be lost.
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous=\(settings.synchronous)") }
    return pool
  }

  func run() throws {
    if settings.isReopening { try runReopened() } else { try runFresh() }
  }

  private func runFresh() throws {
    let pool = try open()
    try pool.write(Schema.create)
    try insert(pool)
    try fetch(pool)
    try traverse(pool)
    try toMany("toMany", pool)
    try toMany("toManyPrefetch", pool)
    try tagAll(pool)
    try manyToMany(pool)
    try update(pool)
    try smallSaves("smallSaves", pool)
    try saveOneDirty(pool)
    try rollback(pool)
    try upsert(pool)
    try deleteCascade(pool)
    report.peak("peakMegabytes")
  }
}
