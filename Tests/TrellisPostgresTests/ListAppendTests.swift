import Foundation
import Synchronization
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// Sixteen clients that read lists and append to them, as in the tests of the Elle checker: since a list shows all that
/// was appended before, and each element comes once, the lists tell in which order the transactions were.
@Suite("Histories of clients that append to lists", .enabled(if: TestServer.isThere, "needs a server"))
struct ListAppendTests {
  /// `TRELLIS_APPENDS` sets the number of transactions of each client, `TRELLIS_APPEND_SEED` the seed.
  @Test("the transactions have an order that all of their reads and writes agree with") func order() throws {
    let seed = TestSettings.seed("TRELLIS_APPEND_SEED")
    let run = try AppendRun(seed: seed, transactions: TestSettings.number("TRELLIS_APPENDS", or: 60))
    let history = try run.history()
    let lists = try run.lists()
    let check = HistoryCheck(history, lists)
    print(
      "list append, seed \(seed): \(history.count) transactions, \(history.filter(\.isCommitted).count) committed, "
        + "\(check.skews) write skews")
    #expect(check.failures.isEmpty, "seed \(seed): \(check.failures.prefix(5).joined(separator: "\n"))")
    #expect(history.contains { $0.isCommitted && !$0.appends.isEmpty })
  }
}

/// What a client has read and appended. All reads are of one moment.
private struct AppendTransaction: Sendable {
  let reads: [Int64: [Int]]
  let appends: [Int64: Int]
  let isCommitted: Bool
}

private struct AppendRun {
  private static let registers = 6
  private static let clients = 16
  private let shelf: Shelf
  private let keys: [Int64]
  private let seed: UInt64
  private let transactions: Int

  init(seed: UInt64, transactions: Int) throws {
    self.seed = seed
    self.transactions = transactions
    shelf = try Shelf(connections: 8, timeout: 60)
    try shelf.store.connect().save(shelf.inserting((0..<Self.registers).map { "register \($0)" }))
    var keys: [Int64] = []
    try shelf.store.connect().fetchKeys(shelf.all) { key, _ in keys.append(key) }
    self.keys = keys
  }

  func history() throws -> [AppendTransaction] {
    let all = Mutex<[AppendTransaction]>([])
    let failures = Failures()
    let element = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: Self.clients) { client in
      var random = SeededGenerator(seed: seed &+ UInt64(client))
      do {
        for _ in 0..<transactions {
          let done = try transaction(&random) { element.add(1, ordering: .relaxed).newValue }
          all.withLock { $0.append(done) }
        }
      } catch {
        failures.add(error)
      }
    }
    if let failure = failures.all.first { throw failure }
    return all.withLock { $0 }
  }

  private func transaction(_ random: inout SeededGenerator, _ element: () -> Int) throws -> AppendTransaction {
    let connection = try shelf.store.connect()
    let wanted = Array(keys.shuffled(using: &random).prefix(1 + random.below(3)))
    var (reads, versions): ([Int64: [Int]], [Int64: Int64]) = ([:], [:])
    try connection.rows(of: 0, keys: wanted) { row in
      reads[row.key] = row.isNull(1) ? [] : Self.elements(row.text(1))
      versions[row.key] = row.version
    }
    var appends: [Int64: Int] = [:]
    for key in wanted.prefix(random.below(wanted.count + 1)) { appends[key] = element() }
    let request = SaveRequest()
    var updates = SaveRequest.Updates(entity: 0)
    for (key, element) in appends {
      let list = (reads[key] ?? []) + [element]
      updates.records.append(ListRecord(key, versions[key] ?? 0, list.map(String.init).joined(separator: " ")))
      updates.masks.append(ColumnMask(bits: ColumnMask.bit(of: 1)))
    }
    if !appends.isEmpty { request.updates = [updates] }
    do {
      try connection.save(request)
      return AppendTransaction(reads: reads, appends: appends, isCommitted: true)
    } catch is SaveConflict {
      return AppendTransaction(reads: reads, appends: appends, isCommitted: false)
    }
  }

  static func elements(_ text: String) -> [Int] { text.split(separator: " ").compactMap { Int($0) } }

  func lists() throws -> [Int64: [Int]] {
    var lists: [Int64: [Int]] = [:]
    try shelf.store.connect().fetch(shelf.all) { row in
      lists[row.key] = row.isNull(1) ? [] : Self.elements(row.text(1))
    }
    return lists
  }
}

private final class ListRecord: StoredRecord {
  let storedKey: Int64
  let storedVersion: Int64
  private let list: String

  init(_ key: Int64, _ version: Int64, _ list: String) {
    storedKey = key
    storedVersion = version
    self.list = list
  }

  func writeRow(to row: RowWriter) {}
  func writeColumns(of properties: ColumnMask, to row: RowWriter) { row.text(list) }
}

/// The dependencies between transactions, and the anomalies in them.
private struct HistoryCheck {
  private(set) var failures: [String] = []
  /// The transactions that read what another one then wrote, each of the other.
  private(set) var skews = 0
  /// The transactions that come after each one: it wrote, and they wrote or read after it.
  private var followers: [Set<Int>]

  init(_ history: [AppendTransaction], _ lists: [Int64: [Int]]) {
    followers = history.map { _ in [] }
    var writers: [Int: Int] = [:]
    for (number, transaction) in history.enumerated() {
      for (key, element) in transaction.appends {
        writers[element] = number
        let count = lists[key]?.filter { $0 == element }.count
        if count != (transaction.isCommitted ? 1 : 0) {
          failures.append(
            "element \(element) is \(count ?? 0) times in its list, committed: \(transaction.isCommitted)")
        }
      }
    }
    var antidependencies: [(reader: Int, writer: Int)] = []
    for (key, list) in lists {
      for (before, after) in zip(list, list.dropFirst()) {
        if let first = writers[before], let second = writers[after], first != second { followers[first].insert(second) }
      }
      for (number, transaction) in history.enumerated() {
        guard let read = transaction.reads[key] else { continue }
        guard list.starts(with: read) else {
          failures.append("a read of \(key) saw what was never there: \(read.suffix(3))")
          continue
        }
        if let last = read.last, let writer = writers[last], writer != number { followers[writer].insert(number) }
        if read.count < list.count, let next = writers[list[read.count]], next != number {
          antidependencies.append((number, next))
        }
      }
    }
    findCycles()
    for (reader, writer) in antidependencies where history[reader].isCommitted {
      // A cycle with one antidependency alone: a read of two moments, or a lost update.
      if isReachable(reader, from: writer) {
        failures.append("transaction \(reader) read before \(writer), and comes after it")
      }
      skews += antidependencies.contains { $0.reader == writer && $0.writer == reader } ? 1 : 0
    }
  }

  /// Cycles of writes and of reads of what was written.
  private mutating func findCycles() {
    var state = followers.map { _ in 0 }
    for start in followers.indices where state[start] == 0 {
      var open: [(node: Int, rest: [Int])] = [(start, Array(followers[start]))]
      state[start] = 1
      while let last = open.indices.last {
        guard let next = open[last].rest.popLast() else {
          state[open[last].node] = 2
          open.removeLast()
          continue
        }
        if state[next] == 1 { failures.append("a cycle through transactions \(open[last].node) and \(next)") }
        if state[next] == 0 {
          state[next] = 1
          open.append((next, Array(followers[next])))
        }
      }
    }
  }

  private func isReachable(_ goal: Int, from start: Int) -> Bool {
    var (seen, open): (Set<Int>, [Int]) = ([start], [start])
    while let node = open.popLast() {
      if node == goal { return true }
      for next in followers[node] where seen.insert(next).inserted { open.append(next) }
    }
    return false
  }
}
