import Foundation
import Testing
import Trellis
import TrellisFoundationPredicates
import TrellisModel
import TrellisRuntime
import TrellisStorage
import TrellisStoreTesting

@Suite("What errors say") struct ErrorTextTests {
  private static let modules = ["Model", "Storage", "Runtime", "FoundationPredicates", "StoreTesting"]

  /// One of each public error type.
  private func samples() throws -> [any Error] {
    var deep = QueryPredicate.constant(true)
    for _ in 0...QueryPredicate.depthLimit { deep = .not(deep) }
    let looping = ModelDescription(name: "M", entities: [EntityDescription("A", parent: "B")])
    let failing = StoreConformance { _ in throw StoreError(.busy, "It is busy.", remedy: "Wait.") }
    let format = PredicateFormatError(.unexpected, "Expected a value.", in: "a ==", at: 4)
    let object = ValidationFailure(
      AnyObjectID(entity: "A", key: 1, type: ManagedObject.self), property: "name", rule: .pattern,
      message: "must match")
    let rule = try #require(StoreConformance.cases.first)
    let failed = try #require(failing.run(rule).first)
    let samples: [any Error] = [
      StoreError(.busy, "It is busy.", remedy: "Wait."), SaveConflict(rows: []), format,
      try error { _ = try PredicateEvaluator(deep) }, try error { _ = try Model(looping) },
      try error { _ = try Pattern("(") },
      StoreFinding(.damaged, "It is damaged.", repair: "Restore it."), ConstraintViolations(), RefusedRows(keys: [1]),
      PredicateImportError(code: .unsupported, message: "This is unsupported."),
      failed, object,
      ValidationError(failures: [object]),
      ContextError(.loadFailed, "A row could not be loaded."),
    ]
    return samples
  }

  private func error(_ body: () throws -> Void) throws -> any Error {
    do {
      try body()
    } catch {
      return error
    }
    throw StoreError(.internalError, "Nothing was thrown.", remedy: "Mend the sample.")
  }

  @Test("each public error type says as localizedDescription what it says as description")
  func localized() throws {
    let samples = try samples()
    for sample in samples {
      #expect(
        sample.localizedDescription == "\(sample)", "\(type(of: sample))")
    }
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    var declared: Set<String> = []
    for module in Self.modules {
      let folder = root.appending(path: "Sources/Trellis\(module)")
      for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        declared.formUnion(
          text.matches(of: /public (?:struct|enum|final class) (\w+):[^{]*\bError\b/).map { String($0.1) })
      }
    }
    #expect(declared.count > 10 && Set(samples.map { "\(type(of: $0))" }) == declared)
  }
}
