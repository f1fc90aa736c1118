import Foundation
import TrellisModel
import TrellisTestSupport

@testable import Trellis
@testable import TrellisDynamic
@_spi(Generated) import TrellisRuntime
@testable import TrellisSync

/// What happens in the middle of a step, at a moment when a clock is read.
final class Interruption: @unchecked Sendable {
  private var delay = 0
  private var action: (() throws -> Void)?
  private(set) var failure: (any Error)?
  private(set) var hasHappened = false
  /// When the clock was read last, by that of the computer.
  private(set) var lastRead: Int64 = 0

  /// - Parameter delay: How many times the clock is read before.
  func plan(after delay: Int, _ action: @escaping () throws -> Void) {
    (self.delay, self.action, hasHappened, failure) = (delay, action, false, nil)
  }

  func cancel() { (action, hasHappened, failure) = (nil, false, nil) }

  func clockIsRead() {
    lastRead = Date().microseconds
    guard let action else { return }
    delay -= 1
    if delay >= 0 { return }
    self.action = nil
    hasHappened = true
    do { try action() } catch { failure = error }
  }
}

extension World {
  /// A program with a store.
  final class Node {
    let store: SyncStore
    let skew: Int64
    let interruption = Interruption()
    private(set) var replica: Replica
    /// The number of saves of the program itself that changed something.
    private(set) var saves = 0
    private(set) var refusedSaves = 0
    var conflicts: [Int64: SyncConflict] = [:]
    /// Objects that are others at the server, by the key that they were made with.
    var unions: [Int64: Int64] = [:]
    /// Whether a message of it is on its way. It mostly waits for the answer.
    var isWaiting = false
    /// The step until which the network does not reach it.
    var isAwayUntil = 0
    /// A copy of its store, and whether it was put in the place of the store.
    var copy: URL?
    private(set) var isRestored = false
    /// The moments of the server that the store showed at its saves, by their times.
    private(set) var moments: [Int64: Set<String>] = [:]
    /// The moments of the server that the store shows. Those are the same to it that have changed none of its objects.
    private(set) var shown: Set<String> = [""]
    /// The change sets that say what a history did not, by number.
    private(set) var recovered: Set<Int64> = []
    /// The moment of an answer that is being taken.
    var moment: String?
    /// The last answer to a push, and an answer whose data is not all here. A program that ends forgets them.
    var pushed: PushAnswer?
    var part: (answer: PullAnswer, sent: Int64)?
    private let sizes: MessageSizes

    /// The number that the server has given it; 0 for none.
    var number: Int64 { (try? replica.state().record?.number) ?? 0 }

    init(_ model: ObjectModel, skew: Int64, _ sizes: MessageSizes) throws {
      store = try SyncStore(model)
      self.skew = skew
      self.sizes = sizes
      replica = try store.replica(skew: skew, interruption, sizes: sizes)
    }

    func restart() throws {
      try store.restart()
      try begin()
    }

    func restore(_ copy: URL) throws {
      try store.restore(copy)
      try begin()
      isRestored = true
    }

    private func begin() throws {
      replica = try store.replica(skew: skew, interruption, sizes: sizes)
      (pushed, part) = (nil, nil)
    }

    /// The next request.
    func request() throws -> SyncMessage? {
      if let request = try replica.registration() { return .register(request) }
      if let request = try replica.nextPush(after: pushed) { return .push(request) }
      if let part, let request = try replica.nextFetch(for: part.answer) { return .fetch(request) }
      return try replica.nextPull().map { .pull($0) }
    }

    /// The change sets of a request, wherever they are.
    func sets(of request: PushRequest) throws -> [ChangeSet] {
      guard let packed = request.packed else { return request.sets }
      guard let outbox = try replica.state().outbox, outbox.packed == packed else { return [] }
      return try replica.sets(of: outbox)
    }

    /// Takes an answer.
    func receive(_ answer: PullAnswer) throws -> Replica.Reception {
      moment = answer.token
      defer { moment = nil }
      let before = try store.container.historyToken()
      let wasRecovering = try replica.state().record?.recovery != nil
      let reception = try replica.receive(answer)
      if wasRecovering, case let state = try replica.state(), state.record?.recovery == nil {
        recovered.formUnion(try state.outbox.map(replica.sets)?.map(\.sequence) ?? [])
      }
      if reception == .applied {
        let saves = try store.container.history(since: before)
        if saves.contains(where: { $0.author?.hasPrefix("sync from ") == true }) { shown = [] }
        shown.insert(answer.token)
      }
      return reception
    }

    /// A save of the program.
    /// - Returns: whether anything was saved.
    @discardableResult func save(_ random: inout SeededGenerator) throws -> Bool {
      let before = try store.container.historyToken()
      switch try Scribe(store.container).save(&random) {
      case nil: return false
      case false?:
        refusedSaves += 1
        return false
      case true?: break
      }
      for save in try store.container.history(since: before) {
        moments[save.date.microseconds &+ skew, default: []].formUnion(shown.union([moment].compactMap(\.self)))
      }
      if try store.container.historyToken() != before { saves += 1 }
      return true
    }
  }
}

extension Date {
  var microseconds: Int64 { Int64(timeIntervalSince1970 * 1_000_000) }
}
