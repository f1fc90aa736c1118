public import Logging

/// What the environment says about a server.
public struct ShopSettings: Sendable {
  /// Where the database is, as libpq reads it. It may contain a password, so it is never logged.
  let databaseURL: String
  /// The schema of the shop's tables.
  public var schema = "shop"
  /// The number of connections to the database, and of requests that work on it at a time.
  public var connections = 8
  public var host = "127.0.0.1"
  public var port = 8080
  /// The name of this instance, which the history notes as the author of its changes.
  public var instance = "shop"
  /// How long a request waits until it is its turn. Later it is told to come again.
  public var patience = Duration.seconds(10)
  public var logLevel = Logger.Level.info

  public init(databaseURL: String) { self.databaseURL = databaseURL }

  /// Reads `SHOP_DATABASE_URL`, which is required, and `SHOP_SCHEMA`, `SHOP_CONNECTIONS`, `SHOP_HOST`, `SHOP_PORT` and
  /// `SHOP_INSTANCE`.
  public init(environment: [String: String]) throws(SettingsError) {
    guard let url = environment["SHOP_DATABASE_URL"] else { throw SettingsError(variable: "SHOP_DATABASE_URL") }
    func number(_ name: String, in range: ClosedRange<Int>) throws(SettingsError) -> Int? {
      guard let text = environment[name] else { return nil }
      guard let number = Int(text), range.contains(number) else { throw SettingsError(variable: name) }
      return number
    }
    databaseURL = url
    schema = environment["SHOP_SCHEMA"] ?? schema
    connections = try number("SHOP_CONNECTIONS", in: 1...1_000) ?? connections
    host = environment["SHOP_HOST"] ?? host
    port = try number("SHOP_PORT", in: 0...65_535) ?? port
    instance = environment["SHOP_INSTANCE"] ?? instance
  }
}

/// A variable of the environment that is missing or has no usable value. The value is not shown, because it may be a
/// password.
public struct SettingsError: Error, Equatable, CustomStringConvertible {
  public let variable: String
  public var description: String { "\(variable) is missing or cannot be used." }
}
