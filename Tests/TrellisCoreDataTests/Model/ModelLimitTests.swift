import Foundation
import Testing
import TrellisModel
import TrellisModelFile

@testable import TrellisCoreData

/// What a model may have is known before the work on it begins, and the work grows with the size of the model.
@Suite("Large and hostile models of Core Data") struct ModelLimitTests {
  private func imported(_ contents: String) throws -> CoreDataModelImport {
    try imported(Array(contents.utf8))
  }

  private func imported(_ contents: [UInt8]) throws -> CoreDataModelImport {
    let scratch = try Scratch()
    let folder = try scratch.model("M", "")
    try Data(contents).write(to: folder.appending(path: "contents"))
    return try CoreDataModelImport(contentsOf: folder)
  }

  private func chain(_ count: Int, of properties: Int) -> String {
    let entities = (0..<count).map { number in
      let parent = number == 0 ? "" : " parentEntity=\"E\(number - 1)\""
      let attributes = (0..<properties).map { "<attribute name=\"p\(number)_\($0)\" attributeType=\"String\"/>" }
      return "<entity name=\"E\(number)\"\(parent)>\(attributes.joined())</entity>"
    }
    return "<model>\(entities.joined())</model>"
  }

  private func expectLimit(_ contents: String, _ word: String) {
    #expect {
      _ = try imported(contents)
    } throws: { error in
      (error as? CoreDataError)?.code == .limit && "\(error)".contains(word)
    }
  }

  @Test("more ancestors, entities or properties than a model file may have are refused before the translation")
  func limits() throws {
    let start = ContinuousClock.now
    expectLimit(chain(250, of: 3), "E64 has 64 ancestors")
    expectLimit(chain(2, of: 501), "E1 has 1002 properties")
    let many = (0...Limits.entities).map { "<entity name=\"E\($0)\"/>" }.joined()
    expectLimit("<model>\(many)</model>", "10001 entities")
    #expect(try imported(chain(64, of: 15)).description.entities.count == 64)
    #expect(ContinuousClock.now - start < .seconds(60))
  }

  @Test("thousands of entities with equal names, parents and former versions take no time that grows with the square")
  func growth() throws {
    func model(_ count: Int) -> CoreDataModel {
      var model = CoreDataModel()
      for number in 0..<count {
        var entity = CoreDataModel.Entity(name: "\u{AC00}\(String(repeating: "\u{AC01}", count: number % 7))_\(number)")
        if number % 2 == 1 { entity.parent = model.entities[number - 1].name }
        entity.attributes = [CoreDataModel.Attribute(name: "a", kind: .string), .init(name: "b\(number)", kind: .date)]
        entity.attributes.removeFirst(number % 2)
        var relationship = CoreDataModel.Relationship(name: "r\(number)", destination: entity.name)
        relationship.isToMany = true
        entity.relationships = [relationship]
        model.entities.append(entity)
        model.fetchRequests.append(.init(name: "f\(number)", entity: entity.name, predicate: nil))
      }
      return model
    }
    func time(_ count: Int) throws -> Duration {
      let model = model(count)
      let start = ContinuousClock.now
      let translation = try ModelTranslation(model, name: "M", former: [model])
      #expect(translation.description.entities.count == count)
      return ContinuousClock.now - start
    }
    _ = try time(100)
    let (small, large) = (try time(500), try time(4_000))
    print("500 entities \(small), 4,000 entities \(large)")
    // Eight times as many; with the square it would be 64 times as long.
    #expect(large < small * 30)
  }

  // MARK: XML

  private static let entity = "<entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/></entity>"
  private static let model = "<model>\(entity)</model>"
  private static let bomb = "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>"

  private static func utf16(_ text: String, isBig: Bool, mark: Bool) -> [UInt8] {
    let units = (mark ? [0xFEFF] : []) + Array(text.utf16)
    return units.flatMap { unit in
      let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
      return isBig ? bytes : bytes.reversed()
    }
  }

  static let dangerous: [String: [UInt8]] = {
    let spaces = String(repeating: " ", count: 400)
    let comment = "<!--\(String(repeating: "long ", count: 40_000))-->"
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
    var files = [
      "a document type": Array((head + bomb + model).utf8),
      "a document type behind a mark": [0xEF, 0xBB, 0xBF] + Array((head + bomb + model).utf8),
      "a document type behind a long comment": Array((head + comment + bomb + model).utf8),
      "a document type behind many instructions": Array(
        (head + String(repeating: "<?note a?>", count: 1_000) + bomb + model).utf8),
      "a document type without a declaration": Array((comment + bomb + model).utf8),
      "a declaration without an end": Array(("<?xml version=\"1.0\" encoding=\"UTF-8\"" + spaces + model).utf8),
      "bytes that are no UTF-8": Array(head.utf8) + [0xC3, 0x28] + Array(model.utf8),
    ]
    for name in ["UTF-16", "UTF-7", "ISO-8859-1", "EBCDIC-US", "UCS-4", "utf-8x", "windows-1252"] {
      files["the encoding \(name)"] = Array("<?xml version=\"1.0\" encoding=\"\(name)\"?>\(model)".utf8)
      files["the encoding \(name) behind spaces"] = Array(
        "<?xml version=\"1.0\"\(spaces)encoding\n=\t'\(name)'\(spaces)?>\(model)".utf8)
      files["the encoding \(name) behind a mark"] =
        [0xEF, 0xBB, 0xBF] + Array("<?xml version=\"1.0\"\(spaces)encoding=\"\(name)\"?>\(model)".utf8)
    }
    for isBig in [true, false] {
      for mark in [true, false] {
        for text in [head + bomb + model, bomb + model, "<?xml version=\"1.0\"?>" + model] {
          files["UTF-16 \(isBig) \(mark) \(text.prefix(24))"] = utf16(text, isBig: isBig, mark: mark)
        }
      }
    }
    files["UTF-32"] = (head + bomb + model).unicodeScalars.flatMap { [0, 0, 0, UInt8($0.value)] }
    return files
  }()

  @Test("XML that could say something else than its bytes is refused", arguments: dangerous.keys.sorted())
  func refused(_ name: String) throws {
    let bytes = try #require(Self.dangerous[name])
    #expect {
      _ = try imported(bytes)
    } throws: { error in
      (error as? CoreDataError)?.code == .noModel
    }
  }

  @Test("a mark, a long declaration in either quotes and any case, and comments are no danger")
  func harmless() throws {
    let spaces = String(repeating: " ", count: 400)
    for head in [
      "", "\u{FEFF}", "<?xml version=\"1.0\"?>", "<?xml version='1.0' encoding='utf-8' standalone='yes'?>",
      "\u{FEFF}<?xml version=\"1.0\"\(spaces)encoding=\"UTF-8\"\(spaces)?>",
      "<?xml version=\"1.0\" encoding=\"US-ASCII\"?>", "<!-- encoding=\"UTF-16\" -->",
    ] {
      #expect(try imported(head + Self.model).description.entities.map(\.name) == ["A"], "\(head.prefix(60))")
    }
  }
}
