import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// What a refusal tells to write can be written into the model, and is enough.
@Suite("The advice of refused migrations") struct AdviceTests {
  private static let episodes: Int = TestSettings.number("TRELLIS_MIGRATION_EPISODES", or: 20)
  private static let first: UInt64 = TestSettings.number("TRELLIS_MIGRATION_SEED", or: 1)

  @Test("a model with the lines that the questions name has no questions, and the store opens")
  func followed() throws {
    try run("chains of advice") { seed in
      guard let episode = Episode(seed: seed, dropsAnswers: true, .file), episode.isRefused else { return nil }
      return (episode.pair, { try Self.fault(MigratedFile(episode.graph), episode.pair.current, seed) })
    }
  }

  @Test("a model that is a former one again opens the store with another version and the lines that the questions name")
  func returned() throws {
    try run("returns") { seed in
      guard let episode = Episode(seed: seed, dropsAnswers: false, .file), !episode.isRefused else { return nil }
      return (
        episode.pair,
        {
          let store = try MigratedFile(episode.graph)
          let current = try Model(episode.pair.current.description)
          _ = try store.open(current)
          // What only differs in what is not stored can be opened by both.
          if store.inMemory(current).migration.isIdentity { return nil }
          let code = #expect(throws: StoreError.self) { try store.open(store.stored) }?.code
          if code != .newerModel { return "the former model is refused with \(code?.rawValue ?? "nothing")" }
          var former = episode.pair.stored
          former.version = "3"
          return try Self.fault(store, former, seed)
        }
      )
    }
  }

  private func run(
    _ what: String, _ make: (UInt64) throws -> (pair: RandomModelPair, fault: () throws -> String?)?
  ) throws {
    var (valid, failed) = (0, 0)
    for seed in Self.first..<(Self.first + UInt64(Self.episodes)) {
      guard let (pair, find) = try make(seed) else { continue }
      valid += 1
      let fault: String?
      do { fault = try find() } catch { fault = "\(error)" }
      guard let fault else { continue }
      failed += 1
      if failed < 10 { Issue.record("seed \(seed) \(pair.edits):\n  \(fault)") }
    }
    print("\(valid) \(what), \(failed) failures")
    #expect(failed == 0)
    #expect(valid * 12 > Self.episodes)
  }

  /// Follows the questions of a store one by one until there are none, and opens it.
  private static func fault(_ store: MigratedFile, _ model: PlainModel, _ seed: UInt64) throws -> String? {
    var model = model
    var random = SeededGenerator(seed: seed)
    var told: [String] = []
    for _ in 0..<40 {
      let plan = try store.plan(Model(model.description))
      // Duplicates are a matter of the data.
      let question = plan?.questions.first { if case .asks = $0.risk { true } else { false } }
      guard let question, case .asks(let asked) = question.risk else {
        if plan?.questions.isEmpty ?? true { _ = try store.open(Model(model.description)) }
        return nil
      }
      told.append("\(question.subject): \(question.text). \(asked.answer)")
      guard follow(asked.answer, &model, &random) else { return "nothing can be followed in \(told)" }
      guard RandomModelPair.isValid(model) else {
        return
          "not valid any more after \(told)\n\(RandomModelPair.messages(model))\n\(model.description.canonicalJSON())"
      }
    }
    return "the questions do not end: \(told)\n\(model.description.canonicalJSON())"
  }

  // MARK: Following

  /// Writes one of the lines that an answer names.
  private static func follow(_ answer: String, _ model: inout PlainModel, _ random: inout SeededGenerator) -> Bool {
    let text = answer.lowercased().contains("write ") ? answer : ""
    if random.below(2) == 0, rename(text, &model) { return true }
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
      return true
    }
    if let subject = word(after: #""optional": true at "#, in: text), let id = property(subject, model) {
      model.change(id) { $0.attribute?.isOptional = true }
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

  /// Writes a former name, if an answer names one.
  private static func rename(_ text: String, _ model: inout PlainModel) -> Bool {
    if let (name, place) = parts(of: text, #""renamedFrom": ""#, #"at the case of "#) {
      guard let number = model.enums.firstIndex(where: { $0.name == place }) else { return false }
      model.enums[number].cases[0].renamedFrom.append(name)
      return true
    }
    guard let (name, place) = parts(of: text, #""renamedFrom": ""#, #"" at "#) else { return false }
    if let id = property(place, model) {
      model.change(id) { $0.formerNames.append(name) }
      return true
    }
    guard let entity = model.entities.first(where: { $0.name == place }) else { return false }
    model[entity.id].formerNames.append(name)
    return true
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
    let parts = subject.split(separator: ".", maxSplits: 1).map(String.init)
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
      let rest = text[range.upperBound...]
      let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
      let field = rest[name.endIndex...]
      let words = ", under \"fields\" for \""
      return field.hasPrefix(words) ? "\(name).\(field.dropFirst(words.count).prefix { $0 != "\"" })" : String(name)
    }
    .map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
  }
}
