import Foundation
import Testing
import Trellis
import TrellisInnerInterviewModel
import TrellisTestSupport

@Suite("The story of InnerInterview") struct InnerInterviewTests {
  /// A subject with three questions, the first of them answered.
  private final class World {
    let shelf: TestContainer
    let context: ManagedObjectContext
    let subject: Subject
    let record: Record

    init(_ kind: StoreKind) throws {
      shelf = try TestContainer(.innerInterview, kind)
      context = shelf.container.newContext()
      let interviewer = Interviewer(in: context, name: "미래의 나")
      subject = Subject(in: context, title: "두려움", interviewer: interviewer)
      for text in ["무엇이 두려운가", "언제부터인가", "무엇이 도움이 되는가"] {
        subject.questions.append(Question(in: context, text: text))
      }
      record = try #require(subject.questions[0].answer("아무것도 시작하지 못하는 것"))
      record.keywords = [Keyword(in: context, word: "시작")]
      try context.save()
    }

    /// The same subject in a context of its own, as it is stored.
    func stored() throws -> Subject {
      let fresh = shelf.container.newContext()
      kept.append(fresh)
      return try #require(try fresh.first(Subject.where { $0.title == "두려움" }))
    }

    private var kept: [ManagedObjectContext] = []
  }

  @Test("what was asked and answered comes back in its order", arguments: StoreKind.inPlace)
  func whole(kind: StoreKind) throws {
    let world = try World(kind)
    let subject = try world.stored()
    #expect(subject.questions.map(\.text) == ["무엇이 두려운가", "언제부터인가", "무엇이 도움이 되는가"])
    #expect(subject.questions.map(\.isAnswered) == [true, false, false])
    #expect(subject.questions[0].hint == nil && abs(subject.progress - 1.0 / 3) < 1e-9)
    #expect(subject.questions[0].record?.keywords.map(\.word) == ["시작"])
    #expect(subject.questions[0].record?.question === subject.questions[0])
  }

  @Test("a question has one record, a record one question: a new partner pushes the old one out")
  func oneToOne() throws {
    let world = try World(.memory)
    let questions = world.subject.questions
    let second = Record(in: world.context, answer: "작년", question: questions[1])
    questions[1].record = world.record
    #expect(questions[0].record == nil && second.question == nil && world.record.question === questions[1])
    let error = #expect(throws: ValidationError.self) { try world.context.save() }
    #expect(error?.failures.map(\.property) == ["question"])
    second.question = questions[0]
    try world.context.save()
    #expect(try world.stored().questions.map { $0.record?.answer } == ["작년", "아무것도 시작하지 못하는 것", nil])
  }

  @Test("a follow-up comes right behind its question, and reordering is kept", arguments: StoreKind.inPlace)
  func ordering(kind: StoreKind) throws {
    let world = try World(kind)
    let further = try #require(world.subject.questions[0].followUp("왜"))
    world.subject.questions.move(from: 3, to: 0)
    try world.context.save()
    let subject = try world.stored()
    #expect(subject.questions.map(\.text) == ["무엇이 도움이 되는가", "무엇이 두려운가", "왜", "언제부터인가"])
    #expect(subject.questions[2].origin === subject.questions[1] && further.origin?.followUps.objects == [further])
  }

  @Test("a subject keeps one question at least, and twenty at most")
  func counts() throws {
    let world = try World(.memory)
    let (context, subject) = (world.context, world.subject)
    let empty = Subject(in: context, title: "기쁨")
    #expect(throws: ValidationError.self) { try empty.validate() }
    var error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.rule) == [.minimumCount])
    empty.questions.append(Question(in: context, text: "무엇이 기쁜가"))
    try context.save()

    try context.delete(empty.questions[0])
    error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.rule) == [.minimumCount] && error?.failures.first?.entity == "Subject")
    context.rollback()

    while subject.questions.count < 21 { subject.questions.append(Question(in: context, text: "더")) }
    error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.rule) == [.maximumCount])
    subject.questions.remove(at: 20)
    // A question belongs to a subject: what was taken out has to go.
    error = #expect(throws: ValidationError.self) { try context.save() }
    #expect(error?.failures.map(\.property) == ["subject"] && error?.failures.first?.rule == .required)
  }

  @Test("cascade: a subject takes its questions along, and they their records", arguments: StoreKind.inPlace)
  func cascade(kind: StoreKind) throws {
    let world = try World(kind)
    try world.context.delete(world.subject)
    #expect(world.record.isDeleted)
    try world.context.save()
    let fresh = world.shelf.container.newContext()
    #expect(try fresh.count(Subject.all) == 0 && fresh.count(Question.all) == 0 && fresh.count(Record.all) == 0)
    #expect(try fresh.fetch(Keyword.all).map(\.records.count) == [0])
  }

  @Test("nullify: a deleted record leaves its question open", arguments: StoreKind.inPlace)
  func nullify(kind: StoreKind) throws {
    let world = try World(kind)
    try world.context.delete(world.record)
    #expect(world.subject.openQuestions.count == 3)
    try world.context.save()
    #expect(try world.stored().progress == 0)
  }

  @Test("deny: a voice stays while it asks", arguments: StoreKind.inPlace)
  func deny(kind: StoreKind) throws {
    let world = try World(kind)
    let interviewer = try #require(world.subject.interviewer)
    try world.context.delete(interviewer)
    let error = #expect(throws: ValidationError.self) { try world.context.save() }
    #expect(error?.failures.map(\.rule) == [.deniedDelete])
    #expect(error?.failures.first?.blockers.map(\.key) == [world.subject.objectID.key])
    world.subject.interviewer = nil
    try world.context.save()
    #expect(try world.shelf.container.newContext().count(Interviewer.all) == 0)
  }

  @Test("no action: follow-ups stay, and remember a question that reads nil", arguments: StoreKind.inPlace)
  func noAction(kind: StoreKind) throws {
    let world = try World(kind)
    let first = world.subject.questions[0]
    let further = try #require(first.followUp("왜"))
    try world.context.save()
    let id = first.objectID
    try world.context.delete(first)
    try world.context.save()
    #expect(further.origin == nil && further.snapshot.origin == id)
    let stored = try #require(try world.stored().questions.first { $0.text == "왜" })
    #expect(stored.origin == nil && stored.snapshot.origin == id)
  }

  @Test("a draft is typed, never stored, and becomes the answer when it is confirmed", arguments: StoreKind.inPlace)
  func transient(kind: StoreKind) throws {
    let world = try World(kind)
    let record = try #require(try world.stored().questions.first?.record)
    let context = try #require(record.managedObjectContext)
    #expect(record.draft == record.answer)
    record.draft = "아무것도"
    #expect(!context.hasChanges)
    try context.save()
    #expect(try world.stored().questions.first?.record?.draft == "아무것도 시작하지 못하는 것")
    record.confirmDraft()
    try context.save()
    let again = try #require(try world.stored().questions.first?.record)
    #expect(again.answer == "아무것도" && again.revision == 1)
  }

  @Test("texts are found wherever they stand inside, through relationships too", arguments: StoreKind.inPlace)
  func searching(kind: StoreKind) throws {
    let world = try World(kind)
    let context = world.shelf.container.newContext()
    #expect(try context.fetch(Record.where { $0.answer.contains("시작") }).map(\.objectID) == [world.record.objectID])
    #expect(try context.count(Subject.where { $0.questions.any { $0.record.answer.contains("시작") } }) == 1)
    #expect(try context.count(Subject.where { $0.questions.none { $0.text.contains("도움") } }) == 0)
    #expect(try context.count(Record.where { $0.question.subject.title == "두려움" }) == 1)
    #expect(try context.count(Question.where { $0.record == nil && $0.subject.interviewer.name == "미래의 나" }) == 2)
    let newest = Record.where { $0.keywords.any { $0.word == "시작" } }.sorted { $0.recordedAt.descending }.limit(1)
    #expect(try context.first(newest)?.question?.text == "무엇이 두려운가")
  }

  @Test(
    "an update through a chain of relationships changes the rows at its end and no other", arguments: StoreKind.inPlace
  )
  func chain(kind: StoreKind) throws {
    let world = try World(kind)
    let keyword = try #require(try world.stored().questions.first?.record?.keywords.first)
    let context = try #require(keyword.managedObjectContext)
    let subject = keyword.records.first?.question?.subject
    subject?.questions.first?.record?.answer = "이제는 없다"
    subject?.interviewer?.name = "지금의 나"
    #expect(Set(context.updatedObjects.map(\.changedProperties)) == [["answer"], ["name"]])
    try context.save()
    let stored = try world.stored()
    #expect(stored.questions.first?.record?.answer == "이제는 없다" && stored.interviewer?.name == "지금의 나")
    #expect(stored.questions.first?.record?.revision == 1)
    world.context.mergeChanges()
    #expect(world.record.answer == "이제는 없다")
  }

  @Test("a subject that was deleted and saved comes back whole by undo")
  func undo() throws {
    let world = try World(.sqlite)
    world.context.undo.enable()
    try world.context.delete(world.subject)
    try world.context.save()
    try world.context.undo.undo()
    try world.context.save()
    let subject = try world.stored()
    #expect(subject.questions.count == 3 && subject.questions[0].record?.keywords.map(\.word) == ["시작"])
    #expect(subject.interviewer?.name == "미래의 나")
  }
}
