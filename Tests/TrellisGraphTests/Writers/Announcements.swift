import Observation
import Trellis
import TrellisModel

/// What observers of a context are told, property by property, from when this is made.
struct Announcements {
  private struct Property: Hashable {
    let object: Int
    /// The place among the relationships that the test touches, behind the attributes.
    let place: Int
  }

  private final class Told: Sendable {
    let properties = Locked(Set<Property>())
  }

  private let village: Village
  private let before: Picture
  private let told = Told()

  init(_ village: Village, _ writer: Writer) throws {
    self.village = village
    // Loading partners may bring objects up to date.
    _ = try writer.registered().map { $0.map(writer.picture) }
    let objects = try writer.registered()
    before = Picture(objects: objects.map { $0.map(writer.picture) })
    for (number, object) in objects.enumerated() {
      guard let object else { continue }
      track(Property(object: number, place: -3)) { _ = (object as? any Labelled)?.label }
      track(Property(object: number, place: -2)) { _ = (object as? any Labelled)?.size }
      track(Property(object: number, place: -1)) { _ = (object as? Villager)?.nick }
      for (place, shape) in village.plan.touched.enumerated() where village.isKind(number, of: shape.entity) {
        track(Property(object: number, place: place)) { _ = writer.reading(object, shape) }
      }
    }
  }

  private func track(_ property: Property, _ read: () -> Void) {
    withObservationTracking(read) { [told] in _ = told.properties.withLock { $0.insert(property) } }
  }

  /// - Parameter seen: what the context shows now.
  func check(_ seen: Picture) throws {
    let told = told.properties.withLock { $0 }
    func expect(_ isTold: Bool, _ name: String) throws {
      if !isTold { throw Village.Difference(description: "\(name) is another one, and observers were not told") }
    }
    for (number, (before, after)) in zip(before.objects, seen.objects).enumerated() {
      guard let before, let after else { continue }
      if before.label != after.label {
        try expect(told.contains(Property(object: number, place: -3)), "\(number).label")
      }
      if before.size != after.size { try expect(told.contains(Property(object: number, place: -2)), "\(number).size") }
      if before.nick != after.nick { try expect(told.contains(Property(object: number, place: -1)), "\(number).nick") }
      for (place, shape) in village.plan.touched.enumerated() where before.partners[place] != after.partners[place] {
        try expect(told.contains(Property(object: number, place: place)), "\(number).\(shape.name)")
      }
    }
  }
}
