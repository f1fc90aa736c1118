import TrellisModel
import TrellisStorage

/// The interface of both to-many collections: a live view of the members of one object's relationship.
///
/// A view is free to create and retains its owner. It always shows the present members; a loop iterates over the
/// members at its start. Members are objects of the owner's context.
public protocol ToManyView: RandomAccessCollection
where Element: ManagedObject, Index == Int, Iterator == IndexingIterator<[Element]> {
  /// Creates a collection of objects that can be assigned to a relationship.
  init(_ members: some Sequence<Element>)

  @_spi(Generated) var _storage: ToManyStorage<Element> { get }
}

/// The source of the members of a to-many collection.
@_spi(Generated) public enum ToManyStorage<Member: ManagedObject> {
  /// The relationship of an object.
  case relationship(ManagedObject, Int)
  /// Objects to be assigned to a relationship.
  case members([Member])
}

extension ToManyView {
  /// The position of the first member; always 0.
  public var startIndex: Int { 0 }

  /// The number of members. Counting loads their keys, not the objects.
  ///
  /// - Complexity: constant once the keys are loaded.
  public var endIndex: Int { count }

  /// The number of members. Counting loads their keys, not the objects.
  ///
  /// - Complexity: constant once the keys are loaded.
  public var count: Int {
    switch _storage {
    case .relationship(let owner, let property): owner.memberKeys(property).count
    case .members(let members): members.count
    }
  }

  /// The number of members. A caller of this is about to iterate over all members, so the objects are loaded together
  /// with their keys.
  public var underestimatedCount: Int { objects.count }

  /// The members as a contiguous array. The standard library creates arrays with this; its default implementation would
  /// count first.
  public func _copyToContiguousArray() -> ContiguousArray<Element> { ContiguousArray(objects) }

  /// Returns the results of calling a function with each member.
  ///
  /// - Complexity: that of ``objects``.
  public func map<Result, Failure: Error>(
    _ transform: (Element) throws(Failure) -> Result
  ) throws(Failure) -> [Result] {
    // The standard library's implementation would count first, and so load the keys separately from the objects.
    try objects.map(transform)
  }

  /// Whether there are no members. This loads their keys, not the objects.
  public var isEmpty: Bool { count == 0 }

  /// The first member; nil if the relationship is empty. Unloaded members are loaded together with their keys.
  ///
  /// - Complexity: constant once the members are loaded.
  public var first: Element? {
    switch _storage {
    case .relationship(let owner, let property): owner.firstMember(property, as: Element.self)
    case .members(let members): members.first
    }
  }

  /// The member at a position.
  ///
  /// - Complexity: constant once the members are loaded.
  public subscript(position: Int) -> Element {
    switch _storage {
    case .relationship(let owner, let property): owner.member(property, at: position, as: Element.self)
    case .members(let members): members[position]
    }
  }

  /// Returns an iterator over the present members. Later changes of the relationship do not affect it.
  public func makeIterator() -> IndexingIterator<[Element]> { objects.makeIterator() }

  /// The members as an array.
  ///
  /// - Complexity: linear in the number of members; unloaded ones are loaded in a few statements, together with those
  ///   of the owner's siblings.
  public var objects: [Element] {
    switch _storage {
    case .relationship(let owner, let property): owner.members(property, as: Element.self)
    case .members(let members): members
    }
  }

  /// Whether an object is a member. The objects are not loaded.
  ///
  /// - Complexity: constant on average once the keys are loaded.
  public func contains(_ object: Element) -> Bool {
    switch _storage {
    case .relationship(let owner, let property): owner.hasMember(property, object)
    case .members(let members): members.contains { $0 === object }
    }
  }

  /// Adds an object at the end; a present member is moved there. The inverse is updated immediately. The members are
  /// not loaded.
  ///
  /// - Complexity: constant on average.
  public func append(_ object: Element) {
    if case .relationship(let owner, let property) = _storage { owner.addMember(property, object, at: nil) }
  }

  /// Adds objects at the end, in their order.
  public func append(contentsOf objects: some Sequence<Element>) {
    for object in Array(objects) { append(object) }
  }

  /// Removes an object if it is a member, without deleting it. The inverse is updated.
  public func remove(_ object: Element) {
    if case .relationship(let owner, let property) = _storage { owner.removeMember(property, object) }
  }

  /// Adds objects at the end, in their order, like ``append(contentsOf:)``.
  public static func += (members: Self, objects: some Sequence<Element>) { members.append(contentsOf: objects) }

  /// Removes the members that satisfy a predicate, without deleting them.
  ///
  /// - Throws: what the predicate throws; then nothing is removed.
  /// - Complexity: linear in the number of members, which are loaded; if they cannot be loaded, nothing happens.
  public func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
    guard case .relationship(let owner, let property) = _storage else { return }
    try owner.changeMembers(property, as: Element.self) { try $0.removeAll(where: shouldBeRemoved) }
  }

  /// Removes all members, without deleting them.
  public func removeAll() { replaceAll(with: []) }

  /// Makes these objects the members, in this order. Former members that are not among them are unlinked.
  public func replaceAll(with objects: some Sequence<Element>) {
    if case .relationship(let owner, let property) = _storage { owner.replaceMembers(property, Array(objects)) }
  }

  /// Assigns the members to a relationship. Generated setters call this.
  @_spi(Generated) public func _assign(to owner: ManagedObject, _ property: Int) {
    owner.replaceMembers(property, objects)
  }
}

// MARK: - To many

/// The members of an unordered to-many relationship.
///
/// ```swift
/// diary.tags.append(tag)        // tag.diaries contains diary from now on
/// diary.tags = [tag, another]
/// for tag in diary.tags { print(tag.name) }
/// ```
/// Like every collection this has positions, but the order of the members is unspecified.
public struct ToMany<Member: ManagedObject>: ToManyView, ExpressibleByArrayLiteral {
  public typealias Element = Member
  public typealias Index = Int
  public typealias Iterator = IndexingIterator<[Member]>

  @_spi(Generated) public let _storage: ToManyStorage<Member>

  @_spi(Generated) public init(_ owner: ManagedObject, _ property: Int) {
    _storage = .relationship(owner, property)
  }

  public init(_ members: some Sequence<Member>) { _storage = .members(Array(members)) }
  public init(arrayLiteral elements: Member...) { _storage = .members(elements) }
}

/// The members of an ordered to-many relationship. Each object is a member at most once.
///
/// ```swift
/// diary.images.append(image)             // at the end; image.diary === diary from now on
/// diary.images.insert(cover, at: 0)
/// diary.images.move(from: 3, to: 1)
/// ```
public struct OrderedToMany<Member: ManagedObject>: ToManyView, ExpressibleByArrayLiteral {
  public typealias Element = Member
  public typealias Index = Int
  public typealias Iterator = IndexingIterator<[Member]>

  @_spi(Generated) public let _storage: ToManyStorage<Member>

  @_spi(Generated) public init(_ owner: ManagedObject, _ property: Int) {
    _storage = .relationship(owner, property)
  }

  public init(_ members: some Sequence<Member>) { _storage = .members(Array(members)) }
  public init(arrayLiteral elements: Member...) { _storage = .members(elements) }

  /// Inserts an object before the member at a position. A present member is moved there. A position beyond the end
  /// counts as the end, one before the start as the start.
  public func insert(_ object: Member, at position: Int) {
    guard case .relationship(let owner, let property) = _storage else { return }
    owner.addMember(property, object, at: Swift.max(0, position))
  }

  /// Removes the member at a position and returns it. A position out of bounds returns nil and changes nothing. Loads only
  /// this member.
  @discardableResult public func remove(at position: Int) -> Member? {
    guard let member = present(at: position) else { return nil }
    remove(member)
    return member
  }

  /// Moves the member at a position to another position. A source out of bounds changes nothing. Loads only this member.
  public func move(from source: Int, to destination: Int) {
    guard source != destination, let member = present(at: source) else { return }
    insert(member, at: destination)
  }

  private func present(at position: Int) -> Member? {
    switch _storage {
    case .relationship(let owner, let property): owner.memberToChange(property, at: position, as: Member.self)
    case .members(let members): members.indices.contains(position) ? members[position] : nil
    }
  }
}

// MARK: - To many access

extension ManagedObject {
  /// The keys of the members, loaded if necessary; empty if there is no context to read the members from.
  final func memberKeys(_ property: Int) -> ContiguousArray<Int64> {
    guard let (graph, relationship) = place(of: property) else { return [] }
    // The added members alone would be more misleading than no members.
    return graph.reporting { graph.shownKeys(try graph.loadedList(of: self, relationship, isAsked: true)) } ?? []
  }

  /// The members, loaded if necessary.
  final func members<Member: ManagedObject>(_ property: Int, as type: Member.Type) -> [Member] {
    guard let (graph, relationship) = place(of: property) else { return [] }
    let members = graph.reporting { try graph.memberObjects(of: self, relationship) } ?? []
    if members.allSatisfy({ Swift.type(of: $0) == Member.self }) {
      // Sound because arrays of class instances have one layout, and each instance is of exactly this class.
      return unsafeBitCast(members, to: [Member].self)
    }
    return members.compactMap { $0 as? Member }
  }

  /// The member at a position, which must be valid, as for every Swift collection. If the members cannot be loaded any
  /// more, a placeholder object is returned.
  final func member<Member: ManagedObject>(_ property: Int, at position: Int, as type: Member.Type) -> Member {
    // Positions that were valid before the context was released, or before the store failed, may be invalid now.
    guard let (graph, relationship) = place(of: property) else {
      return Member.standIn(for: 0, isDeleted: false, in: link)
    }
    guard let list = graph.reporting({ try graph.loadedList(of: self, relationship) }) else {
      return Member.standIn(for: 0, isDeleted: false, in: link)
    }
    let key = graph.shownKeys(list)[position]
    if let member = graph.map[key] as? Member { return member }
    let members = graph.reporting { try graph.memberObjects(of: self, relationship) }
    if let member = graph.map[key] as? Member { return member }
    return .standIn(for: key, isDeleted: members != nil, in: link)
  }

  /// The first member; nil if the relationship is empty.
  final func firstMember<Member: ManagedObject>(_ property: Int, as type: Member.Type) -> Member? {
    guard let (graph, relationship) = place(of: property) else { return nil }
    if !graph.list(of: self, relationship).isLoaded { return members(property, as: type).first }
    return memberKeys(property).isEmpty ? nil : member(property, at: 0, as: type)
  }

  /// The member at a position that is about to be removed or moved, loaded alone if necessary; nil if the position is
  /// out of bounds, or nothing can be written.
  final func memberToChange<Member: ManagedObject>(
    _ property: Int, at position: Int, as type: Member.Type
  ) -> Member? {
    guard let (graph, relationship) = place(of: property, isWrite: true) else { return nil }
    return graph.reporting {
      let keys = graph.shownKeys(try graph.loadedList(of: self, relationship, isAsked: true))
      guard keys.indices.contains(position) else { return nil }
      try graph.loadForChange([keys[position]], of: relationship)
      return graph.map[keys[position]] as? Member
    } ?? nil
  }

  final func hasMember(_ property: Int, _ object: ManagedObject) -> Bool {
    guard let (graph, relationship) = place(of: property), object.link === link else { return false }
    // A member that holds the reference itself is checked without loading anything.
    if let inverse = graph.runtime.inverse(of: relationship), inverse.isColumn {
      return object.phase != .deleted && graph.knownReference(of: object, inverse) == _key
    }
    return graph.reporting {
      graph.shows(object._key, in: try graph.loadedList(of: self, relationship, isAsked: true))
    } ?? false
  }

  final func addMember(_ property: Int, _ object: ManagedObject, at position: Int?) {
    guard let (graph, relationship) = place(of: property, isWrite: true) else { return }
    guard isWritable(property, in: graph), graph.isUsable(object, as: "the new member", in: relationship) else {
      return
    }
    graph.reporting {
      try graph.prepare(toConnect: self, relationship, object)
      if position != nil { try graph.loadedList(of: self, relationship) }
      try graph.connect(self, relationship, object, at: position)
    }
  }

  final func removeMember(_ property: Int, _ object: ManagedObject) {
    guard let (graph, relationship) = place(of: property, isWrite: true), hasMember(property, object),
      isWritable(property, in: graph)
    else { return }
    graph.reporting { try graph.prepareAndDisconnect(self, relationship, object._key) }
  }

  /// - Parameter keepsLost: Whether members stay that were added in this context and deleted by another one. They are
  ///   not shown, so an operation on the shown members is no reason to give them up before a save reports them.
  final func replaceMembers(_ property: Int, _ objects: [ManagedObject], keepsLost: Bool = false) {
    guard let (graph, relationship) = place(of: property, isWrite: true), isWritable(property, in: graph) else {
      return
    }
    graph.reporting {
      // An object that cannot be loaded must not be left out, so the change is not made.
      for object in objects where object.link === link { try graph.fulfilIfFault(object) }
      let usable = objects.filter { graph.isUsable($0, as: "a new member", in: relationship) }
      let wanted = Set(usable.map(\._key))
      let list = try graph.loadedList(of: self, relationship)
      let former = keepsLost ? graph.shownKeys(list) : list.keys
      let leaving = former.filter { !wanted.contains($0) }
      let lost = keepsLost ? list.keys.filter { !former.contains($0) } : []
      let coming = usable.filter { !list.contains($0._key) }
      try graph.prepare(toDisconnect: self, relationship, leaving)
      for object in coming { try graph.prepare(toConnect: self, relationship, object) }
      for key in leaving { try graph.disconnect(self, relationship, key) }
      for object in coming { try graph.connect(self, relationship, object) }
      if relationship.isOrdered { graph.arrange(self, relationship, usable.map(\._key) + lost) }
    }
  }

  /// Changes the members with the operations of an array, in one step. Does nothing if they cannot be loaded.
  final func changeMembers<Member: ManagedObject>(
    _ property: Int, as type: Member.Type, _ change: (inout [Member]) throws -> Void
  ) rethrows {
    guard let (graph, relationship) = place(of: property, isWrite: true),
      let present = graph.reporting({ try graph.memberObjects(of: self, relationship) })
    else { return }
    var all = present.compactMap { $0 as? Member }
    try change(&all)
    replaceMembers(property, all, keepsLost: true)
  }

  /// - Parameter isWrite: Whether the relationship is about to be changed. Writes to deleted and detached objects are
  ///   ignored and reported.
  private final func place(of property: Int, isWrite: Bool = false) -> (ObjectGraph, Relationship)? {
    guard let graph = link.graph else {
      reportContextGone(property, isWrite: isWrite)
      return nil
    }
    if isWrite && !isAlive {
      reportIgnoredWrite(property)
      return nil
    }
    guard phase != .detached, let relationship = graph.relationship(property, of: self) else { return nil }
    if isProbed(reading: property) { return nil }
    noteRead(property)
    return (graph, relationship)
  }
}

// MARK: - Arranging

/// Changes of the order of several members at once. Each is one step, which loads the members. If they cannot be
/// loaded, nothing changes.
extension OrderedToMany {
  /// Inserts objects in their order, so that the first of them is at a position. Present members are moved there. A
  /// position beyond the end counts as the end, one before the start as the start.
  ///
  /// - Complexity: linear in the number of members.
  public func insert(contentsOf objects: some Sequence<Member>, at position: Int) {
    let coming = Array(objects)
    let keys = Set(coming.map(\._key))
    change { members in
      members.removeAll { keys.contains($0._key) }
      members.insert(contentsOf: coming, at: Swift.min(Swift.max(0, position), members.count))
    }
  }

  /// Sorts the members by a predicate. The order is saved in the store. Members that compare as equal keep their order.
  ///
  /// ```swift
  /// diary.images.sort { $0.imagePath < $1.imagePath }
  /// ```
  /// - Throws: what the predicate throws; then the order is unchanged.
  /// - Complexity: O(*n* log *n*).
  public func sort(by areInIncreasingOrder: (Member, Member) throws -> Bool) rethrows {
    try change { try $0.sort(by: areInIncreasingOrder) }
  }

  /// Swaps two members. Does nothing if there is no member at one of the positions.
  public func swapAt(_ first: Int, _ second: Int) {
    change { members in
      guard members.indices.contains(first), members.indices.contains(second) else { return }
      members.swapAt(first, second)
    }
  }

  /// Moves the members at some positions, in their order, before the member at another position, which counts in the
  /// present order. This matches `onMove` of a list in SwiftUI.
  ///
  /// ```swift
  /// ForEach(diary.images) { … }.onMove { diary.images.move(fromOffsets: $0, toOffset: $1) }
  /// ```
  /// Positions without a member are ignored; a destination beyond the end counts as the end.
  public func move(fromOffsets source: some Sequence<Int>, toOffset destination: Int) {
    let offsets = Set(source)
    change { members in
      let end = Swift.min(Swift.max(0, destination), members.count)
      let places = members.indices
      let moving = places.filter(offsets.contains)
      let order =
        places[..<end].filter { !offsets.contains($0) } + moving + places[end...].filter { !offsets.contains($0) }
      members = order.map { members[$0] }
    }
  }

  /// Removes the members at some positions, without deleting them. This matches `onDelete` of a list in SwiftUI.
  public func remove(atOffsets offsets: some Sequence<Int>) {
    let offsets = Set(offsets)
    change { members in
      members = members.indices.filter { !offsets.contains($0) }.map { members[$0] }
    }
  }

  private func change(_ body: (inout [Member]) throws -> Void) rethrows {
    guard case .relationship(let owner, let property) = _storage else { return }
    try owner.changeMembers(property, as: Member.self, body)
  }
}

// MARK: - To one access

extension ManagedObject {
  /// The partner of a to-one, loaded if necessary, together with the partners of the object's siblings.
  @_spi(Generated) @inlinable public final func _partner<Partner: ManagedObject>(_ property: Int) -> Partner? {
    _willRead(property)
    return _findPartner(property) as? Partner
  }

  @_spi(Generated) public final func _findPartner(_ property: Int) -> ManagedObject? {
    var key = _reference(property)
    if key == 0 { return nil }
    if key > 0, let partner = link.object(key) { return partner.phase == .deleted ? nil : partner }
    guard let graph = link.graph else {
      // The missing context is not reported if the partner is known to be nil.
      let known = knownPartner(of: property)
      if key > 0 || known?.stored != 0 || known?.given != 0 { reportContextGone(property) }
      return nil
    }
    if key < 0 {
      guard phase != .detached, let relationship = graph.relationship(property, of: self) else { return nil }
      let known = graph.holder(of: self, relationship)
      if accessFlags.contains(.probed) { return known > 0 ? graph.map[known] : nil }
      if known < 0 { graph.noteLazyLoad(of: self, relationship) }
      key = graph.reporting { try graph.partnerKey(of: self, relationship) } ?? 0
      if key == 0 { return nil }
      if let partner = graph.map[key] { return partner.phase == .deleted ? nil : partner }
    }
    guard phase != .detached, !accessFlags.contains(.probed),
      let relationship = graph.relationship(property, of: self)
    else { return nil }
    graph.noteLazyLoad(of: self, relationship)
    return graph.reporting { try graph.loadPartner(key, of: self, relationship) } ?? nil
  }

  /// Sets the partner of a to-one and updates the inverse.
  @_spi(Generated) public final func _setPartner(_ property: Int, _ partner: ManagedObject?) {
    guard let graph = link.graph else { return reportContextGone(property, isWrite: true) }
    guard let relationship = graph.relationship(property, of: self), isWritable(property, in: graph) else { return }
    guard let partner else {
      graph.reporting {
        let former = try graph.replacedPartners(of: self, relationship)
        for key in former { try graph.prepare(toDisconnect: self, relationship, [key]) }
        for key in former { try graph.disconnect(self, relationship, key) }
        if !former.isEmpty { return }
        // An explicit nil counts as an assigned value of a new object.
        if phase == .inserted && relationship.isColumn { _markAssigned(property) }
      }
      return
    }
    guard graph.isUsable(partner, as: "the partner", in: relationship) else { return }
    graph.reporting { try graph.prepareAndConnect(self, relationship, partner) }
  }
}

extension ObjectGraph {
  func relationship(_ property: Int, of object: ManagedObject) -> Relationship? {
    let number = type(of: object)._entity
    return runtime.relationship(property, ofEntity: number)
  }

  /// Whether an object may take part in a change of relationships of this context; if not, this is reported.
  func isUsable(_ object: ManagedObject, as role: String, in relationship: Relationship) -> Bool {
    if let refusal = refusal(of: object, as: role, in: relationship) {
      report(refusal)
      return false
    }
    // A failure to load the object was reported already.
    return !object.accessFlags.contains(.fault)
  }

  /// The reason why an object may not take part in a change of relationships of this context; nil if it may, or could
  /// not be loaded.
  func refusal(of object: ManagedObject, as role: String, in relationship: Relationship) -> ContextError? {
    let isOurs = object.link === link
    if isOurs { reporting { try fulfilIfFault(object) } }
    guard isOurs, object.phase != .detached, object.phase != .deleted else {
      let why = isOurs ? "is deleted" : whereabouts(of: object)
      return ContextError(
        .foreignObject,
        "\(relationship.entityName).\(relationship.name) was left as it is, since \(role), \(object), \(why).")
    }
    return nil
  }
}
