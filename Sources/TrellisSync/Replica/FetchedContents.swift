import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

// MARK: - Contents that are received

extension Replica {
  private typealias Named = (state: ObjectState, property: Int, content: ExternalFile)

  func arrivedContents() throws -> ArrivedContents {
    try ArrivedContents(StoreNote.ofReplica + "arrived.", in: plain)
  }

  /// The next request for data that an answer names, or that parts before it name; nil if all of it is here.
  ///
  /// - Parameter size: About the greatest number of bytes in a message; nil for the usual one.
  func nextFetch(for answer: PullAnswer, atMost size: Int? = nil) throws -> ContentRequest? {
    let (_, record) = try registeredState()
    var places = try missing(in: [answer])
    // Parts that are kept were complete, but an object may have other data since.
    if places.isEmpty { places = try missing(in: stagedParts(record).map(\.answer)) }
    if places.isEmpty { return nil }
    return ContentRequest(
      replica: record.number, model: answer.question.model, moment: answer.token, size: size ?? sizes.part,
      places: places)
  }

  /// The places of data that parts of an answer name and that is not here, as many as a request takes.
  func missing(in parts: [PullAnswer]) throws -> [ContentRequest.Place] {
    let named = parts.flatMap(Self.named)
    if named.isEmpty { return [] }
    let arrived = try arrivedContents()
    let own = try OwnContents(plain, named.map(\.state))
    var seen: Set<ExternalFile> = []
    var places: [ContentRequest.Place] = []
    for (state, property, content) in named where places.count < ContentRequest.mostPlaces {
      guard !arrived.isComplete(content), try own.value(state, property, content) == nil, seen.insert(content).inserted
      else { continue }
      places.append(
        .init(key: state.key, entity: state.entity, property: property, place: arrived.place(in: content)))
    }
    return places
  }

  /// Keeps the pieces that were asked for.
  func receive(_ answer: ContentAnswer, to request: ContentRequest) throws {
    var arrived = try arrivedContents()
    let wanted = Set(request.places.map(\.place.content))
    let notes = answer.pieces.filter { wanted.contains($0.content) }.compactMap { arrived.add($0) }
    if !notes.isEmpty { try save(notes + [arrived.change]) }
  }

  /// Parts of an answer with the data that they name; nil if some of it is not here.
  func completed(_ parts: [PullAnswer], _ arrived: ArrivedContents) throws -> [PullAnswer]? {
    let named = parts.flatMap(Self.named)
    if named.isEmpty { return parts }
    let own = try OwnContents(plain, named.map(\.state))
    var values: [ExternalFile: StoredValue] = [:]
    for (state, property, content) in named where values[content] == nil {
      if let value = try own.value(state, property, content) {
        values[content] = value
      } else if arrived.isComplete(content) {
        guard let bytes = try arrived.bytes(of: content) else {
          // They are fetched again.
          try save(arrived.removal())
          throw SyncError.refused("data has another digest")
        }
        values[content] = .blob(bytes)
      }
    }
    guard named.allSatisfy({ values[$0.content] != nil }) else { return nil }
    return parts.map { part in
      var part = part
      for state in part.states.indices {
        for place in part.states[state].values.indices {
          guard case .file(let content) = part.states[state].values[place].value, let value = values[content] else {
            continue
          }
          part.states[state].values[place].value = value
        }
      }
      return part
    }
  }

  /// The data that an answer names, where it is named.
  private static func named(in answer: PullAnswer) -> [Named] {
    answer.states.flatMap { state in
      state.values.compactMap { value in
        if case .file(let content) = value.value { (state, value.property, content) } else { nil }
      }
    }
  }
}

/// The data that objects of a replica have already, such as what it has sent itself.
private struct OwnContents {
  private let view: MomentView

  init(_ container: PersistentContainer, _ states: [ObjectState]) throws {
    view = MomentView(container.newContext())
    let model = container.model
    let known = states.filter { model.entities.indices.contains($0.entity) }
    try view.load(Dictionary(known.map { ($0.key, $0.entity) }) { first, _ in first })
  }

  /// The value of a property, if it is the data with the name; nil otherwise.
  func value(_ state: ObjectState, _ property: Int, _ content: ExternalFile) throws -> StoredValue? {
    guard let property = view.context.model.property(state.entity, property), property.attribute != nil,
      let object = try view.object(state.key, of: state.entity), view.entity(of: object).index == state.entity,
      let value = try view.rowValue(of: property, object), value.isSame(as: .file(content))
    else { return nil }
    return value
  }
}
