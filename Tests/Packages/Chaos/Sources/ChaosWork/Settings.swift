import Foundation
public import Trellis
import TrellisPostgres

/// What the command line says.
public struct Settings: Sendable {
  public enum Command: String, Sendable {
    /// Makes the store with its accounts, counters, shelves and labels.
    case prepare
    /// Works until the input ends.
    case load
    /// Prints what is stored, and the findings of the store's check.
    case dump
    /// Opens the store and closes it.
    case open
  }

  public let command: Command
  public private(set) var url: String
  public let schema: String
  /// The name of this run, unlike that of all others.
  public private(set) var name: String
  public private(set) var journal: String?
  /// The file that says which of several stores has a tenant. The program works on all of them, and for all tenants.
  public let directory: String?
  public let workers: Int
  public let connections: Int
  public let timeout: TimeInterval
  /// The number of milliseconds between two operations of a worker.
  public let pause: Int
  /// Whether the store may be migrated, and former programs stopped.
  public let migration: String

  /// - Throws: ``UsageError``.
  public init(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) throws {
    guard let command = arguments.first.flatMap(Command.init) else {
      throw UsageError(description: "usage: chaos-client prepare|load|dump|open --url URL [--journal FILE] …")
    }
    self.command = command
    var values: [String: String] = [:]
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      guard option.hasPrefix("--"), let value = rest.popFirst() else {
        throw UsageError(description: "\(option) has no value")
      }
      values[String(option.dropFirst(2))] = value
    }
    directory = values["directory"]
    guard directory != nil || values["url"] != nil else { throw UsageError(description: "--url is missing") }
    url = values["url"] ?? ""
    schema = values["schema"] ?? "shop"
    name = values["name"] ?? "client"
    journal = values["journal"]
    workers = values["workers"].flatMap(Int.init) ?? 6
    connections = values["connections"].flatMap(Int.init) ?? 4
    timeout = values["timeout"].flatMap(TimeInterval.init) ?? 30
    pause = values["pause"].flatMap(Int.init) ?? 50
    migration = values["migration"] ?? "automatic"
  }

  /// The same settings for the store of some tenants.
  ///
  /// - Parameter tenant: nil for what all of them share.
  public func on(_ shard: Directory.Shard, for tenant: String? = nil) -> Settings {
    var settings = self
    settings.url = shard.url
    settings.name = tenant.map { "\($0).\(name)" } ?? name
    settings.journal = "\(shard.journals)/\(settings.name).journal"
    return settings
  }

  public var store: StoreConfiguration {
    let policy: MigrationPolicy =
      switch migration {
      case "refused": .refused
      case "stopping": .automatic.stoppingFormerPrograms()
      default: .automatic
      }
    return .postgres(url, schema: schema, connections: connections, timeout: timeout, migration: policy)
  }
}

public struct UsageError: Error, CustomStringConvertible {
  public let description: String
}
