import Workload

extension Floor {
  /// What needs a process of its own, on the file that an earlier run has left.
  func runReopened() {
    report.run("fetchAllCold", items: count) {
      let connection = open()
      defer { connection.close() }
      return readAll(connection).reduce(0) { $0 &+ $1.sum }
    }
    let connection = open()
    bytesPerObject(connection)
    smallSaves("smallSavesDurable", connection)
    connection.close()
  }

  /// The objects are held in an array and, by key, in a dictionary: an identity map.
  private func bytesPerObject(_ connection: Connection) {
    report.bytesPerObject {
      _ = readSnapshots(connection)
    } hold: { isHeld in
      let all = readAll(connection)
      let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })
      isHeld(byKey.count)
      withExtendedLifetime((all, byKey)) {}
    }
  }
}
