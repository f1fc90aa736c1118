import Foundation
import Testing
import TrellisTestSupport
import TrellisGenerator
import TrellisModel

@testable import TrellisCoreData

/// Models in the grammar of Xcode made by chance, also with contradictions.
struct RandomModelXML {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private mutating func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }
  private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &random)] }

  private static let names = [
    "name", "Name", "ID", "id", "description", "hash", "größe", "_x", "1st", "class", "Type", "self", "objectID", "URL",
    "value", "count", "isDeleted", "日付", "a b", "", "init", "where",
  ]
  private static let types = [
    "Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float", "String", "Boolean", "Date", "Binary",
    "UUID", "URI", "Transformable", "Undefined", "ObjectID", "Composite", "Other",
  ]

  private static let composites = ["Address", "Point", "note", "String", "E0", "größe"]

  mutating func make() -> String {
    let entities = (0..<Int.random(in: 1...6, using: &random)).map { number in
      chance(6) ? pick(["Object", "Type", "note", "String", "Sqlite_x", "ID", "é"]) : "E\(number)"
    }
    var text = "<model userDefinedModelVersionIdentifier=\"\">"
    for name in entities { text += entity(name, entities) }
    for name in Self.composites {
      text += "<composite name=\"\(name)\">"
      for _ in 0..<Int.random(in: 0...4, using: &random) { text += attribute() }
      text += "</composite>"
    }
    text +=
      "<fetchRequest name=\"\(pick(Self.names))\" entity=\"\(pick(entities))\" predicateString=\"\(pick(["TRUEPREDICATE", "name == $name", "x ==", "value &gt; $Self"]))\"/>"
    return text + "</model>"
  }

  private mutating func entity(_ name: String, _ entities: [String]) -> String {
    var text = "<entity name=\"\(name)\""
    if chance(3) { text += " parentEntity=\"\(pick(entities))\"" }
    if chance(4) { text += " isAbstract=\"YES\"" }
    if chance(3) {
      text += " representedClassName=\"\(pick(["Foo", ".Bar", "M.Baz", "NSManagedObject", "String", name + "MO"]))\""
    }
    if chance(5) { text += " elementID=\"\(pick(entities))\"" }
    text += ">"
    for _ in 0..<Int.random(in: 0...6, using: &random) { text += attribute() }
    for _ in 0..<Int.random(in: 0...4, using: &random) { text += relationship(entities) }
    if chance(2) {
      text +=
        "<uniquenessConstraints><uniquenessConstraint><constraint value=\"\(pick(Self.names))\"/>"
        + "<constraint value=\"\(pick(Self.names))\"/></uniquenessConstraint></uniquenessConstraints>"
    }
    if chance(2) {
      text +=
        "<fetchIndex name=\"i\"><fetchIndexElement property=\"\(pick(Self.names))\" type=\"Binary\" order=\"ascending\"/>"
        + "<fetchIndexElement property=\"\(pick(Self.names))\" type=\"Binary\" order=\"descending\"/></fetchIndex>"
    }
    return text + "</entity>"
  }

  private mutating func attribute() -> String {
    var text =
      "<attribute name=\"\(pick(Self.names))\" attributeType=\"\(pick(Self.types))\" composite=\"\(pick(Self.composites))\""
    if chance(2) { text += " optional=\"YES\"" }
    if chance(6) { text += " transient=\"YES\"" }
    if chance(2) {
      text +=
        " defaultValueString=\"\(pick(["0", "YES", "x", "", "1.5", "99999999999", "-1e400", "nan", "https://a.b/c"]))\""
    }
    if chance(5) { text += " defaultDateTimeInterval=\"\(pick(["0", "-1e300", "1e9", "nan"]))\"" }
    if chance(4) { text += " minValueString=\"\(pick(["0", "10", "x", "-5"]))\"" }
    if chance(4) { text += " maxValueString=\"\(pick(["0", "10", "x", "1e30"]))\"" }
    if chance(6) { text += " regularExpressionString=\"\(pick(["[a-z]+", "(", "\\d{3}", "(?i)x"]))\"" }
    if chance(5) { text += " elementID=\"\(pick(Self.names))\"" }
    if chance(4) { text += " allowsExternalBinaryDataStorage=\"YES\"" }
    if chance(6) { text += " customClassName=\"\(pick(["[String]", "UIColor", "Set&lt;UUID>", "[[Int]]", "URL"]))\"" }
    if chance(6) {
      let names = (0..<2).map { _ in pick(Self.names) }
      let expression = pick([
        "now()", "canonical:(\(names[0]))", "uppercase:(\(names[0]))", "\(names[0]).@count",
        "\(names[0]).@sum.\(names[1])",
        "\(names[0]).\(names[1])", "\(names[0]).\(names[1]).@count", "\(names[1]) + 1", "", "lowercase:(\(names[0])) ",
      ])
      text += " derived=\"YES\" derivationExpression=\"\(expression)\""
    }
    if chance(5) { text += " indexed=\"YES\"" }
    return text + "/>"
  }

  private mutating func relationship(_ entities: [String]) -> String {
    let destination = pick(entities)
    var text = "<relationship name=\"\(pick(Self.names))\" destinationEntity=\"\(destination)\""
    if chance(2) { text += " optional=\"YES\"" }
    if chance(2) {
      text += " toMany=\"YES\""
    } else {
      text += " maxCount=\"\(pick(["0", "1", "1", "1", "5", "-2", "x"]))\""
    }
    if chance(5) { text += " minCount=\"\(pick(["0", "1", "9"]))\"" }
    if chance(4) { text += " ordered=\"YES\"" }
    if chance(8) { text += " transient=\"YES\"" }
    text += " deletionRule=\"\(pick(["Nullify", "Cascade", "Deny", "No Action", "Odd"]))\""
    if !chance(4) { text += " inverseName=\"\(pick(Self.names))\" inverseEntity=\"\(destination)\"" }
    return text + "/>"
  }
}

@Suite("Random models") struct RandomModelTests {
  @Test("each has a counterpart that the checks of model files and the generator accept") func accepted() throws {
    let count = max(200, Mutations.count / 10)
    let scratch = try Scratch()
    for seed in 0..<UInt64(count) {
      var maker = RandomModelXML(seed: seed)
      let text = maker.make()
      let url = try scratch.model("Random", text)
      do {
        let result = try CoreDataModelImport(contentsOf: url)
        _ = try GeneratedFile(result.description, modelFileName: "Random.model.json")
      } catch {
        Issue.record("seed \(seed): \(error)\n\(text)")
        return
      }
    }
  }

  @Test("no changed model traps: it is read or refused") func mutated() throws {
    var random = SeededGenerator(seed: 7)
    for seed in 0..<UInt64(Mutations.count) {
      var maker = RandomModelXML(seed: seed % 50)
      let bytes = Mutations.mutate(Array(maker.make().utf8), &random)
      do throws(CoreDataError) {
        let model = try ModelXMLReader.read(bytes, path: "contents")
        _ = try ModelTranslation(model, name: "Random")
      } catch {
        #expect(!error.message.isEmpty)
      }
    }
  }
}
