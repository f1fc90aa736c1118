import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// What a refusal tells to write can be written into the model, and is enough.
@Suite("The advice of refused migrations") struct AdviceTests {
  private static let episodes: Int = TestSettings.number("TRELLIS_MIGRATION_EPISODES", or: 60)
  private static let first: UInt64 = TestSettings.number("TRELLIS_MIGRATION_SEED", or: 1)

  @Test("a model with the lines that the questions name has no questions")
  func followed() throws {
    var (valid, failed) = (0, 0)
    for seed in Self.first..<(Self.first + UInt64(Self.episodes)) {
      guard let episode = Episode(seed: seed, dropsAnswers: true, .file), episode.isRefused else { continue }
      valid += 1
      let fault: String?
      do { fault = try Self.fault(episode) } catch { fault = "\(error)" }
      guard let fault else { continue }
      failed += 1
      let told = failed == 1 ? "\n\(episode.told)" : ""
      if failed < 10 { Issue.record("seed \(seed) \(episode.pair.edits):\n  \(fault)\(told)") }
    }
    print("\(valid) chains of advice, \(failed) failures")
    #expect(failed == 0)
  }

  private static func fault(_ episode: Episode) throws -> String? {
    var model = episode.pair.current
    let store = try MigratedFile(episode.graph)
    for _ in 0..<12 {
      let plan = try store.inMemory(Model(model.description)).plan(allowsLoss: false)
      if plan.questions.isEmpty { return nil }
      for question in plan.questions where !isWithoutAnswer(question, episode, model) {
        guard case .asks(let asked) = question.risk, follow(asked.answer, &model) else {
          return "nothing can be followed in \(question)"
        }
      }
      if plan.questions.allSatisfy({ isWithoutAnswer($0, episode, model) }) { return nil }
      guard RandomModelPair.isValid(model) else {
        return "not valid any more after \(plan.questions.map { "\($0.subject): \($0.text) \($0.risk)" })"
      }
    }
    return "the questions do not end: \(try store.inMemory(Model(model.description)).plan(allowsLoss: false).questions)"
  }

  /// Rows of an entity that is abstract now, and values of an attribute that is transient now, can only stay.
  private static func isWithoutAnswer(
    _ question: MigrationPlan.Step, _ episode: Episode, _ model: PlainModel
  ) -> Bool {
    // Duplicates are a matter of the data.
    if case .impossible = question.risk { return true }
    let parts = question.subject.split(separator: ".").map(String.init)
    if parts.count == 1 { return model.entities.contains { $0.name == parts[0] || $0.formerNames.contains(parts[0]) } }
    let owners = model.entities.filter { $0.name == parts[0] }
    return owners.contains { owner in
      model.properties(owner.id).contains { $0.name == parts[1] && $0.isTransient }
        || isInUse(parts[1], owner, model)
    }
  }

  /// A property that is something else than its name tells has no line that says what becomes of the former one.
  private static func isInUse(_ name: String, _ owner: PlainEntity, _ model: PlainModel) -> Bool {
    owner.properties.contains { $0.formerNames.contains(name) || $0.name == name && !$0.formerNames.isEmpty }
  }

  // MARK: Following

  private static func follow(_ answer: String, _ model: inout PlainModel) -> Bool {
    let text = answer.lowercased().contains("write ") ? answer : ""
    if let (names, place) = parts(of: text, #""removed": [""#, #""] in "#) {
      guard place != "the" else {
        model.removed.append(names)
        return true
      }
      guard let entity = model.entities.first(where: { $0.name == place }) else { return false }
      model[entity.id].removed.append(names)
      return true
    }
    if let subject = word(after: #""convert": "lossy" at "#, in: text), let id = property(subject, model) {
      model.change(id) { $0.isLossy = true }
      // A loss without a value in its place has the same question again.
      if model.property(id)?.attribute?.isOptional == false { fill(id, &model) }
      return true
    }
    if let subject = word(after: #""backfill" or "default" at "#, in: text), let id = property(subject, model) {
      fill(id, &model)
      return true
    }
    for opener in [#"a "default" at "#, #"another "backfill" at "#] {
      guard let subject = word(after: opener, in: text), let id = property(subject, model) else { continue }
      if opener.hasPrefix("another") { model.change(id) { $0.attribute?.backfill = nil } }
      fill(id, &model)
      return true
    }
    return false
  }

  private static func fill(_ id: Int, _ model: inout PlainModel) {
    var random = SeededGenerator(seed: UInt64(id))
    guard let property = model.property(id), let type = property.attribute?.type, property.filling == nil else {
      return
    }
    let constant = PlainValues.constant(type, model.enums, &random)
    model.change(id) {
      if let constant, PlainValues.breaks(constant, $0.attribute?.rules ?? AttributeRules()) {
        $0.attribute?.rules = AttributeRules()
      }
      if constant == nil { $0.attribute?.isOptional = true } else { $0.attribute?.defaultValue = constant }
    }
  }

  private static func property(_ subject: String, _ model: PlainModel) -> Int? {
    let parts = subject.split(separator: ".").map(String.init)
    guard parts.count == 2, let entity = model.entities.first(where: { $0.name == parts[0] }) else { return nil }
    return model.properties(entity.id).first { $0.name == parts[1] }?.id
  }

  private static func parts(of text: String, _ opener: String, _ middle: String) -> (String, String)? {
    guard let name = text.firstRange(of: opener).map({ text[$0.upperBound...].prefix { $0 != "\"" } }),
      let place = word(after: middle, in: text)
    else { return nil }
    return (String(name), place)
  }

  private static func word(after opener: String, in text: String) -> String? {
    text.firstRange(of: opener).map { range in
      String(text[range.upperBound...].prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" })
    }
    .map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
  }
}
