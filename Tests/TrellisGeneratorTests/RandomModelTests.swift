import Foundation
import Testing
import TrellisGenerator
import TrellisModel
import TrellisModelFile
import TrellisRuntime
import TrellisTestSupport

@Suite("Models made by chance") struct RandomModelTests {
  /// `TRELLIS_RANDOM_MODELS=folder` writes the files there, to be compiled by hand.
  @Test("every valid model has Swift, with no line beyond the limit")
  func random() throws {
    let folder = ProcessInfo.processInfo.environment["TRELLIS_RANDOM_MODELS"]
    for number in 0..<200 {
      var maker = RandomModel(seed: UInt64(number))
      let file = try GeneratedFile(maker.make(number), modelFileName: "Random\(number).model.json")
      let tooLong = file.text.split(separator: "\n").first { $0.count > 120 }
      #expect(tooLong == nil, "seed \(number)")
      guard let folder else { continue }
      try file.text.write(toFile: "\(folder)/\(file.name)", atomically: true, encoding: .utf8)
    }
  }

  @Test("every valid model comes back from its canonical text")
  func canonical() throws {
    for number in 0..<200 {
      var maker = RandomModel(seed: UInt64(number))
      let model = maker.make(number)
      #expect(try ModelDescription(storedText: Array(model.canonicalJSON().utf8)) == model, "seed \(number)")
    }
  }

  @Test(
    "the compiled description is the one that was given, and its checksum the one that is written beside it",
    arguments: [
      (ObjectModel.diary, diaryModel), (.urlTypes, typesModel), (.`default`, shapesModel), (.zoo, zooModel),
    ])
  func roundTrip(compiled: ObjectModel, given: ModelDescription) {
    #expect(compiled.description == given)
    #expect(compiled.checksum == compiled.description.checksum)
  }

  @Test(
    "names that would not compile are refused",
    arguments: [
      EntityDescription("Snapshot"), EntityDescription("Type"), EntityDescription("a b"), EntityDescription(""),
      EntityDescription("A", attributes: [AttributeDescription("init", .string)]),
      EntityDescription("A", attributes: [AttributeDescription("snapshot", .string)]),
      EntityDescription("A", attributes: [AttributeDescription("_key", .string)]),
      EntityDescription(
        "A", attributes: [AttributeDescription("a", .string), AttributeDescription("b", .bool, swiftName: "a")]),
      EntityDescription("A", attributes: [AttributeDescription("a", .int16, default: .value(.integer(40_000)))]),
    ])
  func refused(entity: EntityDescription) {
    #expect(throws: GeneratorError.self) {
      try generate(ModelDescription(name: "M", entities: [entity]), modelFileName: "M.model.json")
    }
  }
}
