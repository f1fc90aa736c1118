import Testing
import Trellis

@testable import Shop

@Suite("The settings of a server") struct SettingsTests {
  @Test("what the environment says counts, and what it leaves out has a default") func environment() throws {
    let settings = try ShopSettings(environment: [
      "SHOP_DATABASE_URL": "postgresql://shop@db/shop", "SHOP_SCHEMA": "market", "SHOP_CONNECTIONS": "3",
    ])
    #expect(settings.databaseURL == "postgresql://shop@db/shop")
    #expect(settings.schema == "market" && settings.connections == 3 && settings.port == 8080)
  }

  @Test("what cannot be used is named, and not shown") func unusable() {
    #expect(throws: SettingsError(variable: "SHOP_DATABASE_URL")) { try ShopSettings(environment: [:]) }
    for (name, value) in [("SHOP_CONNECTIONS", "0"), ("SHOP_PORT", "secret")] {
      let environment = ["SHOP_DATABASE_URL": "postgresql://", name: value]
      let error = #expect(throws: SettingsError.self) { try ShopSettings(environment: environment) }
      #expect(error?.variable == name && error?.description.contains(value) == false)
    }
  }

  @Test(
    "an error of the database does not show the password",
    arguments: [
      "postgresql://shop:secret@127.0.0.1:1/shop", "host=127.0.0.1 port=1 user=shop password=secret",
      "postgresql://shop:secret@127.0.0.1:port/shop",
    ])
  func password(_ url: String) {
    let error = #expect(throws: StoreError.self) { try ShopServer(ShopSettings(databaseURL: url)) }
    #expect(error?.code == .cannotOpen)
    #expect(error.map { "\($0)".contains("secret") } == false, "\(error.map { "\($0)" } ?? "")")
  }
}

@Suite("Errors as responses") struct FailureTests {
  @Test(
    "each error has its status",
    arguments: [
      (StoreError.Code.busy, 503, 1), (.contended, 503, 1), (.cannotOpen, 503, 5), (.inputOutput, 503, 5),
      (.inDoubt, 504, nil),
      (.readOnly, 503, 5), (.migratedByOthers, 503, 5), (.unstorableValue, 422, nil), (.historyExpired, 410, nil),
      (.otherHistory, 410, nil), (.notUnique, 409, nil), (.internalError, 500, nil),
    ] as [(StoreError.Code, Int, Int?)])
  func statuses(_ code: StoreError.Code, _ status: Int, _ retryAfter: Int?) {
    let failure = HTTPFailure(StoreError(code, "It failed.", remedy: "Try again."))
    #expect(failure.statusCode == status && failure.retryAfter == retryAfter)
  }
}
