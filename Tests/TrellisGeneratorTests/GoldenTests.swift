import Foundation
import Testing
import TrellisGenerator
import TrellisModel

/// The files in `Golden` are what the generator must write; they are compiled into this module too.
///
/// With `TRELLIS_RECORD_GOLDEN=1` in the environment the files are written again, and the tests fail so that nobody forgets to
/// read what has changed.
@Suite("Golden files") struct GoldenTests {
  static let models: [(name: String, description: ModelDescription)] = [
    ("Diary", diaryModel), ("Types", typesModel), ("Shapes", shapesModel), ("Zoo", zooModel),
    ("Mapped", mappedModel),
  ]

  @Test("what is generated is what is recorded", arguments: models.indices)
  func golden(index: Int) throws {
    let model = Self.models[index]
    let file = try GeneratedFile(model.description, modelFileName: "\(model.name).model.json")
    let url = Self.folder.appendingPathComponent(file.name)
    let recorded = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
    if ProcessInfo.processInfo.environment["TRELLIS_RECORD_GOLDEN"] != nil {
      try file.text.write(to: url, atomically: true, encoding: .utf8)
      Issue.record("\(file.name) was recorded; read what has changed and run the tests again")
    } else {
      #expect(Self.firstDifference(file.text, recorded) == nil)
    }
  }

  @Test("the same model gives the same text, whatever was generated before")
  func stable() throws {
    for model in Self.models {
      let first = try generate(model.description, modelFileName: "A.model.json")
      for _ in 0..<3 { #expect(try generate(model.description, modelFileName: "A.model.json") == first) }
    }
  }

  private static var folder: URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")
  }

  /// The first line that differs, for a message that can be read.
  private static func firstDifference(_ text: String, _ recorded: String) -> String? {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let recordedLines = recorded.split(separator: "\n", omittingEmptySubsequences: false)
    for (number, (line, recordedLine)) in zip(lines, recordedLines).enumerated() where line != recordedLine {
      return "line \(number + 1) is\n\(line)\nand was recorded as\n\(recordedLine)"
    }
    return lines.count == recordedLines.count ? nil : "\(lines.count) lines instead of \(recordedLines.count)"
  }
}
