import Foundation
import TrellisModel
import TrellisJSON
import TrellisStorage

/// Diaries with a text, a date, a mood, a number, a flag and a UUID, as the benchmarks have them.
struct DocumentTimes {
  let count: Int

  private static let moods = ["happy", "sad", "angry", "calm"]

  private func model() throws -> Model {
    try Model(
      ModelDescription(
        name: "Times",
        entities: [
          EntityDescription(
            "Diary",
            attributes: [
              AttributeDescription("id", .uuid), AttributeDescription("emotion", .string),
              AttributeDescription("content", .string), AttributeDescription("createdAt", .date),
              AttributeDescription("intensity", .int64), AttributeDescription("isFavorite", .bool),
            ],
            uniqueKeys: [["id"]],
            indexes: [IndexDescription([.init("emotion"), .init("createdAt")])])
        ]))
  }

  func run() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "times-\(UUID().uuidString).json").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let model = try model()
    let request = SaveRequest()
    request.inserts = [SaveRequest.Inserts(entity: 0, records: (1...max(1, count)).map { Diary(Int64($0)) })]
    let one = SaveRequest()
    one.inserts = [SaveRequest.Inserts(entity: 0, records: [Diary(Int64(count) + 1)])]
    do {
      let store = try JSONStore(path: path, model: model)
      try measure("save of all") { try store.connect().save(request) }
      try measure("save of one more") { try store.connect().save(one) }
      store.close()
    }
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    var store: JSONStore?
    try measure("load") { store = try JSONStore(path: path, model: model) }
    try measure("fetch of all") {
      var sum = 0
      try store?.connect().fetch(StoreRequest(entity: 0)) { sum &+= $0.text(2).utf8.count }
    }
    store?.close()
    print("\(count) objects, \(size / 1024) KiB, durable")
  }

  private func measure(_ what: String, _ body: () throws -> Void) throws {
    let time = try ContinuousClock().measure(body)
    print("\(what): \(time)")
  }

  private final class Diary: StoredRecord {
    let storedKey: Int64
    let storedVersion: Int64 = 0

    init(_ key: Int64) { storedKey = key }

    func writeRow(to row: RowWriter) {
      let mixed = UInt64(bitPattern: storedKey) &* 0x9E37_79B9_7F4A_7C15
      withUnsafeBytes(of: (mixed, mixed ^ 0x5555)) { row.blob($0) }
      row.text(DocumentTimes.moods[Int(mixed >> 60) % 4])
      row.text("산책하고 커피를 마셨다. Entry number \(storedKey) of a long diary.")
      row.integer(1_700_000_000_000_000 + Int64(mixed >> 20))
      row.integer(Int64(mixed % 10))
      row.integer(storedKey % 7 == 0 ? 1 : 0)
    }

    func writeColumns(of properties: ColumnMask, to row: RowWriter) { writeRow(to: row) }
  }
}
