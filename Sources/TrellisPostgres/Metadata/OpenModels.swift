import TrellisModel
import TrellisStorage

/// The models whose programs can use a store besides those with its own: former ones to which later models have only
/// added, and newer ones that wait for former programs to end.
///
/// It is one text, such as `7 3f0a@4 b81c@6+`: the number of migrations that programs cannot live with, then what each
/// model stores, by its checksum, with the number from which on programs with it can use the store. A `+` marks a model
/// that waits.
struct OpenModels: Hashable {
  struct Entry: Hashable {
    let since: Int64
    var isWaiting = false
  }

  /// The number of migrations that programs cannot live with.
  private(set) var migrations: Int64 = 0
  private(set) var entries: [String: Entry] = [:]

  init() {}

  init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 100_000)
    guard let first = words.first, let number = Int64(first) else { return nil }
    migrations = number
    for word in words.dropFirst() {
      let parts = word.split(separator: "@", maxSplits: 1)
      guard parts.count == 2 else { return nil }
      let isWaiting = parts[1].utf8.last == UInt8(ascii: "+")
      guard let since = Int64(isWaiting ? parts[1].dropLast() : parts[1]) else { return nil }
      entries[String(parts[0])] = Entry(since: since, isWaiting: isWaiting)
    }
  }

  var text: String {
    ([String(migrations)]
      + entries.sorted { $0.key < $1.key }.map { "\($0)@\($1.since)\($1.isWaiting ? "+" : "")" })
      .joined(separator: " ")
  }

  /// Whether a program can go on that has opened the store with this number of migrations.
  func isOpen(to storage: String, openedAt number: Int64) -> Bool {
    number == migrations || entries[storage].map { $0.since <= number } ?? false
  }

  // MARK: Changing

  /// The store gets a model that only adds to its own.
  mutating func expand(from storage: String) {
    if entries[storage]?.isWaiting != false { entries[storage] = Entry(since: migrations) }
  }

  /// A newer model uses the store as it is, until former programs have ended.
  mutating func wait(for storage: String) { entries[storage] = Entry(since: migrations, isWaiting: true) }

  /// The store gets a model that others cannot live with, unless they store the same and could use the store before.
  mutating func replace(with storage: String) {
    migrations += 1
    entries = entries.filter { $0.key == storage }.mapValues { Entry(since: $0.since) }
  }
}
