import Foundation
import Testing
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@Suite("Released versions of a model") struct HistoryTests {
  private static func version(_ number: Int, _ model: ModelDescription) -> ModelHistory.File {
    let text = ReleasedModel(model, number: number, released: "2026-03-02").fileText
    return ModelHistory.File(path: "M.history/\(ModelHistory.fileName(of: number))", bytes: Array(text.utf8))
  }

  private static func model(_ name: String = "a") -> ModelDescription {
    let attribute = AttributeDescription(name, .string, default: .value(.text("x\n  y")), doc: "커피 { \" } \\")
    return ModelDescription(name: "M", entities: [EntityDescription("A", attributes: [attribute])])
  }

  private static func changed(_ file: ModelHistory.File, _ change: (inout [UInt8]) -> Void) -> ModelHistory.File {
    var bytes = file.bytes ?? []
    change(&bytes)
    return ModelHistory.File(path: file.path, bytes: bytes)
  }

  @Test("every version comes back as it was released, in the order of the numbers")
  func roundTrip() throws {
    var files: [ModelHistory.File] = []
    var models: [ModelDescription] = []
    for number in 1...120 {
      var maker = RandomModel(seed: UInt64(number))
      models.append(maker.make(number))
      files.append(Self.version(number, models[number - 1]))
    }
    let history = ModelHistory(files.shuffled())
    #expect(history.diagnostics == [])
    #expect(history.versions.map(\.number) == Array(1...120))
    for (version, model) in zip(history.versions, models) {
      #expect(version.checksum == model.checksum)
      #expect(version.canonicalText == model.canonicalJSON())
      #expect(try version.description() == model)
    }
  }

  @Test("line breaks of a checkout and another layout are no edit")
  func layout() throws {
    let file = Self.version(1, Self.model())
    let text = String(decoding: try #require(file.bytes), as: UTF8.self)
    for other in [text.replacing("\n", with: "\r\n"), text.replacing("\n    ", with: "\n\t\t"), "\u{FEFF}" + text] {
      let history = ModelHistory([ModelHistory.File(path: file.path, bytes: Array(other.utf8))])
      #expect(history.diagnostics == [])
      #expect(try history.versions.first?.description() == Self.model())
    }
  }

  @Test("each change of a byte is an error with its place, or changes neither the model nor its number")
  func everyByte() throws {
    let model = Self.model()
    let file = Self.version(1, model)
    var errors = 0
    for place in try #require(file.bytes).indices {
      for byte in [
        UInt8(ascii: "x"), UInt8(ascii: "7"), UInt8(ascii: "}"), UInt8(ascii: " "), UInt8(ascii: "\""), 0xFF,
      ] {
        let history = ModelHistory([Self.changed(file) { $0[place] = byte }])
        if history.diagnostics.isEmpty {
          #expect(try history.versions.first?.description() == model)
          #expect(history.versions.first?.number == 1)
        } else {
          errors += 1
          #expect(history.diagnostics.map(\.code) == [.historyEdited] && history.versions.isEmpty)
          #expect(history.diagnostics.allSatisfy { $0.rendered().hasPrefix("M.history/0001.json:") })
        }
      }
    }
    #expect(errors > 1_000)
  }

  @Test("no random change of a file traps, and none changes a model unnoticed")
  func randomChanges() throws {
    let seed = TestSettings.seed("TRELLIS_FUZZ_SEED")
    var random = SeededGenerator(seed: seed)
    let model = Self.model()
    let file = Self.version(1, model)
    let pieces = ["{", "}", "[", "\"", "\\", ",", "\n", "\r", "1e9", "\u{FEFF}", "\"model\": {}", "<<<<<<< HEAD\n"]
    for _ in 0..<TestSettings.number("TRELLIS_FUZZ", or: 1_000) {
      let changed = Self.changed(file) { bytes in
        for _ in 0...random.below(3) {
          let place = random.below(bytes.count + 1)
          let end = min(bytes.count, place + random.below(40))
          bytes.replaceSubrange(place..<end, with: Array(pieces[random.below(pieces.count)].utf8))
        }
      }
      let history = ModelHistory([changed])
      #expect(history.diagnostics.count + history.versions.count == 1, "seed \(seed)")
      if let version = history.versions.first { #expect(try version.description() == model, "seed \(seed)") }
      if case .success(let version)? = ModelHistory.version(in: changed) { #expect(version.checksum == model.checksum) }
    }
  }

  @Test("gaps, wrong names and wrong numbers are errors; hidden files and other endings are none")
  func names() {
    func messages(_ paths: String...) -> [String] {
      ModelHistory(paths.map { ModelHistory.File(path: $0, bytes: Self.version(2, Self.model()).bytes) })
        .diagnostics.map { $0.rendered() }
    }
    #expect(messages("H/.0007.json", "H/README.md", "H/.DS_Store") == [])
    #expect(
      messages("H/0002.json") == [
        "H/0002.json:1:1: error: Version 1 is missing before this one. Restore what was released. [history-edited]"
      ])
    #expect(
      messages("H/0009.json") == [
        "H/0009.json:1:1: error: Versions 1 to 8 are missing before this one. Restore what was released. [history-edited]",
        "H/0009.json:3:13: error: Version 9 is damaged: its number is that of its name. Restore it as it was released. "
          + "[history-edited]",
      ])
    for name in ["1", "00001", "0000", "-001", "+001", "0001 copy", "99999999999999999999", "", "٠٠٠١"] {
      let refusal =
        "H/\(name).json:1:1: error: The file is none of the history's, whose names are 0001.json, 0002.json and so on; "
        + "move it elsewhere. [history-edited]"
      #expect(messages("H/\(name).json") == (name.isEmpty ? [] : [refusal]))
    }
    #expect(messages("a/0002.json", "b/0002.json").contains { $0.contains("two files for version 2") })
  }

  @Test("a file that cannot be read is an error, and so is one beyond the limit")
  func unreadable() {
    let large = [UInt8](repeating: UInt8(ascii: " "), count: Limits.fileSize + 1)
    for bytes in [nil, large, [], Array("[]".utf8), Array("null".utf8)] {
      let history = ModelHistory([ModelHistory.File(path: "H/0001.json", bytes: bytes)])
      #expect(history.diagnostics.map(\.code) == [.historyEdited])
    }
  }

  @Test("a version that a newer Trellis released is kept for its checksum, and its model is refused by name")
  func newerModel() throws {
    let text = Self.model().canonicalJSON().replacing("\"model\": \"M\"", with: "\"model\": \"M\",\n  \"later\": 1")
    let checksum = ModelDescription.checksum(ofText: text.utf8)
    let lines = text.dropLast().replacing("\n", with: "\n  ")
    let file = """
      {
        "trellis-history": 1,
        "number": 1,
        "released": "2030-01-01",
        "checksum": "\(checksum)",
        "model": \(lines)
      }

      """
    let history = ModelHistory([ModelHistory.File(path: "H/0001.json", bytes: Array(file.utf8))])
    #expect(history.diagnostics == [])
    let fault = #expect(throws: StoredModelFault.self) { try history.versions.first?.description() }
    #expect(fault?.kind == .newerFormat)
    let format = file.replacing("\"trellis-history\": 1", with: "\"trellis-history\": 2")
    let later = ModelHistory([ModelHistory.File(path: "H/0001.json", bytes: Array(format.utf8))])
    #expect(later.diagnostics.first?.message.contains("has format 2") == true)
  }

  @Test("the folder lies beside the model and has its name")
  func folder() {
    #expect(ModelHistory.folder(besideModel: "a/Diary.model.json") == "a/Diary.history")
    for path in ["Diary.json", ".model.json", "a/.model.json", "", "a\\.model.json"] {
      #expect(ModelHistory.folder(besideModel: path) == nil)
    }
  }
}
