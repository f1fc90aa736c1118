import Foundation
import Synchronization
import Testing
import Trellis
import TrellisDiaryModel
import TrellisTestSupport

@Suite("Work beside the main actor") struct WorkersTests {
  private let file = TemporaryFile()

  private func container(workers: Int) throws -> PersistentContainer {
    try PersistentContainer(model: .diary, store: .sqlite(at: file.url, durability: .relaxed), workers: workers)
  }

  /// What blocks have noted.
  private final class Notes: Sendable {
    private let numbers = Mutex<[Int]>([])
    func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    var all: [Int] { numbers.withLock { $0 } }
  }

  /// How many run at the moment, and how many did at most.
  private final class Crowd: Sendable {
    private let counts = Mutex<(now: Int, most: Int)>((0, 0))

    func enter() {
      counts.withLock { counts in
        counts.now += 1
        counts.most = max(counts.most, counts.now)
      }
    }
    func leave() { counts.withLock { $0.now -= 1 } }
    var most: Int { counts.withLock { $0.most } }
  }

  @Test("as many blocks run at a time as there are workers, and never more", arguments: [1, 3])
  func atATime(workers: Int) async throws {
    let container = try container(workers: workers)
    let crowd = Crowd()
    try await withThrowingTaskGroup { group in
      for _ in 0..<30 {
        group.addTask {
          try await container.perform { _ in
            crowd.enter()
            // The full number is only seen when the others have come, which takes long on a busy machine.
            for _ in 0..<5_000 where crowd.most < workers { Thread.sleep(forTimeInterval: 0.001) }
            Thread.sleep(forTimeInterval: 0.002)
            crowd.leave()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(crowd.most == workers)
  }

  @Test("blocks begin in the order in which they were handed in", arguments: [1, 2])
  func order(workers: Int) async throws {
    let container = try container(workers: workers)
    let gate = DispatchSemaphore(value: 0)
    let begun = Notes()
    let blockers = (0..<workers).map { _ in Task { try await container.perform { _ in gate.wait() } } }
    try await Task.sleep(for: .milliseconds(100))
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<10 {
      tasks.append(Task { try await container.perform { _ in begun.add(number) } })
      try await Task.sleep(for: .milliseconds(20))
    }
    // One at a time goes on, or two could note their beginnings the other way round.
    gate.signal()
    for task in tasks { try await task.value }
    for _ in 1..<workers { gate.signal() }
    for blocker in blockers { try await blocker.value }
    #expect(begun.all == Array(0..<10))
  }

  @Test("a task that is cancelled while it waits leaves the line, and the others come")
  func cancelled() async throws {
    let container = try container(workers: 1)
    let gate = DispatchSemaphore(value: 0)
    let blocker = Task { try await container.perform { _ in gate.wait() } }
    try await Task.sleep(for: .milliseconds(50))
    let run = Notes()
    let waiting = Task { try await container.perform { _ in run.add(1) } }
    let last = Task { try await container.perform { _ in 7 } }
    try await Task.sleep(for: .milliseconds(50))
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    gate.signal()
    try await blocker.value
    #expect(try await last.value == 7)
    #expect(run.all.isEmpty)
  }

  @Test("workers that save at once lose nothing")
  func saving() async throws {
    let container = try container(workers: 4)
    try await withThrowingTaskGroup { group in
      for number in 0..<40 {
        group.addTask {
          try await container.perform { context in
            _ = EmotionDiary(in: context, emotion: .happy, content: "\(number)")
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try container.newContext().count(EmotionDiary.all) == 40)
  }
}
