import Foundation
import Testing
import Trellis

@Suite("Values that no store could keep") struct RefusedValueTests {
  private static let spoilers: [(property: String, spoil: @Sendable (Sample) -> Void)] = [
    ("precise", { $0.precise = .nan }), ("precise", { $0.precise = .signalingNaN }), ("single", { $0.single = .nan }),
    ("amount", { $0.amount = .nan }), ("moment", { $0.moment = Date(timeIntervalSinceReferenceDate: .nan) }),
    ("numbers", { $0.numbers = [1, .nan] }), ("numbers", { $0.numbers = [.infinity] }),
    ("amounts", { $0.amounts = [1, .nan] }), ("moments", { $0.moments = [Date(timeIntervalSinceReferenceDate: .nan)] }),
    ("point", { $0.point = Point(x: 0, y: .nan) }),
  ]

  @Test("a number that is none is refused at save, wherever it hides", arguments: StoreKind.allCases, spoilers.indices)
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
}
