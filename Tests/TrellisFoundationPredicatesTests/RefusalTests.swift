import Foundation
import Testing
import Trellis
import TrellisDiaryModel
import TrellisFoundationPredicates

extension Work {
  fileprivate var shout: String { title.uppercased() }
}

@Suite("Predicates of Foundation that are refused") struct RefusalTests {
  private func refusal(_ predicate: Predicate<Work>) -> PredicateImportError? {
    do {
      _ = try Work.all.where(predicate)
      return nil
    } catch {
      return error
    }
  }

  @Test("a computed property is no property of the model")
  func computed() {
    let error = refusal(#Predicate { $0.shout == "A" })
    #expect(error?.code == .unknownProperty)
    #expect(
      error?.description
        == "Work has no property of the model at a key path of this predicate, which leads to 'String'. "
        + "Ask about the stored properties from which it is made. [unknown-property]")
  }

  @Test("a transient property is in no store")
  func transient() {
    #expect(refusal(#Predicate { $0.note == nil })?.code == .unknownProperty)
  }

  @Test("what has no counterpart is named, with the way out")
  func unsupported() {
    #expect(
      refusal(#Predicate { $0.title.count > 3 })?.description
        == "The number of a text's characters cannot be asked of a store. Ask for its unicodeScalars.count, as lengths "
        + "count those. [unsupported]")
    #expect(
      refusal(#Predicate { $0 is Series })?.description
        == "'TypeCheck' cannot be asked of a store. Write this part as a typed condition or in a format string. "
        + "[unsupported]")
    #expect(refusal(#Predicate { $0.title.utf8.count == 1 })?.code == .unknownProperty)
  }

  @Test("a model that does not ask for it says what to put into its file")
  func noKeyPaths() {
    let error = #expect(throws: PredicateImportError.self) { try Tag.all.where(#Predicate { $0.name == "a" }) }
    #expect(
      error?.description
        == "Tag does not know its key paths. Put \"foundationPredicates\": true into its model file. [no-key-paths]")
  }
}
