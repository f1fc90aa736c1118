import Trellis

extension Question {
  /// Whether there is an answer.
  public var isAnswered: Bool { record != nil }

  /// Answers the question, or rewrites its answer.
  ///
  /// - Returns: the record of the answer; nil when the question belongs to no context any more.
  @discardableResult public func answer(_ text: String) -> Record? {
    if let record {
      record.answer = text
      return record
    }
    return managedObjectContext.map { Record(in: $0, answer: text, question: self) }
  }

  /// Asks a further question right behind this one, in the same subject.
  ///
  /// - Returns: the new question; nil when this one belongs to no context or subject any more.
  @discardableResult public func followUp(_ text: String) -> Question? {
    guard let managedObjectContext, let subject else { return nil }
    let further = Question(in: managedObjectContext, text: text, origin: self)
    subject.questions.insert(further, at: (subject.questions.firstIndex(of: self) ?? subject.questions.count) + 1)
    return further
  }
}
