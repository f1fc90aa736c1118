import Testing
import Trellis

/// What a store says when it cannot do something; an issue when it says something else, or nothing.
@discardableResult func failure(
  of code: StoreError.Code? = nil, _ place: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) -> StoreError? {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch let error as StoreError {
    if let code { #expect(error.code == code, "\(error)", sourceLocation: sourceLocation) }
    #expect(!error.message.isEmpty && !error.remedy.isEmpty, place, sourceLocation: sourceLocation)
    return error
  } catch {
    Issue.record(error, place, sourceLocation: sourceLocation)
  }
  return nil
}
