import Foundation
import Testing
package import Trellis
import TrellisRuntime

/// What debug builds find wrong with relationships after the operations of a test.
///
/// Without other threads and processes that write the store, each finding is an error of the runtime.
package final class LinkFindings: @unchecked Sendable {  // a lock guards the only field
  @TaskLocal private static var present: LinkFindings?
  private let lock = NSLock()
  private var found: [String] = []

  #if DEBUG
    /// Makes all graphs of the process tell what they find.
    private static let isListening: Bool = {
      LinkWatch.listen { found, operation, isLasting in
        let texts = found.map { "after \(operation), \($0)" }
        // Tests that collect have no other threads, so that nothing is left to the next merge.
        if let present {
          if !isLasting { present.add(texts) }
        } else if isLasting {
          uncollected.add(texts.map { "\($0) (\(Test.current.map { $0.name } ?? "no test"))" })
        }
      }
      return true
    }()
  #else
    private static let isListening = false
  #endif

  /// The findings of tests that do not collect them, as far as the next merge has not settled them: until then, they may be
  /// what other threads save meanwhile. They end the process with a failure.
  private static let uncollected: LinkFindings = {
    atexit {
      let texts = LinkFindings.uncollected.take()
      if texts.isEmpty { return }
      print("The ends of relationships differ:\n" + texts.joined(separator: "\n"))
      fflush(nil)
      _exit(1)
    }
    return LinkFindings()
  }()

  /// Makes findings that no test collects a failure of the process. Test support calls it where tests make their stores.
  package static func demandNone() { _ = isListening }

  /// Collects the findings during a call.
  package static func collect<Result>(_ body: (LinkFindings) throws -> Result) rethrows -> Result {
    _ = isListening
    let findings = LinkFindings()
    return try $present.withValue(findings) { try body(findings) }
  }

  /// Ignores the findings during a call in which other threads or containers save: an operation may read what a merge has
  /// not heard of.
  package static func ignore<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    _ = isListening
    return try await $present.withValue(LinkFindings(), operation: body)
  }

  private func add(_ new: [String]) { lock.withLock { found += new } }

  /// The findings since the last call, each once.
  package func take() -> [String] {
    lock.withLock {
      defer { found = [] }
      var known: Set<String> = []
      return found.filter { known.insert($0).inserted }
    }
  }
}

extension ManagedObjectContext {
  /// The contradictions among all objects in memory. Release builds do not look.
  ///
  /// - Parameter hasMerged: Whether the context has just merged, which makes a difference for a child.
  package func linkViolations(hasMerged: Bool = false) -> [String] {
    #if DEBUG
      graph.linkViolations(hasMerged: hasMerged).map(\.description)
    #else
      []
    #endif
  }
}
