import Testing
import TrellisDiagram
import TrellisModel
import TrellisTestSupport

@Suite("The layout of a picture") struct LayoutTests {
  @Test("no line runs through a box, a label or a mark, and nothing overlaps, for every model in the tree")
  func models() throws {
    let models = try SomeModels.all()
    #expect(models.count > 50)
    for (name, model) in models { #expect(Geometry(Diagram(model).content).problems() == [], "\(name)") }
  }

  /// `TRELLIS_DIAGRAMS` is the number of models, `TRELLIS_SEED` their seed.
  @Test("no line runs through a box, a label or a mark, and nothing overlaps, for models by chance")
  func random() throws {
    let seed = TestSettings.seed()
    for number in 0..<TestSettings.number("TRELLIS_DIAGRAMS", or: 10) {
      var generator = SeededGenerator(seed: seed &+ UInt64(number))
      let count = 1 + generator.below(number % 5 == 0 ? 60 : 14)
      let relationships = generator.below(2 * count + 2)
      let model = try SomeModels.random(entities: count, relationships: relationships, using: &generator).resolved()
      let problems = Geometry(Diagram(model).content).problems()
      #expect(problems == [], "TRELLIS_SEED=\(seed &+ UInt64(number)) TRELLIS_DIAGRAMS=1")
      if !problems.isEmpty { return }
    }
  }

  @Test("a model of a thousand entities is drawn")
  func large() throws {
    var generator = SeededGenerator(seed: TestSettings.seed())
    let model = try SomeModels.random(entities: 1_000, relationships: 900, using: &generator).resolved()
    let content = Diagram(model).content
    let layout = DiagramLayout(content)
    #expect(layout.boxes.count == 1_000)
    #expect(layout.lines.count == content.lines.reduce(0) { $0 + $1.spokes.count })
  }

  @Test("every pair of entities connected with each other in every way keeps the rules")
  func dense() throws {
    for count in 2...5 {
      var entities = (0..<count).map { EntityDescription("E\($0)") }
      for first in 0..<count {
        for second in 0..<count {
          let name = "to\(first)x\(second)"
          entities[first].relationships.append(
            RelationshipDescription(name, to: "E\(second)", inverse: name + "Back", toMany: true, ordered: true))
          entities[second].relationships.append(
            RelationshipDescription(
              name + "Back", to: "E\(first)", inverse: name, toMany: first < second, maxCount: first < second ? 3 : nil,
              optional: true))
        }
      }
      let model = try ModelDescription(name: "M", entities: entities).resolved()
      #expect(Geometry(Diagram(model).content).problems() == [])
    }
  }

  @Test("the same model gives the same picture")
  func deterministic() throws {
    var generator = SeededGenerator(seed: 7)
    let description = SomeModels.random(entities: 20, relationships: 25, using: &generator)
    let svg = Diagram(try description.resolved()).svg()
    #expect(Diagram(try description.resolved()).svg() == svg)
  }

  @Test("neighbours with one line between them are joined by a straight line")
  func straight() throws {
    let model = try ModelDescription(
      name: "M",
      entities: [
        EntityDescription("A", relationships: [RelationshipDescription("bs", to: "B", inverse: "a", toMany: true)]),
        EntityDescription("B", relationships: [RelationshipDescription("a", to: "A", inverse: "bs", optional: true)]),
      ]
    ).resolved()
    let layout = DiagramLayout(Diagram(model).content)
    #expect(layout.lines.map(\.points.count) == [2])
  }

  @Test("children of one parent arrive together")
  func hierarchy() throws {
    let model = try ModelDescription(
      name: "M",
      entities: [EntityDescription("P")] + (0..<4).map { EntityDescription("C\($0)", parent: "P") }
    ).resolved()
    let layout = DiagramLayout(Diagram(model).content)
    #expect(layout.lines.count == 4)
    #expect(Set(layout.lines.map(\.points[0])).count <= 2)
  }

  @Test("an empty model, and one entity, are pictures too")
  func small() throws {
    #expect(DiagramLayout(Diagram(try ModelDescription(name: "M").resolved()).content).boxes.isEmpty)
    let one = try ModelDescription(name: "M", entities: [EntityDescription("A")]).resolved()
    #expect(DiagramLayout(Diagram(one).content).boxes.count == 1)
  }

  @Test("only the asked entities are shown, and lines lead to no others")
  func some() throws {
    let model = try SomeModels.sample("InnerInterview")
    let shown = Set(["Subject", "Question"].compactMap { model.entity(named: $0)?.index })
    let content = Diagram(model, entities: shown).content
    #expect(content.cards.map(\.title) == ["Subject", "Question"])
    #expect(
      content.lines.map(\.note) == ["Subject.questions and Question.subject", "Question.followUps and Question.origin"])
    #expect(content.cards[1].rows.map(\.name).contains("record"))
  }
}
