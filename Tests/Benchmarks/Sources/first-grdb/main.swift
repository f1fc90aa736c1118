// Opens the file of 50 or 200 tables that Trellis has made, and fetches one record.
import GRDB
import Workload

struct Entity020: Codable, FetchableRecord, TableRecord {
  static let databaseTableName = "Entity020"
  var title: String
  var note: String?
  var amount: Int64
  var weight: Double
  var isDone: Bool
  var changedAt: Int64?
  var next: Int64?
}

let settings = Settings()
for workload in settings.firstFetches {
  let path = settings.path(workload.rawValue, isNew: false)
  try Report.run(workload, as: "grdb", settings) {
    let pool = try DatabasePool(path: path)
    guard let record = try pool.read({ try Entity020.limit(1).fetchOne($0) }) else { return 0 }
    return record.title.utf8.count + Int(record.amount) + Int(record.weight) + (record.isDone ? 1 : 0)
  }
}
