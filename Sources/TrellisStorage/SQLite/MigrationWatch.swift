internal import CSQLite
import TrellisModel

/// Tells an observer how far the statements of a migration are, and interrupts them when it is cancelled.
///
/// SQLite calls the handler on the connection's thread, between two steps of a statement.
final class MigrationWatch {
  /// The number of virtual machine steps between two calls.
  private static let interval: Int32 = 20_000
  /// About how many steps SQLite takes to copy a row, and each of its columns.
  private static let stepsPerRow = 20.0
  private static let stepsPerColumn = 4.0

  private let observer: MigrationObserver
  private let database: Database
  private var calls = 0.0
  private var steps = 1.0
  private var part = 0.0

  init(_ observer: MigrationObserver, _ database: Database) {
    self.observer = observer
    self.database = database
    // Sound because the watch removes the handler before it is released.
    let data = Unmanaged.passUnretained(self).toOpaque()
    trellis_sqlite3_progress_handler(
      database.handle, Self.interval,
      { data in
        guard let data else { return 0 }
        return Unmanaged<MigrationWatch>.fromOpaque(data).takeUnretainedValue().tick()
      }, data)
  }

  func end() { trellis_sqlite3_progress_handler(database.handle, 0, nil, nil) }

  /// Called before a statement.
  ///
  /// - Parameters:
  ///   - part: its part of the work.
  ///   - columns: the number of columns that it writes for each row.
  func begin(_ part: Double, columns: Int) {
    self.part = part
    calls = 0
    steps = part * (Self.stepsPerRow + Double(columns) * Self.stepsPerColumn)
  }

  private func tick() -> Int32 {
    calls += 1
    if part > 0 { observer.advance(to: part * min(0.95, calls * Double(Self.interval) / max(1, steps))) }
    return observer.isCancelled ? 1 : 0
  }
}
