import Foundation
import Synchronization
public import Trellis

/// Workers that do random operations on a store until they are told to stop.
public final class Load: Sendable {
  private let settings: Settings
  private let container: PersistentContainer
  private let journal: Journal
  private let watch: Watch
  private let perform: Operation.Performer
  private let isOver = Mutex(false)

  public init(
    _ settings: Settings, _ container: PersistentContainer, _ journal: Journal,
    _ perform: @escaping Operation.Performer
  ) {
    self.settings = settings
    self.container = container
    self.journal = journal
    self.perform = perform
    // A commit is asked about for a minute, and each attempt may wait for a connection and for each of the servers.
    watch = Watch(journal, limit: .seconds(60 + 10 * settings.timeout))
  }

  /// Works until the input ends.
  public func run() async {
    watch.start()
    Thread.detachNewThread {
      while readLine() != nil {}
      self.isOver.withLock { $0 = true }
    }
    let keepers = max(1, settings.workers / 3)
    let isDone = Mutex(0)
    for number in 0..<keepers { keepContext(number) { isDone.withLock { $0 += 1 } } }
    await withTaskGroup(of: Void.self) { group in
      for number in keepers..<max(keepers, settings.workers) { group.addTask { await self.usePerform(number) } }
    }
    while isDone.withLock({ $0 }) < keepers { try? await Task.sleep(for: .milliseconds(20)) }
    journal.note("end", settings.name)
  }

  private var goesOn: Bool { !isOver.withLock { $0 } }

  /// Works in a new context for each operation, as the handlers of a server do.
  private func usePerform(_ number: Int) async {
    var worker = Worker("\(settings.name).\(number)")
    let perform = perform
    while goesOn {
      let (name, operation) = worker.next()
      let start = begin(name, operation)
      var outcome: Outcome
      do {
        let isThere = try await container.perform(timeout: .seconds(settings.timeout)) { context in
          context.author = name
          return try perform(operation, context)
        }
        outcome = isThere ? .acknowledged : .missing
      } catch {
        outcome = Outcome(error)
      }
      end(name, outcome, start)
      worker.learn(operation, outcome)
      try? await Task.sleep(for: .milliseconds(pause(after: outcome)))
    }
  }

  /// Works in one context on a thread of its own, as a program that lives long does.
  private func keepContext(_ number: Int, _ whenDone: @escaping @Sendable () -> Void) {
    Thread.detachNewThread { [self] in
      let context = container.newContext()
      var worker = Worker("\(settings.name).\(number)")
      while goesOn {
        let (name, operation) = worker.next()
        let start = begin(name, operation)
        var outcome: Outcome
        do {
          context.author = name
          outcome = try perform(operation, context) ? .acknowledged : .missing
        } catch {
          outcome = Outcome(error)
        }
        // What was refused stays in the context, until it is given up.
        if context.hasChanges { context.rollback() }
        end(name, outcome, start)
        worker.learn(operation, outcome)
        Thread.sleep(forTimeInterval: Double(pause(after: outcome)) / 1_000)
      }
      whenDone()
    }
  }

  private func begin(_ name: String, _ operation: Operation) -> ContinuousClock.Instant {
    journal.note("intent", name, operation.words)
    watch.begin(name)
    return .now
  }

  private func end(_ name: String, _ outcome: Outcome, _ start: ContinuousClock.Instant) {
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    watch.end(name)
    let (kind, code, message) = outcome.words
    journal.note("done", name, kind, code, String(format: "%.1f", milliseconds), message)
  }

  private func pause(after outcome: Outcome) -> Int {
    switch outcome {
    case .acknowledged, .missing: settings.pause
    // A caller that is refused waits a little.
    case .refused, .doubtful, .failed: max(100, settings.pause)
    }
  }
}

/// Chooses operations, and remembers the items that it has made.
private struct Worker {
  private let name: String
  private var count = 0
  /// The keys of items that were acknowledged, and not deleted since.
  private var items: [String] = []

  init(_ name: String) { self.name = name }

  mutating func next() -> (name: String, operation: Operation) {
    count += 1
    let key = "\(name).\(count)"
    return (key, operation(key))
  }

  private func operation(_ key: String) -> Operation {
    let item = items.randomElement()
    switch Int.random(in: 0..<100) {
    case 0..<8:
      if let item { return .read(key: item) }
    case 8..<20:
      if let item { return .label(key: item, label: .random(in: 0..<Operation.labels)) }
    case 20..<34:
      if let item, items.count > 3 { return .delete(key: item) }
    case 34..<52: return .count(counter: .random(in: 0..<Operation.counters))
    case 52..<72:
      let from = Int64.random(in: 0..<Operation.accounts)
      let to = (from + .random(in: 1..<Operation.accounts)) % Operation.accounts
      return .transfer(key: key, from: from, to: to, amount: .random(in: 1...50))
    case 72..<82: return .fill(key: key)
    default: break
    }
    return .insert(key: key, shelf: .random(in: 0..<Operation.shelves))
  }

  mutating func learn(_ operation: Operation, _ outcome: Outcome) {
    switch (operation, outcome) {
    case (.insert(let key, _), .acknowledged): items.append(key)
    case (.read(let key), .missing), (.label(let key, _), .missing), (.delete(let key), .missing): forget(key)
    case (.delete(let key), .acknowledged), (.delete(let key), .doubtful): forget(key)
    default: break
    }
    if items.count > 40 { items.removeFirst() }
  }

  private mutating func forget(_ key: String) { items.removeAll { $0 == key } }
}
