#if DEBUG
  import TrellisModel
  import TrellisStorage

  /// A contradiction between what objects in memory show of their relationships.
  package struct LinkViolation: Hashable, Sendable, CustomStringConvertible {
    /// The rule that is broken.
    package enum Rule: String, Sendable, CaseIterable {
      /// The two ends of a relationship show each other, or neither does.
      case bothEnds = "ends"
      /// The same holds for what was last read or saved.
      case baseOfBothEnds = "base"
      /// A partner of a to-one is shown by one object.
      case oneHolder = "holders"
      /// A to-many shows each member once.
      case once = "once"
      /// Nothing shows an object that is deleted.
      case alive = "alive"
      /// A change of an unordered to-many differs from what was last read or saved. A pair of which neither end has been
      /// read is noted in any case, so this rule is asked for by itself.
      case change = "change"

      /// The rules that hold whatever is loaded.
      package static let whatIsShown = Set(allCases).subtracting([.change])
    }

    package let rule: Rule
    package let entity: String
    package let key: Int64
    package let relationship: String
    /// What is shown, by key.
    package let finding: String

    package var description: String { "\(rule.rawValue): \(entity)#\(key).\(relationship) \(finding)" }
  }

  /// Compares both ends of the relationships of objects in memory. Every read of a user shows what ``KnownLinks`` are, so
  /// a violation is something that a user could see, except those of what was last read, which rollbacks and saves use.
  ///
  /// What is compared is in memory already: nothing is loaded, and nothing changes. What is not in memory cannot
  /// contradict anything. These differences are allowed:
  ///
  /// | what | why |
  /// |---|---|
  /// | the context has not merged a save of another one, or a child its parent's changes | what is loaded meanwhile is newer than what was loaded before; see ``ObjectGraph/isUpToDate`` |
  /// | an object that is deleted keeps its own links | it shows nothing to users, and undelete needs them |
  /// | a reference to a deleted object | it reads nil: `noAction` and a denied delete leave it in the row |
  /// | a relationship without an inverse | it has one end. Its members have to be alive, each once |
  /// | an object that others have deleted and that is edited here (``MergeBacklog/gone``) | it lives until a save reports the conflict. Its partners show what is in the store |
  /// | an object whose stored row is newer and not read yet (``MergeBacklog/unread``) | its row is as old as before the merge |
  /// | an object in conflict (``MergeBacklog/conflicts``), as to what was last read | the conflicting properties keep the old values as base, and its partners have the new ones |
  /// | a stored reference to an object that an undo has inserted again | the new object learns at its save what others have left to it |
  /// | a one-to-one partner that two contexts have given to two objects (see ``ObjectGraph/holders(of:_:)``) | both rows refer to it until a save settles the conflict |
  /// | what may differ in the parent of a child | the child reads the parent's rows and lists, which differ |
  struct LinkCheck {
    private let graph: ObjectGraph
    private let rules: Set<LinkViolation.Rule>
    private(set) var found: [LinkViolation] = []
    /// The object that shows a partner of a to-one, by the relationship of the partner.
    private var holders: [Holding: Int64] = [:]
    /// The maximum number of members of a list that are compared.
    private let mostMembers: Int

    private struct Holding: Hashable {
      let relationship: RelationshipNumber
      let partner: Int64
    }

    /// - Parameter mostMembers: The number of members up to which lists are compared. A change of a list of more
    ///   members would cost more to check than to make.
    init(
      _ graph: ObjectGraph, _ rules: Set<LinkViolation.Rule> = LinkViolation.Rule.whatIsShown, mostMembers: Int = .max
    ) {
      self.graph = graph
      self.rules = rules
      self.mostMembers = mostMembers
    }

    mutating func look(at object: ManagedObject) {
      guard object.isAlive, graph.map[object._key] === object else { return }
      for relationship in graph.info(of: object).allRelationships {
        let links = graph.knownLinks(of: object, relationship)
        guard links.shown.count <= mostMembers else { continue }
        if relationship.isToMany { lookAtMembers(links, of: object, relationship) }
        guard let inverse = graph.runtime.inverse(of: relationship) else { continue }
        compareEnds(links, of: object, relationship, inverse)
        compareBase(of: object, relationship, inverse)
        if relationship.isToMany, rules.contains(.change) { lookAtChanges(links, of: object, relationship, inverse) }
      }
    }

    private mutating func note(
      _ rule: LinkViolation.Rule, _ object: ManagedObject, _ relationship: Relationship, _ finding: String
    ) {
      let entity = graph.info(of: object).name
      found.append(
        LinkViolation(
          rule: rule, entity: entity, key: object._key, relationship: relationship.name, finding: finding))
    }

    // MARK: One end

    private mutating func lookAtMembers(
      _ links: KnownLinks, of owner: ManagedObject, _ relationship: Relationship
    ) {
      guard case .all(let keys) = links else { return }
      if Set(keys).count != keys.count { note(.once, owner, relationship, "shows a member twice: \(Array(keys))") }
      for key in keys {
        guard let member = graph.map[key], !member.isAlive else { continue }
        note(.alive, owner, relationship, "shows \(key), which is \(member.phase)")
      }
    }

    // MARK: Both ends

    private mutating func compareEnds(
      _ links: KnownLinks, of object: ManagedObject, _ relationship: Relationship, _ inverse: Relationship
    ) {
      for key in links.shown {
        guard let partner = graph.map[key], partner.isAlive else { continue }
        let other = graph.knownLinks(of: partner, inverse)
        if other.shows(object._key) == false, !mayDiffer(object, relationship, partner, inverse) {
          note(.bothEnds, object, relationship, "shows \(key), whose \(inverse.name) shows \(Array(other.shown))")
        }
        if inverse.isToMany { continue }
        let holding = Holding(relationship: inverse.number, partner: key)
        if let holder = holders[holding], holder != object._key {
          // A known end tells which of the two is wrong.
          let isKnown = other.shows(object._key) != nil
          if !isKnown, graph.map[holder].map({ !mayDiffer($0, relationship, partner, inverse) }) == true,
            !mayDiffer(object, relationship, partner, inverse)
          {
            note(.oneHolder, object, relationship, "shows \(key), as \(holder) does")
          }
        }
        holders[holding] = object._key
      }
    }

    /// Whether two objects may disagree, as the table of this type says.
    private func mayDiffer(
      _ object: ManagedObject, _ relationship: Relationship, _ partner: ManagedObject, _ inverse: Relationship
    ) -> Bool {
      var next: ObjectGraph? = graph
      while let graph = next {
        for key in [object._key, partner._key] {
          if graph.backlog.gone.contains(key) || graph.backlog.unread.contains(key) { return true }
        }
        if graph.isContested(object._key, relationship) || graph.isContested(partner._key, inverse) { return true }
        next = graph.parent
      }
      return isLeft(object, relationship, to: partner) || isLeft(partner, inverse, to: object)
    }

    /// Whether a reference in an object's row is one that others have left to an object that is new again.
    private func isLeft(_ object: ManagedObject, _ relationship: Relationship, to partner: ManagedObject) -> Bool {
      relationship.isColumn && partner.phase == .inserted && object.phase == .persistent
        && !object.hasOwnReference(relationship)
    }

    private mutating func compareBase(
      of object: ManagedObject, _ relationship: Relationship, _ inverse: Relationship
    ) {
      for key in graph.knownBase(of: object, relationship).shown {
        guard let partner = graph.map[key], partner.isAlive else { continue }
        let other = graph.knownBase(of: partner, inverse)
        guard other.shows(object._key) == false, !waits(object), !waits(partner),
          !mayDiffer(object, relationship, partner, inverse)
        else { continue }
        note(
          .baseOfBothEnds, object, relationship, "had \(key), whose \(inverse.name) had \(Array(other.shown))")
      }
    }

    private func waits(_ object: ManagedObject) -> Bool { graph.backlog.contains(object._key) }

    // MARK: Changes

    /// An order is a change of its own, so that only the members of unordered to-manys are looked at.
    private mutating func lookAtChanges(
      _ links: KnownLinks, of owner: ManagedObject, _ relationship: Relationship, _ inverse: Relationship
    ) {
      guard case .some(let added, let removed) = links, !relationship.isOrdered, owner.phase == .persistent else {
        return
      }
      func isMember(_ key: Int64) -> Bool? {
        guard let member = graph.map[key], member.isAlive, !waits(member), !waits(owner) else { return nil }
        return graph.knownBase(of: member, inverse).shows(owner._key)
      }
      for key in added where isMember(key) == true { note(.change, owner, relationship, "adds \(key) again") }
      for key in removed where isMember(key) == false {
        note(.change, owner, relationship, "removes \(key), which was no member")
      }
    }
  }

  extension ObjectGraph {
    /// Whether this context has given the target of a one-to-one to an object, so that another object may have it in the
    /// store until a save settles the conflict.
    fileprivate func isContested(_ key: Int64, _ relationship: Relationship) -> Bool {
      guard !relationship.isToMany, relationship.home == .inverseColumn, let target = map[key],
        let inverse = runtime.inverse(of: relationship),
        let given = target.knownPartner(of: relationship.property)?.given, let holder = map[given]
      else { return false }
      return holder._reference(inverse.property) == key && holder.hasOwnReference(inverse)
    }

    /// Whether the graph has merged all that others have told it, and a child what its parent has changed: then the ends
    /// of every relationship agree. A graph that shows one moment of the store never merges, and agrees with itself.
    ///
    /// - Parameter hasMerged: Whether a child has just merged. Later it cannot tell whether the parent has changed since.
    func isUpToDate(hasMerged: Bool) -> Bool {
      if isPinned { return true }
      guard inbox.isEmpty else { return false }
      guard let parent else { return true }
      return parent.isUpToDate(hasMerged: true)
        && (hasMerged || (openConnection as? ParentConnection)?.mayHaveChanges != true)
    }

    /// The contradictions among all objects in memory; empty unless the runtime is wrong. Tests ask for them.
    ///
    /// - Parameters:
    ///   - hasMerged: Whether the context has just merged, which makes a difference for a child.
    ///   - rules: The rules that are checked.
    /// - Complexity: linear in the number of objects in memory and of their links.
    package func linkViolations(
      hasMerged: Bool = false, of rules: Set<LinkViolation.Rule> = LinkViolation.Rule.whatIsShown
    ) -> [LinkViolation] {
      guard isUpToDate(hasMerged: hasMerged) else { return [] }
      var check = LinkCheck(self, rules)
      map.forEach { check.look(at: $0) }
      return check.found
    }
  }
#endif
