import TrellisModel
import TrellisTestSupport

/// Models in a row, each made from the one before by known changes. As a careful author does, each tells all former names,
/// and consents to the loss of all that any model before it had.
struct RandomSeries {
  let first: PlainModel
  private(set) var pairs: [RandomModelPair] = []
  private var maker: RandomModel

  /// Nil if the seed makes no valid model.
  init?(seed: UInt64) {
    maker = RandomModel(seed: seed)
    maker.make()
    first = maker.model
    guard RandomModelPair.isValid(first) else { return nil }
  }

  /// Given models, with the answers that they have.
  init(_ models: [PlainModel]) {
    maker = RandomModel(seed: 1)
    first = models.first ?? PlainModel()
    pairs = zip(models, models.dropFirst()).map { RandomModelPair($0, $1, seed: 1) }
  }

  var last: PlainModel { pairs.last?.current ?? first }

  var models: [PlainModel] { [first] + pairs.map(\.current) }

  /// A model with the origins of its properties in one before it.
  func model(_ number: Int, from start: Int) -> PlainModel {
    start < number ? Self.seen(pairs[number - 1].current, pairs[start..<(number - 1)]) : models[number].asItself
  }

  private static func seen(_ model: PlainModel, _ between: ArraySlice<RandomModelPair>) -> PlainModel {
    var model = model
    for property in model.entities.flatMap(\.properties) {
      var origins = property.origins
      for pair in between.reversed() { origins = origins.flatMap { pair.current.property($0)?.origins ?? [] } }
      model.change(property.id) { $0.origins = origins }
    }
    for (name, cases) in model.caseOrigins {
      model.caseOrigins[name] = cases.compactMapValues { origin in
        var origin: String? = origin
        for pair in between.reversed() { origin = origin.flatMap { pair.current.caseOrigins[name]?[$0] } }
        return origin
      }
    }
    return model
  }

  /// Adds a model.
  ///
  /// - Parameter edit: changes the last model.
  /// - Returns: whether the changes make a valid model in which every name stands for what was meant, from whatever model
  ///   before.
  mutating func append(_ edit: (inout ModelEdits) -> Void) -> Bool {
    var edits = ModelEdits(last, maker)
    edit(&edits)
    maker.random = edits.maker.random
    maker.naming = edits.maker.naming
    guard var pair = RandomModelPair(edits) else { return false }
    for (start, model) in models.dropLast().enumerated() {
      pair.addConsents(toLossesOf: model, seen: Self.seen(pair.current, pairs[start...]))
    }
    guard RandomModelPair.isValid(pair.current) else { return false }
    for (start, model) in models.enumerated() {
      guard RandomModelPair.isMeant(model, Self.seen(pair.current, pairs[start...])) else { return false }
    }
    pairs.append(pair)
    return true
  }

  /// The links of a model, as `Entry.tags`, of which a jump from one before it cannot bring what the models in between
  /// bring:
  /// - An inverse was added, and then the first end was removed. Without the model that had both, the inverse is new.
  /// - References may lead to nothing now, and a model in between could not store such ones: it did not allow them, or the
  ///   other end stored the link.
  func ambiguousLinks(of number: Int, from start: Int) -> Set<String> {
    let jump = model(number, from: start)
    return Set(
      jump.links.filter { link in
        var steps = [link.id]
        var keepsDangling = true
        for pair in pairs[start..<number].reversed() {
          keepsDangling = keepsDangling && steps.allSatisfy { Self.keepsDangling($0, pair.current, pair.stored) }
          steps = steps.flatMap { Self.sources($0, pair.current, pair.stored).map(\.first.id) }
        }
        return Set(steps) != Set(Self.sources(link.id, jump, models[start]).map(\.first.id))
          || keepsDangling != Self.keepsDangling(link.id, jump, models[start])
      }
      .map { link in "\(jump.owner(link.id).map { jump[$0].name } ?? "").\(link.name)" })
  }

  /// Whether references to nothing stay in one step: the link is stored at the same end.
  private static func keepsDangling(_ link: Int, _ current: PlainModel, _ stored: PlainModel) -> Bool {
    guard let end = current.property(link), current.isLeftAlone(end) else { return false }
    return sources(link, current, stored).allSatisfy { !$0.isReversed && stored.isLeftAlone($0.first) }
  }

  /// The stored links, by their first ends, that a current link continues, and whether it has those ends second.
  private static func sources(
    _ link: Int, _ current: PlainModel, _ stored: PlainModel
  ) -> [(first: PlainProperty, isReversed: Bool)] {
    guard let end = current.property(link) else { return [] }
    let other = end.link?.inverse.flatMap { $0 == link ? nil : current.property($0) }
    let isSecond = end.origins.isEmpty
    let origins = isSecond ? other?.origins ?? [] : end.origins
    return origins.compactMap { stored.property($0) }.filter { $0.link != nil && !$0.isTransient }
      .map { origin in
        let first = stored.firstEnd(origin)
        return (first, (first.id != origin.id) != isSecond)
      }
  }
}
