public import Foundation
import TrellisModel
package import TrellisRuntime
import TrellisTimeTravel

/// A replica that has got a number from a server.
public struct ServedReplica: Hashable, Sendable {
  /// The number, from 2. A store that was restored from a backup, or copied, has got another one since.
  public let number: Int64
  /// The number of saves that the replica has sent and the server has answered.
  public let saves: Int64
  /// When the server took the last of them; nil if it took none, or its history does not reach back to it.
  public let lastSave: Date?
}

extension SyncServer {
  /// The replicas that have got a number, by their numbers.
  ///
  /// - Throws: ``SyncError``; ``StoreError`` if the store fails.
  /// - Complexity: linear in the number of replicas, and in the length of the history.
  public func replicas() throws -> [ServedReplica] { try ServedReplica.all(in: container) }
}

extension ServedReplica {
  /// The replicas that a store, which may be open for reading only, has given numbers to.
  package static func all(in container: PersistentContainer) throws -> [ServedReplica] {
    let records = try (container.notes(beginningWith: ServerRecord.prefix) ?? [:]).values
      .map { bytes in try ServerRecord(bytes) }
    guard !records.isEmpty else { return [] }
    var dates: [Int64: Date] = [:]
    try container.forEachTransaction(since: nil, until: nil) { save in
      guard let number = SyncServer.replica(of: save.author) else { return }
      dates[number] = max(dates[number] ?? save.date, save.date)
    }
    return records.map { ServedReplica(number: $0.number, saves: $0.last, lastSave: dates[$0.number]) }
      .sorted { $0.number < $1.number }
  }
}
