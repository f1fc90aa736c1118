import Foundation
import TrellisFile
import TrellisSchema
import TrellisStorage

/// The model of the loop, also for the test that checks what is left.
enum LoopModel {
  static func make() throws -> Model {
    try Model(
      ModelDescription(
        name: "Loop",
        entities: [
          EntityDescription("Counter", attributes: [AttributeDescription("value", .int64)]),
          EntityDescription(
            "Parent", attributes: [AttributeDescription("number", .int64)],
            relationships: [
              RelationshipDescription("children", to: "Child", inverse: "parent", deleteRule: .cascade, toMany: true)
            ], uniqueKeys: [["number"]]),
          EntityDescription(
            "Child", attributes: [AttributeDescription("filler", .string)],
            relationships: [RelationshipDescription("parent", to: "Parent", inverse: "children")]),
        ]))
  }
}

struct SaveLoop {
  let path: String

  final class Row: StoredRecord {
    let storedKey: Int64
    let storedVersion: Int64
    let values: [StoredValue]

    init(_ key: Int64, _ values: [StoredValue], version: Int64 = 0) {
      (storedKey, storedVersion, self.values) = (key, version, values)
    }

    func writeRow(to row: RowWriter) {
      for value in values {
        switch value {
        case .integer(let number): row.integer(number)
        case .text(let text): row.text(text)
        default: row.null()
        }
      }
    }

    func writeColumns(of properties: ColumnMask, to row: RowWriter) { writeRow(to: row) }
  }

  func run() throws {
    let store = try JSONStore(path: path, model: LoopModel.make())
    let connection = try store.connect()
    var counter: (key: Int64, version: Int64, value: Int64)?
    try connection.fetch(StoreRequest(entity: 0)) { counter = ($0.key, $0.version, $0.integer(0)) }
    var parents: [(key: Int64, version: Int64)] = []
    try connection.fetch(StoreRequest(entity: 1)) { parents.append(($0.key, $0.version)) }
    while true {
      let value = (counter?.value ?? 0) + 1
      let keys = try store.reserveKeys(4).lowerBound
      var request = SaveRequest()
      let filler = StoredValue.text(String(repeating: "x", count: Int(value % 97)))
      request.inserts = [
        SaveRequest.Inserts(entity: 1, records: [Row(keys, [.integer(value)])]),
        SaveRequest.Inserts(
          entity: 2,
          records: [Row(keys + 1, [filler, .integer(keys)]), Row(keys + 2, [filler, .integer(keys)])]),
      ]
      if let counter {
        let row = Row(counter.key, [.integer(value)], version: counter.version)
        request.updates = [SaveRequest.Updates(entity: 0, records: [row], masks: [.all])]
      } else {
        request.inserts.append(SaveRequest.Inserts(entity: 0, records: [Row(keys + 3, [.integer(value)])]))
      }
      if parents.count >= 50 {
        let oldest = parents.removeFirst()
        request.deletes = [SaveRequest.Deletes(entity: 1, keys: [oldest.key], versions: [oldest.version])]
        request.cascades = [
          SaveRequest.Cascades(relationship: RelationshipNumber(entity: 1, property: 1), owners: [oldest.key])
        ]
      }
      try connection.save(request)
      counter = counter.map { ($0.key, $0.version + 1, value) } ?? (keys + 3, 1, value)
      parents.append((keys, 1))
      FileHandle.standardOutput.write(Data("\(value)\n".utf8))
    }
  }
}
