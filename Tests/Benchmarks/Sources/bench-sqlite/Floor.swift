import Workload

/// The workloads, in an order in which each finds the data that it needs.
struct Floor {
  let settings: Settings
  let report: Report
  let path: String
  let isBare: Bool

  init(_ settings: Settings) {
    self.settings = settings
    isBare = settings.isOn("BENCH_BARE")
    let name = isBare ? "sqlite-bare" : "sqlite"
    report = Report(name, settings)
    path = settings.databasePath("\(name).db")
  }

  var count: Int { settings.count }

  func run() {
    settings.isReopening ? runReopened() : runFresh()
  }

  /// Opens the file with the settings that Trellis has, too.
  func open() -> Connection {
    let connection = Connection(path)
    connection.execute(
      """
      PRAGMA journal_mode=WAL; PRAGMA synchronous=\(settings.synchronous); PRAGMA foreign_keys=\(isBare ? "OFF" : "ON");
      PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=\(isBare ? "OFF" : "ON")
      """)
    return connection
  }

  private func runFresh() {
    let connection = open()
    Schema.create(in: connection, isBare: isBare)
    insert(connection)
    fetch(connection)
    traverse(connection)
    toMany("toMany", connection)
    toMany("toManyPrefetch", connection)
    tagAll(connection)
    manyToMany(connection)
    update(connection)
    smallSaves("smallSaves", connection)
    saveOneDirty(connection)
    rollback(connection)
    upsert(connection)
    deleteCascade(connection)
    report.peak("peakMegabytes")
    connection.close()
  }
}
