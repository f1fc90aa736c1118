import Testing
import Trellis
import TrellisInnerInterviewModel

@Suite("The guide to undo") final class UndoGuideTests: GuideRun {
  @Test("the sample prints what the guide says")
  func sample() throws {
    let context = try PersistentContainer(model: .innerInterview, store: .memory).newContext()
    let subject = Subject(in: context, title: "Fear")
    let what = Question(in: context, text: "What?", subject: subject)
    try context.save()

    context.undo.enable()
    context.undo.group("Ask") { what.followUp("Why?") }
    context.undo.group("Answer") { what.answer("The dark") }
    print(subject.questions.map(\.text), what.isAnswered, context.undo.undoName ?? "-")

    try context.undo.undo()
    try context.undo.undo()
    print(subject.questions.map(\.text), what.isAnswered, context.undo.redoName ?? "-")

    try context.undo.redo()
    try context.delete(subject)
    try context.save()
    print(try context.count(Question.all))

    try context.undo.undo()
    try context.save()
    print(subject.questions.map(\.text), try context.count(Question.all))

    try expectPrinted(as: "Undo")
  }
}
