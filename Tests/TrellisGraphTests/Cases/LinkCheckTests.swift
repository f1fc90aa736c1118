#if DEBUG
  import Testing
  @_spi(Generated) import Trellis
  import TrellisModel
  import TrellisTestSupport

  @_spi(Generated) @testable import TrellisRuntime

  /// The check is tried on graphs that are put out of order by hand.
  @Suite("The ends of relationships are compared") struct LinkCheckTests {
    private let container: TestContainer
    private let context: ManagedObjectContext
    private var graph: ObjectGraph { context.graph }
    private let house: House
    private let other: House
    private let villager: Villager

    init() throws {
      container = try TestContainer(.village)
      context = container.container.newContext()
      house = House(in: context)
      other = House(in: context)
      villager = Villager(in: context)
      villager.house = house
      try context.save()
      #expect(house.dwellers.count == 1 && other.dwellers.isEmpty)
    }

    private func relationship(_ object: ManagedObject, _ name: String) throws -> Relationship {
      try #require(graph.info(of: object).allRelationships.first { $0.name == name })
    }

    private func list(_ object: ManagedObject, _ name: String) throws -> MemberList {
      graph.list(of: object, try relationship(object, name))
    }

    private func broken(_ rules: Set<LinkViolation.Rule> = LinkViolation.Rule.whatIsShown) -> Set<LinkViolation.Rule> {
      Set(graph.linkViolations(of: rules).map(\.rule))
    }

    @Test("a reference that its list does not show is found, and the list that shows it still") func ends() throws {
      #expect(broken() == [])
      #expect(villager._willWrite(try relationship(villager, "house").property))
      villager._setReference(try relationship(villager, "house").property, other._key)
      let found = graph.linkViolations()
      #expect(found.map(\.rule) == [.bothEnds, .bothEnds])
      #expect(Set(found.map(\.key)) == [house._key, villager._key])
      #expect(found.first { $0.key == house._key }?.description.contains("House#\(house._key).dwellers") == true)
    }

    @Test("one end of a couple is found") func couple() throws {
      let spouse = Villager(in: context)
      villager.spouse = spouse
      #expect(broken() == [])
      spouse._setReference(try relationship(spouse, "spouse").property, 0)
      #expect(broken() == [.bothEnds])
    }

    @Test("one end of a pair in a join table is found") func pair() throws {
      let friend = Villager(in: context)
      villager.friends.append(friend)
      #expect(villager.friends.count == 1 && broken() == [])
      try list(friend, "friends").remove(villager._key)
      #expect(broken() == [.bothEnds])
    }

    @Test("a member that comes twice is found") func once() throws {
      let list = MemberList(try relationship(house, "dwellers"), isLoaded: false)
      list.load([villager._key, villager._key])
      house.removeLists { _ in true }
      house.add(list)
      #expect(broken() == [.once])
    }

    @Test("a deleted member is found, also where its reference reads nil") func alive() throws {
      try context.delete(villager)
      #expect(broken() == [])
      try list(house, "dwellers").insert(villager._key)
      #expect(broken() == [.alive])
    }

    @Test("two lists that show one member are found, although its row is not in memory") func holders() throws {
      graph.turnIntoFault(villager)
      try list(other, "dwellers").insert(villager._key)
      #expect(broken() == [.oneHolder])
      #expect(villager.isFault)
    }

    @Test("members that were read and that no row tells of are found") func base() throws {
      let list = MemberList(try relationship(other, "dwellers"), isLoaded: false)
      list.load([villager._key])
      list.remove(villager._key)
      other.removeLists { _ in true }
      other.add(list)
      #expect(broken() == [.baseOfBothEnds])
    }

    @Test("nothing is loaded and nothing changes") func isQuiet() throws {
      let fresh = container.container.newContext()
      let all = try fresh.fetch(Villager.all)
      let house = try #require(try fresh.object(with: house.objectID))
      fresh.refreshAll()
      #expect(fresh.graph.linkViolations() == [])
      #expect(house.isFault && !house.hasLists && all.allSatisfy { $0.isFault && !$0.hasLinkNotes })
      #expect(!fresh.hasChanges)
    }

    @Test("what is left to a deleted object, one way or denied is in order") func allowed() throws {
      let region = Region(in: context)
      villager.origin = region
      villager.home = region
      let gear = Gear(in: context)
      villager.gear.append(gear)
      villager.wishes.append(gear)
      villager.idol = villager
      try context.save()
      #expect(region.natives.count == 1 && villager.gear.count == 1 && villager.wishes.count == 1)
      try context.delete(gear)
      try context.delete(region)
      #expect(broken() == [])
      context.undelete(region)
      #expect(broken() == [])
      context.rollback()
      #expect(broken() == [])
    }

    @Test("a context that others have saved beside is looked at once it has merged") func merging() throws {
      #expect(villager.house === house)
      let elsewhere = container.container.newContext()
      try #require(try elsewhere.object(with: villager.objectID)).house = nil
      try elsewhere.save()
      // The row is as others have it, the list as it was read before.
      try graph.refreshRows([villager])
      #expect(villager.house == nil && house.dwellers.count == 1)
      #expect(broken() == [])
      context.mergeChanges()
      #expect(broken() == [] && house.dwellers.isEmpty)
    }

    /// Takes a member out of a list that nothing has changed, and rolls the member back.
    private func breakAndRollBack() throws {
      try list(house, "dwellers").remove(villager._key)
      villager.label = "changed"
      try villager.rollback(\.label)
    }

    @Test("debug builds tell what an operation has left out of order, unless the next merge settles it, and once")
    func told() throws {
      let findings = try LinkFindings.collect { findings in
        try breakAndRollBack()
        #expect(container.errors.codes.isEmpty)
        context.mergeChanges()
        #expect(container.errors.codes == [.brokenInvariant])
        #expect(container.errors.messages.first?.contains("rollback of a property") == true)
        context.mergeChanges()
        #expect(container.errors.codes.count == 1)
        return findings.take()
      }
      let finding = "after a rollback of a property, ends: Villager#\(villager._key).house"
      #expect(findings.contains { $0.hasPrefix(finding) })
    }

    @Test("what the next merge settles is not told") func settled() throws {
      try LinkFindings.collect { findings in
        try breakAndRollBack()
        house.removeLists { _ in true }
        context.mergeChanges()
        #expect(container.errors.codes.isEmpty && !findings.take().isEmpty)
      }
    }

    @Test(
      "an operation that may change all that is unsaved looks at it",
      arguments: ["a rollback", "a save", "an undelete"])
    func unsaved(_ operation: String) throws {
      let craft = Craft(in: context)
      try context.save()
      house.label = "changed"
      try context.delete(craft)
      villager._setReference(try relationship(villager, "house").property, other._key)
      let findings = try LinkFindings.collect { findings in
        switch operation {
        case "a rollback": context.rollback()
        case "a save": try context.save()
        default: context.undelete(craft)
        }
        return findings.take()
      }
      #expect(findings.contains { $0.hasPrefix("after \(operation), ends: ") })
    }

    @Test("what was added to a list that is not loaded and removed again is no change", arguments: [false, true])
    func addedAndRemoved(isJoined: Bool) throws {
      let fresh = container.container.newContext()
      let villager = try #require(try fresh.object(with: villager.objectID))
      let craft = Craft(in: fresh)
      try fresh.save()
      let house = try #require(try fresh.object(with: other.objectID))
      villager.house = nil
      try fresh.save()
      fresh.refreshAll()
      if isJoined {
        villager.crafts.append(craft)
        villager.crafts.remove(craft)
      } else {
        house.dwellers.append(villager)
        house.dwellers.remove(villager)
      }
      #expect(fresh.linkViolations() == [])
      #expect(!fresh.hasChanges)
      #expect(fresh.graph.linkViolations(of: [.change]) == [])
    }
  }
#endif
