import Foundation
import Testing
import TrellisModel
import TrellisModelFile

@Suite("Models that are right") struct SampleTests {
  @Test("the diary passes without a word")
  func diary() throws {
    let bytes = try Folders.bytes(Folders.root.appending(path: "Models/Diary/Diary.model.json"))
    let result = ModelFile.parse(bytes, path: "Diary.model.json")
    #expect(result.rendered() == "")
    let model = try Model(#require(result.description))
    #expect(model.entities.map(\.name) == ["EmotionDiary", "DiaryImage", "Tag"])
  }

  @Test("every sample model passes without a word", arguments: ["Diary", "InnerInterview", "ReceiptMind"])
  func samples(name: String) throws {
    let bytes = try Folders.bytes(Folders.root.appending(path: "Models/\(name)/\(name).model.json"))
    let result = ModelFile.parse(bytes, path: "\(name).model.json")
    #expect(result.rendered() == "")
    #expect(try Model(#require(result.description)).description.name == name)
  }
}
