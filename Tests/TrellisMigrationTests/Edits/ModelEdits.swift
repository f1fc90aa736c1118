import TrellisModel
import TrellisTestSupport

/// Changes a model by chance. Identities tell what became of what.
struct ModelEdits {
  enum Edit: String, CaseIterable {
    case addAttribute, addLink, addEntity, renameEntity, renameProperty, renameBothEnds, swapEntities, swapProperties
    case reuseName, takeName, becomeMany, addInverse, removeKey, addKey, removeIndex, addIndex, changeFlags,
      changeRules, addCase
    case groupAttribute, ungroupAttribute
    case reorder, changeValueRules, renameCase, reorderCases, becomeOptional, becomeOrdered
    // What follows may lose something, or has another result in one step than in many.
    case removeProperty, removeEntity, changeType, becomeRequired, becomeOne, becomeUnordered, removeInverse
    case splitEnds, changeEndOptionality, changeParent, insertParent, changeAbstract, moveUp, moveDown, uniteSiblings
    case changeDestination, replaceProperty, becomeStored, joinEnds
    case removeCase, swapRawValues, takeRawValue, changeRawType, changeUnknown, renameEnum

    /// Whether the result of several models in a row is that of the last one.
    var isForChains: Bool {
      // A key that is added only now needs values that were unique from the start.
      if self == .addKey { return false }
      let last = Edit.allCases.firstIndex(of: .becomeOrdered) ?? 0
      return (Edit.allCases.firstIndex(of: self) ?? 0) <= last || self == .removeProperty || self == .removeEntity
        || self == .insertParent
    }
  }

  let stored: PlainModel
  var maker: RandomModel
  private(set) var log: [String] = []
  private(set) var isChain = false

  private var model: PlainModel {
    get { maker.model }
    set { maker.model = newValue }
  }

  /// Begins with the stored model: every property continues itself.
  init(_ stored: PlainModel, _ maker: RandomModel) {
    self.stored = stored
    self.maker = maker
    self.maker.model = stored.asItself
  }

  mutating func edit(_ count: Int, isChain: Bool) {
    self.isChain = isChain
    let all = Edit.allCases.filter { !isChain || $0.isForChains }
    edit(count) { all[$0.below(all.count)] }
  }

  /// Makes changes that may be part of a series, each of them as often as its share of all says.
  mutating func edit(_ count: Int, among shares: [(edit: Edit, share: Int)]) {
    isChain = true
    let all = shares.reduce(0) { $0 + $1.share }
    edit(count) { random in
      var place = random.below(all)
      return shares.first { entry in
        defer { place -= entry.share }
        return place < entry.share
      }?.edit ?? .addAttribute
    }
  }

  private mutating func edit(_ count: Int, _ choice: (inout SeededGenerator) -> Edit) {
    var done = 0
    for _ in 0..<(count * 8) where done < count {
      let edit = choice(&maker.random)
      let before = model
      if apply(edit) && !model.entities.isEmpty {
        log.append(edit.rawValue)
        done += 1
      } else {
        model = before
      }
    }
    if maker.chance(40) { maker.model.derivations = maker.chance(30) ? 0 : 1 + maker.random.below(60) }
  }

  // MARK: Choices

  private mutating func entity() -> PlainEntity? { maker.some(model.entities) }

  private mutating func attribute(_ isWanted: (PlainProperty) -> Bool = { _ in true }) -> PlainProperty? {
    maker.some(model.entities.flatMap(\.properties).filter { $0.attribute != nil && !$0.isTransient && isWanted($0) })
  }

  private mutating func end(_ isWanted: (PlainLink) -> Bool) -> PlainProperty? {
    maker.some(
      model.entities.flatMap(\.properties).filter { $0.link.map(isWanted) ?? false && !$0.isTransient })
  }

  private mutating func rename(_ id: Int, to name: String) {
    let stored = stored
    model.change(id) { property in
      for origin in property.origins {
        guard let old = stored.property(origin)?.name, old == property.name, old != name,
          !property.formerNames.contains(old)
        else { continue }
        property.formerNames.insert(old, at: 0)
      }
      property.formerNames.removeAll { $0 == name }
      property.name = name
    }
  }

  private mutating func rename(entity id: Int, to name: String) {
    let old = model[id].name
    if stored.contains(id), stored[id].name == old, !model[id].formerNames.contains(old) {
      model[id].formerNames.insert(old, at: 0)
    }
    model[id].formerNames.removeAll { $0 == name }
    model[id].name = name
  }

  // MARK: Edits

  private mutating func apply(_ edit: Edit) -> Bool {
    switch edit {
    case .addAttribute: return addAttribute()
    case .addLink:
      maker.addLink()
      return true
    case .addEntity: return addEntity()
    case .renameEntity:
      guard let entity = entity() else { return false }
      rename(entity: entity.id, to: maker.naming.entity(&maker.random))
      return true
    case .renameProperty: return renameProperty()
    case .renameBothEnds: return renameBothEnds()
    case .groupAttribute:
      guard let property = attribute({ !$0.name.contains(".") && $0.attribute?.isExternal == false }),
        let owner = model.owner(property.id)
      else { return false }
      rename(property.id, to: maker.fieldName(in: owner))
      return true
    case .ungroupAttribute:
      guard let property = attribute({ $0.name.contains(".") }) else { return false }
      rename(property.id, to: maker.naming.property(&maker.random))
      return true
    case .swapEntities: return swapEntities()
    case .swapProperties: return swapProperties()
    case .reuseName: return reuseName()
    case .takeName: return takeName()
    case .becomeMany, .becomeOne: return changeCount(edit == .becomeMany)
    case .becomeOrdered, .becomeUnordered:
      guard let end = end({ $0.isToMany && $0.isOrdered == (edit == .becomeUnordered) }) else { return false }
      model.change(end.id) { $0.link?.isOrdered = edit == .becomeOrdered }
      return true
    case .addInverse: return addInverse()
    case .removeInverse, .splitEnds: return removeInverse(keepsBoth: edit == .splitEnds)
    case .joinEnds: return joinEnds()
    case .changeEndOptionality:
      guard let end = end({ !$0.isToMany }) else { return false }
      model.change(end.id) { $0.link?.isOptional.toggle() }
      return true
    case .removeKey, .addKey, .removeIndex, .addIndex: return changeKeys(edit)
    case .changeFlags: return changeFlags()
    case .changeRules: return changeRules()
    case .addCase:
      let number = maker.naming.id()
      model.enums[0].cases.append(.init("case\(number)", .text("case\(number)")))
      return true
    case .renameCase, .reorderCases, .removeCase, .swapRawValues, .takeRawValue, .changeRawType, .changeUnknown,
      .renameEnum:
      return changeEnum(edit)
    case .changeValueRules:
      guard let property = attribute({ $0.attribute.map { RandomModel.hasRules($0.type) } ?? false }),
        let type = property.attribute?.type
      else { return false }
      let rules = maker.chance(20) ? AttributeRules() : maker.rules(of: type)
      model.change(property.id) { $0.attribute?.rules = rules }
      return true
    case .reorder:
      maker.reorder()
      return true
    case .becomeOptional, .becomeRequired:
      guard let property = attribute({ $0.attribute?.isOptional == (edit == .becomeRequired) }) else { return false }
      model.change(property.id) { $0.attribute?.isOptional = edit == .becomeOptional }
      return true
    case .changeType: return changeType()
    case .removeProperty:
      guard let property = maker.some(model.entities.flatMap(\.properties)) else { return false }
      // A name that was used again would be taken for the removed property.
      guard !model.entities.flatMap(\.properties).contains(where: { property.formerNames.contains($0.name) }) else {
        return false
      }
      model.remove(property: property.id)
      return true
    case .removeEntity: return removeEntity()
    case .changeParent: return changeParent()
    case .insertParent: return insertParent()
    case .changeAbstract:
      guard let entity = entity() else { return false }
      model[entity.id].isAbstract.toggle()
      return true
    case .moveUp: return moveUp()
    case .moveDown: return moveDown()
    case .uniteSiblings: return uniteSiblings()
    case .changeDestination: return changeDestination()
    case .replaceProperty: return replaceProperty()
    case .becomeStored:
      guard let property = maker.some(model.entities.flatMap(\.properties).filter(\.isTransient)) else { return false }
      model.change(property.id) { $0.isTransient = false }
      return true
    }
  }

  private mutating func addAttribute() -> Bool {
    guard let entity = entity() else { return false }
    maker.addAttribute(to: entity.id, named: maker.naming.property(&maker.random))
    return true
  }

  private mutating func addEntity() -> Bool {
    let entity = maker.addEntity()
    maker.addAttribute(to: entity)
    if maker.chance(50) { maker.addLink(from: entity) }
    return true
  }

  private mutating func renameProperty() -> Bool {
    guard let property = maker.some(model.entities.flatMap(\.properties)) else { return false }
    if maker.chance(20), !property.name.contains("."), property.name.lowercased() == property.name,
      property.origins.count < 2
    {
      // Only the case differs.
      let name = property.name.prefix(1) + property.name.dropFirst().prefix(1).uppercased() + property.name.dropFirst(2)
      rename(property.id, to: String(name))
    } else {
      rename(property.id, to: maker.naming.property(&maker.random))
    }
    return true
  }

  private mutating func renameBothEnds() -> Bool {
    guard let end = end({ $0.inverse != nil }), let inverse = end.link?.inverse else { return false }
    for id in Set([end.id, inverse]).sorted() { rename(id, to: maker.naming.property(&maker.random)) }
    return true
  }

  private mutating func swapEntities() -> Bool {
    guard let first = entity(), let second = entity(), first.id != second.id, first.formerNames.isEmpty,
      second.formerNames.isEmpty, stored.contains(first.id), stored.contains(second.id)
    else { return false }
    rename(entity: first.id, to: second.name)
    rename(entity: second.id, to: first.name)
    return true
  }

  private mutating func swapProperties() -> Bool {
    guard let entity = entity() else { return false }
    let fit = entity.properties.filter { $0.formerNames.isEmpty && $0.origins.count == 1 }
    guard let first = maker.some(fit), let second = maker.some(fit), first.id != second.id else { return false }
    guard (first.link == nil) == (second.link == nil) else { return false }
    rename(first.id, to: second.name)
    rename(second.id, to: first.name)
    return true
  }

  private mutating func reuseName() -> Bool {
    guard let property = maker.some(model.entities.flatMap(\.properties).filter { !$0.origins.isEmpty }),
      property.formerNames.isEmpty, let owner = model.owner(property.id)
    else { return false }
    rename(property.id, to: maker.naming.property(&maker.random))
    if maker.chance(60) {
      maker.addAttribute(to: owner, named: property.name)
    } else {
      maker.addLink(from: owner, named: property.name)
    }
    return true
  }

  /// A property goes, and another one of the entity gets its name.
  private mutating func takeName() -> Bool {
    guard let entity = entity() else { return false }
    let fit = entity.properties.filter { $0.formerNames.isEmpty && $0.origins.count == 1 && !$0.isTransient }
    guard let gone = maker.some(fit), let heir = maker.some(fit), gone.id != heir.id,
      (gone.link == nil) == (heir.link == nil), gone.link?.inverse == nil || gone.link?.inverse != heir.id
    else { return false }
    model.remove(property: gone.id)
    rename(heir.id, to: gone.name)
    return true
  }

  // MARK: Links

  private mutating func changeCount(_ isToMany: Bool) -> Bool {
    guard let end = end({ $0.isToMany != isToMany }) else { return false }
    let isOrdered = isToMany && maker.chance(40)
    model.change(end.id) {
      $0.link?.isToMany = isToMany
      $0.link?.isOrdered = isOrdered
      $0.link?.minimum = nil
      $0.link?.maximum = nil
    }
    return true
  }

  private mutating func addInverse() -> Bool {
    guard let end = end({ $0.inverse == nil }), let link = end.link, let owner = model.owner(end.id) else {
      return false
    }
    var other = PlainProperty(id: maker.naming.id(), origins: [], name: maker.naming.property(&maker.random))
    other.link = maker.link(to: owner)
    other.link?.inverse = end.id
    // One of many would be chosen, and another one without the step in between.
    if isChain { other.link?.isToMany = true }
    if owner == link.destination && !isChain && maker.chance(20) {
      model.change(end.id) { $0.link?.inverse = end.id }
    } else {
      model.change(end.id) { $0.link?.inverse = other.id }
      model[link.destination].properties.append(other)
    }
    return true
  }

  private mutating func removeInverse(keepsBoth: Bool) -> Bool {
    guard let end = end({ $0.inverse != nil }), let inverse = end.link?.inverse else { return false }
    if inverse == end.id || keepsBoth {
      for id in [end.id, inverse] { model.change(id) { $0.link?.inverse = nil } }
    } else {
      model.remove(property: inverse)
    }
    return true
  }

  /// Two one-way relationships become the two ends of one.
  private mutating func joinEnds() -> Bool {
    guard let end = end({ $0.inverse == nil }), let link = end.link, let owner = model.owner(end.id) else {
      return false
    }
    let back = model[link.destination].properties.filter {
      $0.id != end.id && !$0.isTransient && $0.link.map { $0.inverse == nil && $0.destination == owner } ?? false
    }
    guard let other = maker.some(back) else { return false }
    model.change(end.id) { $0.link?.inverse = other.id }
    model.change(other.id) { $0.link?.inverse = end.id }
    return true
  }

  private mutating func changeDestination() -> Bool {
    guard let end = end({ _ in true }), let link = end.link else { return false }
    let related = (model.lineage(link.destination) + model.subtree(link.destination)).filter { $0 != link.destination }
    guard let destination = maker.some(related) else { return false }
    guard link.inverse != end.id else { return false }
    model.change(end.id) { $0.link?.destination = destination }
    if let inverse = link.inverse, let other = model.property(inverse) {
      // The other end follows.
      model[link.destination].properties.removeAll { $0.id == inverse }
      model[destination].properties.append(other)
    }
    return true
  }

  // MARK: Keys and rules

  private mutating func changeKeys(_ edit: Edit) -> Bool {
    guard let entity = entity() else { return false }
    switch edit {
    case .addKey: maker.addUniqueKey(to: entity.id)
    case .addIndex: maker.addIndex(to: entity.id)
    case .removeKey:
      if entity.uniqueKeys.isEmpty { return false }
      model[entity.id].uniqueKeys.removeFirst()
    default:
      if entity.indexes.isEmpty { return false }
      model[entity.id].indexes.removeFirst()
    }
    return true
  }

  private mutating func changeHistory() {
    if maker.chance(50) {
      model.history = maker.history()
    } else if let entity = entity() {
      model[entity.id].history = maker.chance(30) ? nil : maker.history()
    }
    if let property = attribute() { model.change(property.id) { $0.attribute?.isKeptInHistory.toggle() } }
  }

  private mutating func changeFlags() -> Bool {
    if maker.chance(50) {
      changeHistory()
      return true
    }
    guard let property = attribute({ $0.attribute?.type == .data || $0.attribute?.type == .string }) else {
      return false
    }
    model.change(property.id) {
      if $0.attribute?.type == .data { $0.attribute?.isExternal.toggle() } else { $0.attribute?.isSearchable.toggle() }
    }
    return true
  }

  private mutating func changeRules() -> Bool {
    guard let end = end({ _ in true }) else { return false }
    let rule = [DeleteRule.nullify, .cascade, .deny, .noAction][maker.random.below(4)]
    let counts = maker.chance(60) ? maker.counts() : (nil, nil)
    model.change(end.id) {
      $0.link?.rule = rule
      guard $0.link?.isToMany == true else { return }
      $0.link?.minimum = counts.0
      $0.link?.maximum = counts.1
    }
    return true
  }

  // MARK: Attributes

  private mutating func changeType() -> Bool {
    guard let property = attribute({ !$0.origins.isEmpty }), let attribute = property.attribute,
      property.origins.allSatisfy({ stored.property($0)?.attribute?.type == attribute.type }),
      // Stored values are converted, so the stored enums count.
      let type = maker.some(PlainValues.targets(attribute.type, stored.enums))
    else { return false }
    var changed = attribute
    changed.type = type
    changed.isExternal = false
    changed.isSearchable = false
    changed.backfill = nil
    changed.rules = maker.chance(30) ? maker.rules(of: type) : AttributeRules()
    changed.defaultValue = maker.chance(40) ? PlainValues.constant(type, model.enums, &maker.random) : nil
    model.change(property.id) { $0.attribute = changed }
    return true
  }

  /// An attribute is replaced by a relationship of the same name, or the other way around.
  private mutating func replaceProperty() -> Bool {
    guard let property = maker.some(model.entities.flatMap(\.properties)), let owner = model.owner(property.id),
      property.formerNames.isEmpty
    else { return false }
    model.remove(property: property.id)
    if property.link == nil {
      maker.addLink(from: owner, named: property.name)
    } else {
      maker.addAttribute(to: owner, named: property.name)
    }
    return true
  }
}

// MARK: - Enums

extension ModelEdits {
  private mutating func changeEnum(_ edit: Edit) -> Bool {
    let number = maker.random.below(model.enums.count)
    var changed = model.enums[number]
    var origins = model.caseOrigins[changed.name] ?? [:]
    let name = changed.name
    let first = maker.random.below(changed.cases.count)
    let second = maker.random.below(changed.cases.count)
    switch edit {
    case .renameCase:
      let old = changed.cases[first].name
      changed.cases[first].name = "case\(maker.naming.id())"
      changed.cases[first].renamedFrom.insert(old, at: 0)
      origins[changed.cases[first].name] = origins[old]
      origins[old] = nil
      if case .useDefault(old) = changed.unknown { changed.unknown = .useDefault(changed.cases[first].name) }
    case .reorderCases: changed.cases.shuffle(using: &maker.random)
    case .removeCase, .takeRawValue:
      if changed.cases.count < 2 || first == second { return false }
      let gone = changed.cases[first]
      if case .useDefault(gone.name) = changed.unknown { return false }
      if edit == .takeRawValue { changed.cases[second].rawValue = gone.rawValue }
      changed.cases.remove(at: first)
      origins[gone.name] = nil
    case .swapRawValues:
      if first == second { return false }
      let value = changed.cases[first].rawValue
      changed.cases[first].rawValue = changed.cases[second].rawValue
      changed.cases[second].rawValue = value
    case .changeRawType:
      changed.rawType = changed.rawType == .string ? .integer : .string
      for place in changed.cases.indices {
        let number = maker.naming.id()
        changed.cases[place].rawValue = changed.rawType == .string ? .text("raw\(number)") : .integer(Int64(number))
      }
    case .changeUnknown:
      changed.unknown = [.reject, .preserve, .useDefault(changed.cases[first].name)][maker.random.below(3)]
    default:
      changed.name = maker.naming.entity(&maker.random)
      model.caseOrigins[name] = nil
    }
    model.enums[number] = changed
    model.caseOrigins[changed.name] = origins
    for property in model.entities.flatMap(\.properties) where property.attribute?.type == .enumeration(name) {
      model.change(property.id) { property in
        property.attribute?.type = .enumeration(changed.name)
        // What was a case may be none.
        if edit != .reorderCases && edit != .renameCase {
          property.attribute?.defaultValue = nil
          property.attribute?.backfill = nil
        }
      }
    }
    return true
  }
}

// MARK: - Hierarchies

extension ModelEdits {
  private mutating func removeEntity() -> Bool {
    guard model.entities.count > 1, let entity = maker.some(model.entities) else { return false }
    if model.entities.contains(where: { entity.formerNames.contains($0.name) }) { return false }
    for other in model.entities.flatMap(\.properties) where other.link?.destination == entity.id {
      model.remove(property: other.id)
    }
    for property in model[entity.id].properties { model.remove(property: property.id) }
    for place in model.entities.indices where model.entities[place].parent == entity.id {
      model.entities[place].parent = entity.parent
    }
    model.entities.removeAll { $0.id == entity.id }
    return true
  }

  private mutating func changeParent() -> Bool {
    guard let entity = maker.some(model.entities) else { return false }
    let subtree = model.subtree(entity.id)
    let fit = model.entities.map(\.id).filter { !subtree.contains($0) && $0 != entity.parent }
    let parent = entity.parent != nil && maker.chance(40) ? nil : maker.some(fit)
    guard parent != entity.parent else { return false }
    model[entity.id].parent = parent
    dropUnreachable()
    return true
  }

  /// Keys and indexes with properties that an entity does not have any more.
  private mutating func dropUnreachable() {
    for entity in model.entities {
      let known = Set(model.properties(entity.id).map(\.id))
      model[entity.id].uniqueKeys.removeAll { !known.isSuperset(of: $0) }
      model[entity.id].indexes.removeAll { !known.isSuperset(of: $0.map(\.property)) }
    }
  }

  private mutating func insertParent() -> Bool {
    guard let entity = maker.some(model.entities) else { return false }
    let parent = PlainEntity(
      id: maker.naming.id(), name: maker.naming.entity(&maker.random), parent: entity.parent,
      isAbstract: maker.chance(60))
    model.entities.insert(parent, at: maker.random.below(model.entities.count + 1))
    model[entity.id].parent = parent.id
    if maker.chance(50) { maker.addAttribute(to: parent.id, named: maker.naming.property(&maker.random)) }
    return true
  }

  private mutating func moveUp() -> Bool {
    guard let entity = maker.some(model.entities.filter { $0.parent != nil && !$0.properties.isEmpty }),
      let parent = entity.parent, let property = maker.some(entity.properties)
    else { return false }
    return move(property, from: entity.id, to: parent)
  }

  /// Moves a property. If it has an inverse, that leads to the new entity from then on.
  private mutating func move(_ property: PlainProperty, from entity: Int, to target: Int) -> Bool {
    if property.link?.inverse == property.id { return false }
    model[entity].properties.removeAll { $0.id == property.id }
    model[target].properties.append(property)
    if let inverse = property.link?.inverse { model.change(inverse) { $0.link?.destination = target } }
    dropUnreachable()
    return true
  }

  private mutating func moveDown() -> Bool {
    guard let entity = maker.some(model.entities.filter { !$0.properties.isEmpty }),
      let property = maker.some(entity.properties)
    else { return false }
    let children = model.entities.map(\.id).filter { model[$0].parent == entity.id }
    guard let only = maker.some(children) else { return false }
    if property.attribute != nil || property.link?.inverse == nil, maker.chance(70) {
      model.remove(property: property.id)
      for child in children where child == only || maker.chance(70) {
        var copy = PlainProperty(
          id: maker.naming.id(), origins: property.origins, name: property.name, formerNames: property.formerNames)
        (copy.attribute, copy.link, copy.isTransient) = (property.attribute, property.link, property.isTransient)
        model[child].properties.append(copy)
      }
      dropUnreachable()
      return true
    }
    return move(property, from: entity.id, to: only)
  }

  /// Properties of two children become one of their parent.
  private mutating func uniteSiblings() -> Bool {
    guard let entity = maker.some(model.entities.filter { $0.parent != nil }), let parent = entity.parent,
      let sibling = maker.some(model.entities.filter { $0.parent == parent && $0.id != entity.id })
    else { return false }
    let own = entity.properties.filter { $0.formerNames.isEmpty && $0.origins.count == 1 && $0.link?.inverse == nil }
    guard let first = maker.some(own) else { return false }
    let fit = sibling.properties.filter { other in
      guard other.formerNames.isEmpty, other.origins.count == 1 else { return false }
      if let attribute = first.attribute { return other.attribute?.type == attribute.type }
      return first.link.flatMap { link in
        other.link.map { $0.inverse == nil && $0.destination == link.destination }
      } ?? false
    }
    guard let second = maker.some(fit) else { return false }
    var united = PlainProperty(
      id: maker.naming.id(), origins: Set(first.origins + second.origins).sorted(), name: first.name,
      formerNames: first.name == second.name ? [] : [second.name])
    (united.attribute, united.link) = (first.attribute, first.link)
    model.remove(property: first.id)
    model.remove(property: second.id)
    model[parent].properties.append(united)
    dropUnreachable()
    return true
  }
}
