import TrellisModel

/// Compares both ends of the relationships that an operation has changed, when the operation ends. Only debug builds look:
/// what is found is an error of the runtime, and no reason to end a program.
///
/// ```swift
/// let watch = LinkWatch(self, "a refresh", changing: [object])
/// defer { watch.end() }
/// ```
/// In release builds, this is empty.
package struct LinkWatch {
  #if DEBUG
    private let graph: ObjectGraph
    private let operation: StaticString
    /// What the operation is about to change. It may forget it.
    private let before: ContiguousArray<ManagedObject>

    /// The number of objects of which all are looked at; of more, a part. Objects have about as many partners.
    private static let mostObjects = 500
    private static let mostMembers = 500
  #endif

  /// Begins an operation.
  ///
  /// - Parameter objects: The objects that it changes.
  @inline(__always) init(
    _ graph: ObjectGraph, _ operation: StaticString, changing objects: @autoclosure () -> some Sequence<ManagedObject>
  ) {
    #if DEBUG
      self.graph = graph
      self.operation = operation
      graph.watches += 1
      before = graph.watches == 1 ? Self.withFormerPartners(ContiguousArray(objects()), graph) : []
    #endif
  }

  /// Ends the operation.
  ///
  /// - Parameters:
  ///   - keys: The keys of more objects that it may have changed.
  ///   - hasMerged: Whether it has merged all that others have changed.
  @inline(__always) func end(touching keys: @autoclosure () -> [Int64] = [], hasMerged: Bool = false) {
    #if DEBUG
      graph.watches -= 1
      if graph.watches == 0 { look(before + keys().compactMap { graph.map[$0] }, hasMerged) }
    #endif
  }
}

#if DEBUG
  extension LinkWatch {
    /// The objects, and the partners that they show before the operation.
    private static func withFormerPartners(
      _ objects: ContiguousArray<ManagedObject>, _ graph: ObjectGraph
    ) -> ContiguousArray<ManagedObject> {
      objects.part(mostObjects).withPartners(graph, mostMembers)
    }

    private func look(_ touched: ContiguousArray<ManagedObject>, _ hasMerged: Bool) {
      guard graph.isUpToDate(hasMerged: hasMerged) else { return }
      let suspects = hasMerged ? graph.suspectedLinks.keys.compactMap { graph.map[$0] } : []
      var seen: Set<ObjectIdentifier> = []
      var check = LinkCheck(graph, mostMembers: Self.mostMembers)
      for object in touched.part(Self.mostObjects).withPartners(graph, Self.mostMembers) + suspects {
        if seen.insert(ObjectIdentifier(object)).inserted { check.look(at: object) }
      }
      graph.tell(check.found, after: operation, hasMerged: hasMerged)
    }
  }

  extension ContiguousArray<ManagedObject> {
    /// At most so many of the elements, spread evenly.
    fileprivate func part(_ most: Int) -> Self {
      guard count > most else { return self }
      return Self(stride(from: 0, to: count, by: count / most).map { self[$0] })
    }

    /// The objects, and the partners that they show or have shown.
    fileprivate func withPartners(_ graph: ObjectGraph, _ most: Int) -> Self {
      var keys: Set<Int64> = []
      for object in self where object.phase != .detached {
        for relationship in graph.info(of: object).allRelationships where relationship.inverse != nil {
          for links in [graph.knownLinks(of: object, relationship), graph.knownBase(of: object, relationship)] {
            keys.formUnion(links.shown.prefix(most))
            keys.formUnion(links.hidden.prefix(most))
          }
        }
      }
      return self + keys.compactMap { graph.map[$0] }
    }
  }

  extension ObjectGraph {
    /// Tells what is wrong after an operation.
    ///
    /// Another process, or another thread between the end of its transaction and its notice, may have saved what was
    /// loaded since the last merge. The next merge settles this. So a violation is reported only if a merge has not settled
    /// it, and once. Tests without other writers may look at the violations at once.
    fileprivate func tell(_ found: [LinkViolation], after operation: StaticString, hasMerged: Bool) {
      let hear = LinkWatch.hearing.withLock { $0 }?.listener
      if !found.isEmpty { hear?(found, "\(operation)", false) }
      let suspected = suspectedLinks
      if hasMerged { suspectedLinks = [:] }
      for violation in found {
        let text = "\(violation)"
        let first = suspected[violation.key]?[text]
        suspectedLinks[violation.key, default: [:]][text] = first ?? "\(operation)"
        guard let first, hasMerged, toldLinks.insert(text).inserted else { continue }
        hear?([violation], first, true)
        report(
          ContextError(
            .brokenInvariant,
            "After \(first), Trellis shows the ends of a relationship differently, please report it: \(text)."))
      }
    }
  }

  extension LinkWatch {
    /// Hears of the findings after an operation, and again of those that the next merge has not settled.
    package typealias Listener = @Sendable (_ found: [LinkViolation], _ operation: String, _ isLasting: Bool) -> Void

    /// A closure that is itself the guarded value would be wrapped anew by each access.
    fileprivate struct Hearing { let listener: Listener }

    fileprivate static let hearing = Locked<Hearing?>(nil)

    /// Calls a function with the findings, from any thread. Tests of this package call it.
    package static func listen(_ listener: @escaping Listener) {
      Self.hearing.withLock { $0 = Hearing(listener: listener) }
    }
  }
#endif
