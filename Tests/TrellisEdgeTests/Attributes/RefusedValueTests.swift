import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Values that no store could keep") struct RefusedValueTests {
  private static let spoilers: [(property: String, spoil: @Sendable (Sample) -> Void)] = [
    ("precise", { $0.precise = .nan }), ("precise", { $0.precise = .signalingNaN }), ("single", { $0.single = .nan }),
    ("amount", { $0.amount = .nan }), ("moment", { $0.moment = Date(timeIntervalSinceReferenceDate: .nan) }),
    ("moment", { $0.moment = Date(timeIntervalSinceReferenceDate: .infinity) }),
    ("moment", { $0.moment = Date(timeIntervalSinceReferenceDate: -.infinity) }),
    ("moment", { $0.moment = Date(timeIntervalSince1970: 9.2221e12) }),
    ("moment", { $0.moment = Date(timeIntervalSince1970: -9.2221e12) }),
    ("moment", { $0.moment = Date(timeIntervalSince1970: 1e300) }),
    ("moments", { $0.moments = [Date(timeIntervalSinceReferenceDate: .infinity)] }),
    ("numbers", { $0.numbers = [1, .nan] }), ("numbers", { $0.numbers = [.infinity] }),
    ("amounts", { $0.amounts = [1, .nan] }), ("moments", { $0.moments = [Date(timeIntervalSinceReferenceDate: .nan)] }),
    ("point", { $0.point = Point(x: 0, y: .nan) }),
  ]

  @Test("a number that is none is refused at save, wherever it hides", arguments: StoreKind.inPlace, spoilers.indices)
  func notANumber(kind: StoreKind, spoiler: Int) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    let sample = Sample(in: context)
    try context.save()
    let (property, spoil) = Self.spoilers[spoiler]
    spoil(sample)
    let error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.property) == [property] && error?.failures.map(\.rule) == [.notANumber])
    try sample.rollback()
    #expect(!context.hasChanges)
    spoil(Sample(in: context))
    #expect(throws: ValidationError.self) { try context.save() }
    #expect(try place.container.newContext().count(Sample.all) == 1)
  }

  private static let farDates = [.infinity, -.infinity, .nan, 1e300, 9.3e12, -9.3e12].map {
    Date(timeIntervalSinceReferenceDate: $0)
  }

  @Test("the last dates that can be kept are kept", arguments: StoreKind.inPlace)
  func lastDates(kind: StoreKind) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    let edges = kind.keepsAllDates ? [9.2219e12, -9.2219e12] : [9.2219e12, -2.1e11]
    for seconds in edges {
      let sample = Sample(in: context)
      sample.moment = Date(timeIntervalSince1970: seconds)
      #expect(sample.moment == Date(timeIntervalSince1970: seconds))
    }
    try context.save()
    let found = try place.container.newContext().fetch(Sample.all).map(\.moment)
    #expect(found == edges.map { Date(timeIntervalSince1970: $0) })
  }

  @Test("a date beyond what can be kept is what was set until a save refuses it", arguments: StoreKind.inPlace)
  func notClamped(kind: StoreKind) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    let sample = Sample(in: context)
    for date in Self.farDates where !date.timeIntervalSinceReferenceDate.isNaN {
      sample.moment = date
      #expect(sample.moment == date)
    }
  }

  @Test("a predicate that compares with such a date is an error", arguments: StoreKind.inPlace)
  func predicates(kind: StoreKind) throws {
    let place = try Place(kind)
    let context = place.container.newContext()
    _ = Sample(in: context)
    try context.save()
    for date in Self.farDates {
      for request in [
        Sample.where { $0.moment < date }, Sample.where { $0.moment == date }, Sample.where { $0.moment.isIn([date]) },
        Sample.where("moment >= %@", date), Sample.where("NOT moment IN %@", [date]),
      ] {
        #expect(throws: (any Error).self) { try context.count(request) }
        #expect(throws: (any Error).self) { try context.fetch(request) }
      }
      #expect(throws: (any Error).self) { try context.updateAll(Sample.all) { $0.moment.set(date) } }
    }
    _ = Sample(in: context)
    // Unsaved objects are looked at in memory.
    #expect(throws: (any Error).self) {
      try context.fetch(Sample.where { $0.moment < Date(timeIntervalSince1970: 1e300) })
    }
  }

  @Test("a stored date beyond what can be kept is refused when it is read, and found by a check")
  func stored() throws {
    for number in [Int64.max, .min, -9_222_000_000_000_000_001] {
      let place = try Place(.sqlite)
      let context = place.container.newContext()
      _ = Sample(in: context)
      try context.save()
      place.interference.plant(.integer(number), in: "moment")
      let error = #expect(throws: StoreError.self) { try place.container.newContext().fetch(Sample.all) }
      #expect(error?.code == .unreadableValue)
      #expect(try place.container.check().map(\.code) == [.unreadableValue])
    }
  }
}
