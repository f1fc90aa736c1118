import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

/// Reads what has changed at a server since the moment that a replica knows, as it is at a later moment: a part of at most
/// some bytes, from a place on.
///
/// A part is complete in itself: what its objects require is in it, or was in an earlier one. A link between two objects is
/// sent with the one that comes later, so a replica has both of them then.
struct StateReading {
  private let request: PullRequest
  private let now: HistoryToken
  private let container: PersistentContainer
  private let sizes: MessageSizes
  private let scope: ResolvedScope?
  /// The objects of the scope at the later moment.
  private var inScope: ScopeContents?
  private let model: Model
  private let view: MomentView
  private let order: AnswerOrder
  private var answer: PullAnswer
  private var size = 0
  /// What has changed; nil if all is read.
  private var changes: ChangedObjects?
  private var lists: Set<ListName> = []
  /// The objects in this part.
  private var sent: Set<Int64> = []
  /// The whole objects in this part, by entity.
  private var whole: [Int: [Int64]] = [:]
  /// The properties of objects in earlier parts that lead to an object in this one.
  private var late: [Int64: (entity: Int, names: Set<String>)] = [:]

  /// The number of objects that are loaded at a time.
  private static let chunk = 256

  init(
    _ request: PullRequest, _ sequence: Int64, _ now: HistoryToken, at time: Int64, _ container: PersistentContainer,
    _ scope: ResolvedScope? = nil, sizes: MessageSizes
  ) throws {
    self.scope = scope
    self.request = request
    self.now = now
    self.container = container
    self.sizes = sizes
    model = container.model
    order = AnswerOrder(model)
    view = MomentView(try container.newContext(asOf: now))
    answer = PullAnswer(
      question: .init(
        model: request.model, since: request.since, also: request.also, known: request.known, moment: request.moment,
        place: request.place),
      token: now.description, now: time, number: request.replica, sequence: sequence)
    answer.scope = scope?.digest ?? ""
  }

  mutating func run() throws -> PullAnswer {
    // A place that another version of the model has given means something else here.
    guard request.place == .start || request.place.order == order.identity else { throw SyncError.expired }
    if !request.isWhole && !request.since.isEmpty && answer.scope == request.known {
      changes = try .read(for: request, until: now, in: container, view, scope)
    }
    answer.isWhole = changes == nil
    // The former parts were of an answer that was not whole, and had what has changed only.
    if answer.isWhole && !request.isWhole && !request.moment.isEmpty { throw SyncError.expired }
    if let changes {
      inScope = changes.inScope
      try readChanged(changes)
    } else {
      inScope = try scope?.contents(in: view.context)
      try readAll()
    }
    try addLate()
    return answer
  }

  /// Whether a replica gets an object.
  private func isSent(_ key: Int64) -> Bool { inScope?.contains(key) ?? true }

  // MARK: Parts

  /// Reads all objects from the place on.
  private mutating func readAll() throws {
    var place = request.place
    while place.group < order.roots.count {
      let root = order.roots[place.group]
      let start = place.key
      while case let keys = try view.context.keys(of: .all(root, after: place.key, atMost: Self.chunk)), !keys.isEmpty {
        try view.load(Dictionary(keys.filter(isSent).map { ($0, root) }) { first, _ in first })
        for key in keys {
          if isFull {
            answer.ranges.append(.init(entity: root, after: start, through: place.key))
            answer.next = order.marked(place)
            return
          }
          place.key = key
          if isSent(key), let object = try view.object(key, of: root) { try add(object, nil, place) }
        }
        if keys.count < Self.chunk { break }
      }
      answer.ranges.append(.init(entity: root, after: start, through: .max))
      place = AnswerPlace(group: place.group + 1, key: 0)
    }
  }

  /// Reads the changed objects from the place on, and at last the keys that are gone.
  private mutating func readChanged(_ changes: ChangedObjects) throws {
    let places = changes.properties.map { (order.place(of: $0.key, $0.value.entity), $0.value.entity) }
      .filter { $0.0 > request.place }.sorted { $0.0 < $1.0 }
    var last = request.place
    var loaded = 0
    for (number, (place, entity)) in places.enumerated() {
      if isFull {
        answer.next = order.marked(last)
        return
      }
      if number == loaded {
        loaded = min(places.count, number + Self.chunk)
        try view.load(Dictionary(places[number..<loaded].map { ($0.0.key, $0.1) }) { first, _ in first })
      }
      last = place
      if let object = try view.object(place.key, of: entity) {
        try add(object, changes.properties[place.key]?.names, place)
      } else {
        answer.gone.append(place.key)
      }
    }
    addGone(changes)
  }

  private mutating func addGone(_ changes: ChangedObjects) {
    var last = AnswerPlace(group: order.roots.count, key: 0)
    if request.place > last { last = request.place }
    for key in changes.gone.sorted() where key > last.key {
      if isFull {
        answer.next = order.marked(last)
        return
      }
      answer.gone.append(key)
      last.key = key
      size += 8
    }
    answer.left = changes.left.sorted()
  }

  /// Whether the part has something, and no more fits in.
  private var isFull: Bool { size >= sizes.part && !(sent.isEmpty && answer.gone.isEmpty) }

  /// Adds an object, and what it requires of what comes later.
  private mutating func add(_ object: ManagedObject, _ names: Set<String>?, _ place: AnswerPlace) throws {
    guard sent.insert(object._key).inserted else { return }
    var rest: [(object: ManagedObject, names: Set<String>?)] = [(object, names)]
    while let (object, names) = rest.popLast() {
      try add(object, names)
      for (key, entity) in try required(by: object, names) where order.place(of: key, entity) > place {
        if let changes {
          guard let known = changes.properties[key], known.names == nil else { continue }
        }
        guard sent.insert(key).inserted, let partner = try view.object(key, of: entity) else { continue }
        rest.append((partner, nil))
      }
    }
  }

  /// The partners without which an object does not obey the rules.
  private func required(by object: ManagedObject, _ names: Set<String>?) throws -> [(Int64, Int)] {
    var keys: [(Int64, Int)] = []
    for case let relationship? in view.entity(of: object).properties.map(\.relationship)
    where relationship.isStored && names?.contains(relationship.name) != false {
      let least = relationship.isToMany ? relationship.minimumCount ?? 0 : relationship.isRequired ? 1 : 0
      if least == 0 { continue }
      keys += try view.partners(of: object, relationship).filter(isSent).prefix(least).map {
        ($0, relationship.destination)
      }
    }
    return keys
  }

  private mutating func add(_ object: ManagedObject, _ names: Set<String>?) throws {
    let entity = view.entity(of: object)
    var state = ObjectState(key: object._key, entity: entity.index, isWhole: names == nil, values: [], lists: [])
    for property in entity.properties where names?.contains(property.name) != false {
      if var value = try view.rowValue(of: property, object) {
        if property.relationship != nil, case .integer(let key) = value, !isSent(key) { value = .null }
        state.values.append(.init(property: property.index, value: try value.named(above: sizes.inline)))
      }
      if let relationship = property.relationship { try addLinks(of: object, relationship, to: &state) }
    }
    if state.isWhole { whole[entity.index, default: []].append(object._key) }
    answer.states.append(state)
    size += state.size
  }

  private mutating func addLinks(
    of object: ManagedObject, _ relationship: Relationship, to state: inout ObjectState
  ) throws {
    if relationship.joinTable != nil {
      let members = try view.partners(of: object, relationship).filter(isSent)
      state.lists.append(.init(property: relationship.index, members: members))
      if relationship.isOrdered { add(order: relationship, object._key, members) }
      try addLateOrders(of: members, relationship)
    } else if relationship.home.isColumn {
      guard let inverse = model.inverse(of: relationship), inverse.isOrdered,
        let key = try view.partners(of: object, relationship).first, isSent(key),
        let owner = try view.object(key, of: inverse.entity)
      else { return }
      add(order: inverse, key, try view.partners(of: owner, inverse).filter(isSent))
    } else if relationship.home == .inverseColumn, relationship.isOrdered {
      add(order: relationship, object._key, try view.partners(of: object, relationship).filter(isSent))
    }
  }

  /// Adds the orders of lists in earlier parts that get a member by a list in this one.
  private mutating func addLateOrders(of owners: [Int64], _ relationship: Relationship) throws {
    guard request.place > .start, let inverse = model.inverse(of: relationship), inverse.isOrdered else { return }
    for key in owners where order.place(of: key, inverse.entity) <= request.place {
      guard let owner = try view.object(key, of: inverse.entity) else { continue }
      add(order: inverse, key, try view.partners(of: owner, inverse).filter(isSent))
    }
  }

  private mutating func add(order relationship: Relationship, _ owner: Int64, _ members: [Int64]) {
    guard members.count > 1, lists.insert(ListName(relationship, owner)).inserted else { return }
    answer.orders.append(
      ChangeSet.OrderChange(
        entity: relationship.entity, property: relationship.index, owner: owner, members: members))
    size += members.count * 8
  }

  // MARK: Links to earlier parts

  /// Adds what leads from objects in earlier parts to the whole objects in this one.
  private mutating func addLate() throws {
    guard request.place > .start else { return }
    for (entity, keys) in whole.sorted(by: { $0.key < $1.key }) {
      for reference in model.referencesWithoutInverse(to: entity) {
        for holder in try view.holders(ofAny: keys, reference) {
          noteLate(holder, reference.entity, reference.property)
        }
      }
      let found = try view.objects(keys)
      for case let relationship? in model.entities[entity].properties.map(\.relationship) {
        guard relationship.home == .inverseColumn, let inverse = model.inverse(of: relationship) else { continue }
        for key in keys {
          guard let object = found[key] else { continue }
          for partner in try view.partners(of: object, relationship) {
            noteLate(partner, inverse.entity, inverse.index)
          }
        }
      }
    }
    for (key, holder) in late.sorted(by: { $0.key < $1.key }) {
      if let object = try view.object(key, of: holder.entity) { try add(object, holder.names) }
    }
  }

  private mutating func noteLate(_ holder: Int64, _ entity: Int, _ property: Int) {
    guard isSent(holder), !sent.contains(holder), order.place(of: holder, entity) <= request.place,
      changes.map({ $0.properties[holder] != nil }) ?? true
    else { return }
    late[holder, default: (entity, [])].names.insert(model.entities[entity].properties[property].name)
  }
}

extension MomentView {
  /// The keys of the objects that lead to any of some objects by a relationship without an inverse.
  fileprivate func holders(ofAny keys: [Int64], _ reference: Model.OneWayReference) throws -> Set<Int64> {
    let path = PropertyPath(variable: 0).appending(reference.property)
    let isToMany = context.model.relationship(reference.entity, reference.property)?.isToMany == true
    var found: Set<Int64> = []
    var rest = keys[...]
    while !rest.isEmpty {
      let values = rest.prefix(256).map { StoredValue.integer($0) }
      rest = rest.dropFirst(256)
      let predicate: QueryPredicate =
        isToMany
        ? .quantified(.any, path, variable: 1, .isIn(.path(PropertyPath(variable: 1)), values, .integer))
        : .isIn(.path(path), values, .integer)
      found.formUnion(try context.keys(of: StoreRequest(entity: reference.entity, predicate: predicate)))
    }
    return found
  }
}

extension ObjectState {
  /// About the number of bytes in a message.
  fileprivate var size: Int {
    values.reduce(12) { $0 + 2 + $1.value.size } + lists.reduce(0) { $0 + 3 + $1.members.count * 8 }
  }
}
