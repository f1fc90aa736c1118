import Foundation
import Testing
import TrellisCSV
import TrellisDynamic
import TrellisJSON
import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisTestSupport
import TrellisTesting

@Suite("Random tables") struct RandomTableTests {
  private static let seed = TestSettings.number("TRELLIS_IMPORT_SEED", or: UInt64(20_261_129))

  @Test("what is exported from one store is in another one after an import, and an import again changes nothing")
  func roundTrips() throws {
    let count = TestSettings.number("TRELLIS_IMPORT_TABLES", or: 30)
    var random = SeededGenerator(seed: Self.seed)
    var objects = 0
    for number in 0..<count {
      let model = RandomTableModel.text(&random)
      let note: Comment = "seed \(Self.seed), model \(number): \(model)"
      let kinds = StoreKind.allCases
      let source = try DynamicShelf(model, .store(kinds[random.below(kinds.count)]))
      let target = try DynamicShelf(model, .store(kinds[random.below(kinds.count)]))
      try source.context.seed(
        Int.random(in: 1...12, using: &random), seed: UInt64.random(in: 0 ... .max, using: &random))
      let format = RandomTableModel.format(&random)
      let entities = source.context.model.entities.filter { $0.parent == nil }
      let tables = try entities.map { (name: $0.name, text: try source.export($0.name, format)) }
      var shuffled = tables
      shuffled.shuffle(using: &random)
      let rejection: JSONRejection = Bool.random(using: &random) ? .everything : .objects
      let pieces = Bool.random(using: &random) ? 1 << 20 : Int.random(in: 1...50, using: &random)
      for target in [target, source] {
        let inputs = try shuffled.map { table in
          let entity = try #require(entities.first { $0.name == table.name })
          return JSONInput(entity: entity.index, from: Data(table.text.utf8), named: table.name).asCSV(format)
        }
        let report: JSONImportReport
        do {
          report = try target.context.importJSON(inputs, rejecting: rejection, pieces: pieces)
        } catch {
          Issue.record("\(error) \(tables) \(note)")
          return
        }
        #expect(report.rejected.isEmpty && report.unresolved.isEmpty, "\(report.rejected) \(report.unresolved) \(note)")
        let isSource = target.container === source.container
        #expect(!isSource || report.inserted.isEmpty && report.updated.isEmpty, "\(report) \(note) \(tables)")
        #expect(try target.container.check().isEmpty, note)
        if !isSource { objects += report.inserted.count }
      }
      let (wanted, found) = (try source.picture(), try target.picture())
      guard wanted == found else {
        Issue.record("\(wanted.symmetricDifference(found).sorted().joined(separator: "\n"))\n\(tables)\n\(note)")
        return
      }
    }
    print("random tables: seed \(Self.seed), \(count) models, \(objects) objects")
  }

  @Test("whatever a file is, nothing traps, nothing is half done, and each problem has a place that exists")
  func mutations() throws {
    let count = TestSettings.number("TRELLIS_TABLE_MUTATIONS", or: 400)
    var random = SeededGenerator(seed: Self.seed &+ 1)
    var refused = 0
    var shelf: DynamicShelf?
    for number in 0..<count {
      let fresh = try shelf ?? DynamicShelf(RandomTableModel.fixed)
      if shelf == nil { try fresh.table(RandomTableModel.file, "A") }
      shelf = fresh
      let before = try fresh.picture()
      let bytes = Self.mutate(Array(RandomTableModel.file.utf8), &random)
      let format = RandomTableModel.format(&random)
      let note: Comment =
        "seed \(Self.seed), file \(number): \(format) \(String(decoding: bytes, as: UTF8.self).debugDescription)"
      do {
        let input = JSONInput(entity: 0, from: Data(bytes), named: "f").asCSV(format)
        _ = try fresh.context.importJSON(
          [input], rejecting: .everything,
          pieces: Bool.random(using: &random) ? 1 << 20 : Int.random(in: 1...9, using: &random))
        shelf = nil
      } catch let error as JSONImportError {
        refused += 1
        #expect(!error.failures.isEmpty, note)
        for failure in error.failures {
          let place = try #require(failure.place, note)
          #expect((1...bytes.count + 1).contains(place.line) && place.column >= 1, "\(failure) \(note)")
        }
        #expect(try fresh.picture() == before, note)
      }
      #expect(!fresh.context.hasChanges, note)
      if number % 50 == 0 { #expect(try fresh.container.check().isEmpty, note) }
    }
    print("mutated tables: seed \(Self.seed), \(count) files, \(refused) refused")
    #expect(refused > 0)
  }

  private static let pieces = [
    ",", ";", "\t", "\"", "\"\"", "\n", "\r", "\r\n", "\\", "\\N", "NULL", "[", "]", "true", "-1", "1e400", "nan",
    "inf", "'=1",
    "99999999999999999999", "\u{FEFF}", "sep=;\n", "2026-02-30", "é", "\u{0}", "id", "name", "1", "2", "0x10", "1,5",
    "1_000",
  ]

  private static func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
      switch random.below(5) {
      case 0: if !bytes.isEmpty { bytes[place] = UInt8.random(in: 0...255, using: &random) }
      case 1:
        bytes.removeSubrange(min(place, bytes.count)..<min(bytes.count, place + Int.random(in: 1...12, using: &random)))
      case 2, 3:
        bytes.insert(contentsOf: Array((pieces.randomElement(using: &random) ?? "").utf8), at: min(place, bytes.count))
      default: if random.below(8) == 0 { bytes = Array(bytes[..<min(place, bytes.count)]) }
      }
    }
    return bytes
  }
}

extension DynamicShelf {
  /// All objects with their values and the keys of their partners, whatever their order.
  fileprivate func picture() throws -> Set<String> {
    var lines: Set<String> = []
    for entity in context.model.entities where entity.parent == nil {
      for object in try context.objects(entity.name) {
        let own = context.model.entities[type(of: object)._entity]
        let values = try own.properties.compactMap { property -> String? in
          switch property {
          case .attribute(let attribute): return "\(attribute.name)=\(object._value(attribute.index))"
          case .relationship(let relationship):
            if relationship.isToMany {
              let keys = try object.members(relationship.name).map { key($0) }
              return "\(relationship.name)=\(relationship.isOrdered ? keys : keys.sorted())"
            }
            return "\(relationship.name)=\(try object.partner(relationship.name).map { key($0) } ?? "-")"
          }
        }
        lines.insert("\(own.name) \(values.joined(separator: "; "))")
      }
    }
    return lines
  }

  private func key(_ object: ManagedObject) -> String {
    object._willRead(-1)
    let entity = context.model.entities[type(of: object)._entity]
    let numbers = entity.uniqueKeys.first?.properties.filter { entity.properties[$0].attribute != nil } ?? []
    return numbers.map { "\(object._value($0))" }.joined(separator: "/")
  }
}

/// Models whose objects are wholly in tables: each entity has a key, and what leads to partners is mapped.
private enum RandomTableModel {
  private static let types = [
    "string", "int16", "int32", "int64", "bool", "float", "double", "decimal", "date", "uuid", "url", "data", "Kind",
    "[string]",
    "[int32]", "[double]", "[date]", "[decimal]",
  ]
  private static let keyTypes = ["string", "int64", "uuid"]

  static func text(_ random: inout SeededGenerator) -> String {
    let count = Int.random(in: 1...4, using: &random)
    var relationships = Array(repeating: [String](), count: count)
    let dates = ["iso8601", "seconds", "milliseconds", "dd.MM.yyyy HH:mm:ss.SSS"]
    func attributes(_ prefix: String, _ most: Int) -> [String] {
      (0..<Int.random(in: 1...most, using: &random)).map { place in
        let type = types[random.below(types.count)]
        let isOptional = Bool.random(using: &random)
        var json = ""
        if type == "date" { json = #", "json": { "date": "\#(dates[random.below(type == "date" ? 3 : 4)])" }"# }
        if type == "string", random.below(3) == 0 { json = #", "json": "p\#(place).q[0].\"a b\"""# }
        return #""\#(prefix)\#(place)": { "type": "\#(type)\#(isOptional ? "?" : "")"\#(json) }"#
      }
    }
    for place in 0..<Int.random(in: 0...4, using: &random) {
      let (first, second) = (random.below(count), random.below(count))
      let isToMany = Bool.random(using: &random)
      let end = #""destination": "E\#(second)", "inverse": "i\#(place)", "optional": true, "json": true"#
      relationships[first].append(
        isToMany
          ? #""r\#(place)": { "destination": "E\#(second)", "inverse": "i\#(place)", "toMany": true, "ordered": \#(Bool.random(using: &random)), "json": true }"#
          : #""r\#(place)": { \#(end) }"#)
      relationships[second].append(
        #""i\#(place)": { "destination": "E\#(first)", "inverse": "r\#(place)", "toMany": true }"#)
    }
    var entities: [String] = []
    for number in 0..<count {
      let style = ["camelCase", "snake_case", "kebab-case", "PascalCase"][random.below(4)]
      let key = keyTypes[random.below(keyTypes.count)]
      // A to-many to an entity with a key of two parts has no column.
      let isDouble =
        relationships.joined().allSatisfy {
          !$0.contains(#""destination": "E\#(number)""#) || !$0.contains("toMany") || !$0.contains("json")
        }
        && Bool.random(using: &random)
      let keys = isDouble ? #"["ownId", "secondId"]"# : #"["ownId"]"#
      var own = [#""ownId": "\#(key)""#] + (isDouble ? [#""secondId": "int32""#] : []) + attributes("a", 5)
      if random.below(2) == 0 {
        own.append(#""whole": "Group\#(random.below(2))\#(Bool.random(using: &random) ? "?" : "")""#)
      }
      let isFamily = random.below(3) == 0
      entities.append(
        #""E\#(number)": { "json": { "key": \#(keys), "style": "\#(style)"\#(isFamily ? #", "entity": "kind.name""# : "") },"#
          + #""attributes": { \#(own.joined(separator: ", ")) }, "unique": [\#(keys)], "relationships": { \#(relationships[number].joined(separator: ", ")) } }"#
      )
      if isFamily {
        entities.append(
          #""S\#(number)": { "parent": "E\#(number)", "json": { "as": "sub" }, "attributes": { \#(attributes("s", 3).joined(separator: ", ")) } }"#
        )
      }
    }
    return #"""
      { "model": "M", "enums": { "Kind": { "type": "string", "cases": ["one", "two"] } }, "composites": {
        "Group0": { "attributes": { "x": "double?", "text": "string?" } },
        "Group1": { "attributes": { "amount": "decimal", "inner": "Group0?" } } },
        "entities": { \#(entities.joined(separator: ",\n")) } }
      """#
  }

  static func format(_ random: inout SeededGenerator) -> CSVFormat {
    var format = CSVFormat()
    format.separator = CSVFormat.Separator.allCases[random.below(4)]
    format.hasDecimalCommas = random.below(3) == 0
    format.listSeparator = random.below(2) == 0 ? nil : ["|", ",", ";", " / "][random.below(4)]
    format.null = random.below(3) == 0 ? "NULL" : nil
    format.hasBackslashes = random.below(4) == 0
    format.isForSpreadsheet = random.below(3) == 0
    return format
  }

  static let fixed = """
    { "model": "M", "enums": { "Kind": { "type": "string", "cases": ["one", "two"] } }, "composites": { "G": { "attributes": { "x": "double", "y": "string?" } } }, "entities": {
      "A": { "json": { "key": "id" }, "unique": ["id"], "attributes": { "id": "int64", "name": { "type": "string", "maxLength": 12 },
          "at": "date?", "fee": "decimal?", "w": "float?", "on": "bool?", "u": "uuid?", "d": "data?", "l": "url?", "k": "Kind?",
          "g": "G?", "tags": "[string]?" },
        "relationships": { "next": { "destination": "A", "inverse": "previous", "optional": true, "json": true },
          "previous": { "destination": "A", "inverse": "next", "toMany": true, "json": true } } } } }
    """

  static let file = #"""
    id,name,at,fee,w,on,u,d,l,k,g.x,g.y,tags,next,previous
    1,"a ""b""",2026-01-31T09:30:00Z,12.50,1.5,true,E621E1F8-C36C-495A-93FC-0C247A3E6E5F,SGk=,https://e.org/,one,1,x,"[""a"",""b""]",2,[3]
    2,"two
    lines",,,,,,,,two,,,,,
    3,c,2026-02-28,-1,3e5,false,,,,,2,"",[],1,[]

    """#
}
