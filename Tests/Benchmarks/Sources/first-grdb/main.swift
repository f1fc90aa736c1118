// Opens the file of 200 tables that Trellis has made, and fetches one record.
import Foundation
import GRDB
import Workload

struct Entity100: Codable, FetchableRecord, TableRecord {
  static let databaseTableName = "Entity100"
  var title: String
  var note: String?
  var amount: Int64
  var weight: Double
  var isDone: Bool
  var changedAt: Int64?
  var next: Int64?
}

let settings = Settings()
try Report("grdb", settings).run("firstFetch", items: 1) {
  let pool = try DatabasePool(path: settings.databasePath("first.db"))
  guard let record = try pool.read({ try Entity100.limit(1).fetchOne($0) }) else { return 0 }
  return record.title.utf8.count + Int(record.amount) + Int(record.weight) + (record.isDone ? 1 : 0)
}
