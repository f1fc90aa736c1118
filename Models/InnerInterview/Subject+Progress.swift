extension Subject {
  /// The questions without an answer, in the order in which they are asked.
  public var openQuestions: [Question] { questions.filter { !$0.isAnswered } }

  /// How much is answered, from 0 to 1.
  public var progress: Double {
    questions.isEmpty ? 0 : 1 - Double(openQuestions.count) / Double(questions.count)
  }
}
