import Observation
import Synchronization

/// Evaluates a body as a view does: again after something that it has read has changed, once however much has.
@MainActor final class Evaluations {
  private final class Mark: Sendable {
    let isDirty = Atomic(false)
  }

  private(set) var count = 0
  private let body: () -> Void
  private let mark = Mark()

  init(_ body: @escaping () -> Void) {
    self.body = body
    evaluate()
    count = 0
  }

  /// Whether what the body has read has changed since.
  var isDirty: Bool { mark.isDirty.load(ordering: .relaxed) }

  /// The number of evaluations since the last call, after those that are due: a body that makes itself dirty is found by it.
  func settled() -> Int {
    while isDirty && count < 10 { evaluate() }
    defer { count = 0 }
    return count
  }

  private func evaluate() {
    count += 1
    mark.isDirty.store(false, ordering: .relaxed)
    withObservationTracking(body) { [mark] in mark.isDirty.store(true, ordering: .relaxed) }
  }
}
