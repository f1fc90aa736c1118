import Dispatch

/// Runs asynchronous work from a thread outside the cooperative pool, and waits for its end.
public func waitForTasks(_ body: @escaping @Sendable () async throws -> Int) throws -> Int {
  let end = DispatchSemaphore(value: 0)
  let result = TaskResult()
  Task.detached {
    do { result.value = .success(try await body()) } catch { result.value = .failure(error) }
    end.signal()
  }
  end.wait()
  return try result.value.get()
}

/// Written before the semaphore is signalled and read after it, so never by two threads at once.
private final class TaskResult: @unchecked Sendable {
  var value: Result<Int, any Error> = .success(0)
}

/// Many tasks that read, and one that writes, until all are done.
///
/// - Returns: the sum of what the readers have read.
public func readersBesideWriter(
  read: @escaping @Sendable () async throws -> Int, write: @escaping @Sendable (_ turn: Int) async throws -> Void
) throws -> Int {
  try waitForTasks {
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask {
        for turn in 0..<savesOfTheWriter { try await write(turn) }
        return 0
      }
      for _ in 0..<readers {
        group.addTask {
          var sum = 0
          for _ in 0..<readsOfAReader { sum &+= try await read() }
          return sum
        }
      }
      return try await group.reduce(0, &+)
    }
  }
}
