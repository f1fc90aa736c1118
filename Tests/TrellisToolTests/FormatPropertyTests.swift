import Foundation
import Testing
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

/// Formatting changes white space and nothing else, and a second time it changes nothing.
@Suite("What formatting keeps") struct FormatPropertyTests {
  @Test("every model file of the tree means the same, and keeps its keys, their order and the spelling of every value")
  func tree() throws {
    var texts: [[UInt8]] = []
    for top in ["Models", "Tests"] {
      let folder = ToolFolder.root.appending(path: top).resolvingSymlinksInPath()
      let names = FileManager.default.enumerator(atPath: folder.path)
      while let name = names?.nextObject() as? String {
        guard name.hasSuffix(".model.json"), !name.contains(".build/") else { continue }
        texts.append([UInt8](try Data(contentsOf: folder.appending(path: name))))
      }
    }
    #expect(texts.count >= 100)
    try check(texts)
  }

  @Test("so do random models in random layouts")
  func random() throws {
    let seed = TestSettings.seed("TRELLIS_FORMAT_SEED")
    var random = SeededGenerator(seed: seed)
    var texts: [[UInt8]] = []
    for number in 0..<TestSettings.number("TRELLIS_FORMAT", or: 80) {
      var maker = RandomModel(seed: seed &+ UInt64(number))
      texts.append(Self.scattered(Array(maker.make(number).canonicalJSON().utf8), &random))
    }
    try check(texts)
  }

  @Test("files that were damaged at random stay as they are, or keep what is left")
  func damaged() throws {
    let seed = TestSettings.seed("TRELLIS_FORMAT_SEED")
    var random = SeededGenerator(seed: seed)
    let pieces = ["{", "}", "[", "]", ",", ":", "\"", "\\", "\\u12", "\r", "\0", "커", "1e9", "\"A\":", "{}", "[]"]
    let file = ToolFolder.root.appending(path: "Models/Diary/Diary.model.json")
    let sample = [UInt8](try Data(contentsOf: file))
    try check(
      (0..<TestSettings.number("TRELLIS_FORMAT", or: 80)).map { _ in
        var text = sample
        for _ in 0...random.below(3) {
          let place = random.below(text.count)
          let end = min(text.count, place + random.below(3))
          text.replaceSubrange(place..<end, with: Array(pieces[random.below(pieces.count)].utf8))
        }
        return text
      })
  }

  private func check(_ texts: [[UInt8]]) throws {
    let folder = try ToolFolder()
    let names = texts.indices.map { "\($0).model.json" }
    for (name, text) in zip(names, texts) { try folder.write(text, to: name) }
    let isGood = zip(names, texts).map { name, text in ModelFile.readJSON(text, path: name).root != nil }
    #expect(try folder.run(["format"] + names).status == (isGood.contains(false) ? 1 : 0))
    for ((name, text), isGood) in zip(zip(names, texts), isGood) {
      let now = try folder.bytes(of: name)
      guard isGood else {
        #expect(now == text)
        continue
      }
      #expect(Self.significant(now) == Self.significant(text), "\(String(decoding: text, as: UTF8.self))")
      let (before, after) = (ModelFile.parse(text, path: name), ModelFile.parse(now, path: name))
      #expect(after.description == before.description)
      #expect(after.diagnostics.map(\.code).count == before.diagnostics.map(\.code).count)
    }
    let again = try folder.run(["format", "--check"] + zip(names, isGood).filter(\.1).map(\.0))
    #expect(again == .init(status: 0))
  }

  /// The bytes of a JSON text without its white space and its byte order mark.
  private static func significant(_ text: [UInt8]) -> [UInt8] {
    tokens(text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...]).flatMap { $0 }
  }

  /// A JSON text with other white space between its tokens.
  private static func scattered(_ text: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    let spaces = ["", "", "", " ", "\n", "\t", "\r\n", "  \n   "]
    return tokens(text[...]).flatMap { token in Array(spaces[random.below(spaces.count)].utf8) + token }
  }

  /// Strings, marks, and runs of everything else.
  private static func tokens(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var tokens: [ArraySlice<UInt8>] = []
    var place = text.startIndex
    while place < text.endIndex {
      let start = place
      switch text[place] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
        place += 1
        continue
      case UInt8(ascii: "\""):
        place += 1
        while place < text.endIndex, text[place] != UInt8(ascii: "\"") {
          place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        place += 1
      case let mark where "{}[],:".utf8.contains(mark): place += 1
      default:
        while place < text.endIndex, !" \n\r\t\"{}[],:".utf8.contains(text[place]) { place += 1 }
      }
      tokens.append(text[start..<min(place, text.endIndex)])
    }
    return tokens
  }
}
