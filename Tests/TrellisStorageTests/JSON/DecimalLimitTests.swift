import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisJSON
@testable @_spi(Generated) import TrellisStorage

/// A decimal has at most 38 digits, although `Decimal` has numbers of 39.
@Suite("The limit of decimals") struct DecimalLimitTests {
  /// Numbers that `Decimal` holds exactly.
  private static let within = [
    "99999999999999999999999999999999999999", "-0.00000000000000000000000000000000000001",
    "1234567890123456789.0123456789012345678", "300000000000000000000000000000000000000",
  ]
  private static let beyond = [
    "340282366920938463463374607431768211455", "-300000000000000000000000000000000000001",
    "1.00000000000000000000000000000000000001", "0.100000000000000000000000000000000000001",
  ]

  private func attribute(_ type: AttributeType) throws -> (CheckedAttribute, Model) {
    let model = try Model(
      ModelDescription(
        name: "M", entities: [EntityDescription("Entry", attributes: [.init("price", type, optional: true)])]))
    let checked = try #require(model.entities[0].properties[0].attribute.flatMap(CheckedAttribute.init))
    return (checked, model)
  }

  @Test("the rule of a save accepts what has 38 digits, and refuses what has 39, also in a list")
  func rule() throws {
    let (scalar, list) = (try attribute(.decimal).0, try attribute(.array(.decimal)).0)
    for text in Self.within {
      let number = try #require(Decimal(string: text))
      #expect(scalar.failures(of: number.storedValue).isEmpty, "\(text)")
      #expect(list.failures(of: [1, number, 2].storedValue).isEmpty, "\(text)")
    }
    for text in Self.beyond {
      let number = try #require(Decimal(string: text))
      #expect(number.storedValue == .text(text))
      let failures = scalar.failures(of: number.storedValue)
      #expect(failures.map(\.rule) == [.notANumber] && failures[0].message == "must be a number of at most 38 digits")
      #expect(
        list.failures(of: [1, number, 2].storedValue).map(\.message) == [
          "must hold nothing but numbers of at most 38 digits"
        ], "\(text)")
    }
    #expect(scalar.failures(of: Decimal.nan.storedValue).count == 1)
    #expect(list.failures(of: [Decimal.nan].storedValue).count == 1)
    #expect(list.failures(of: [Decimal]().storedValue).isEmpty)
  }

  @Test("a document names the object with a decimal that it cannot carry")
  func document() throws {
    let (_, model) = try attribute(.decimal)
    let request = SaveRequest()
    request.inserts = [
      .init(entity: 0, records: [PlainRecord(model.entities[0], key: 5, [.text(Self.beyond[0])])])
    ]
    let home = try TestFolder()
    let store = try StoreConfiguration.json(at: home.file("store.json")).open(model)
    _ = try store.reserveKeys(10)
    let error = #expect(throws: StoreError.self) { try store.connect().save(request) }
    #expect(error?.code == .unstorableValue)
    #expect(error?.message.contains("Entry#5.price") == true && error?.message.contains("38 digits") == true)
  }
}
