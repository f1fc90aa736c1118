import Testing
import TrellisModel

@Suite("The storage part of a model") struct StorageSignatureTests {
  private func signature(_ change: (inout ModelDescription) -> Void = { _ in }) throws -> String {
    var description = ResolvingTests.diary
    change(&description)
    return try Model(description).storageSignature
  }

  @Test("is a fact a line, sorted")
  func lines() throws {
    #expect(
      try signature() == """
        attribute DiaryImage.path: string, required
        attribute EmotionDiary.content: string, required
        attribute Tag.name: string, required
        entity DiaryImage
        entity EmotionDiary
        entity Tag
        relationship DiaryImage.diary: to one EmotionDiary, inverse images, in its row with its place
        relationship EmotionDiary.images: to many DiaryImage, ordered, inverse diary, in the row of its inverse
        relationship EmotionDiary.tags: to many Tag, inverse diaries, in table _EmotionDiary_tags
        relationship Tag.diaries: to many EmotionDiary, inverse tags, in table _EmotionDiary_tags
        """)
  }

  @Test("does not change with the order of declarations, docs, defaults, rules, indexes or delete rules")
  func indifferent() throws {
    let same = try signature { model in
      model.entities.reverse()
      model.doc = "x"
      for entity in model.entities.indices {
        model.entities[entity].doc = "x"
        for index in model.entities[entity].attributes.indices {
          model.entities[entity].attributes[index].defaultValue = .value(.text("x"))
          model.entities[entity].attributes[index].rules = AttributeRules(minLength: 1)
          model.entities[entity].indexes = [IndexDescription([.init(model.entities[entity].attributes[index].name)])]
        }
        for index in model.entities[entity].relationships.indices {
          model.entities[entity].relationships[index].deleteRule = .cascade
        }
      }
    }
    #expect(try signature() == same)
  }
}
