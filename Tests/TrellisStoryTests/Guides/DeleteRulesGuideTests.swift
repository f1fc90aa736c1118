import Testing
import Trellis
import TrellisInnerInterviewModel

@Suite("The guide to delete rules") final class DeleteRulesGuideTests: GuideRun {
  @Test("the sample prints what the guide says")
  func sample() throws {
    let context = try PersistentContainer(model: .innerInterview, store: .memory).newContext()
    let voice = Interviewer(in: context, name: "A friend")
    let subject = Subject(in: context, title: "Fear", interviewer: voice)
    let what = Question(in: context, text: "What?", subject: subject)
    let why = Question(in: context, text: "Why?", subject: subject, origin: what)
    let answer = Record(in: context, answer: "The dark", question: what)
    try context.save()

    // nullify: the question of a record stays, and lets go
    try context.delete(answer)
    print(what.record == nil, what.isDeleted)
    context.undelete(answer)

    // cascade: the record of a question goes with it
    try context.delete(what)
    print(answer.isDeleted, subject.questions.map(\.text))

    // no action: the question that came of it keeps an identity that leads nowhere
    print(why.origin == nil, why.snapshot.origin == what.objectID)
    try context.save()

    // deny: a voice stays while it asks
    try context.delete(voice)
    do {
      try context.save()
    } catch let refusal as ValidationError {
      print(refusal.failures.map { "\($0.entity).\($0.property) \($0.message)" })
    }
    try context.delete(subject)
    try context.save()
    print(try context.count(Question.all), try context.count(Interviewer.all))

    try expectPrinted(as: "DeleteRules")
  }
}
