import DiaryModel
import Foundation
public import SwiftUI
public import Trellis
import TrellisUI

/// The diary: a search field, the entries by month, and a form for a new entry or one of them.
public struct DiaryScreen: View {
  @State private var search = ""
  @State private var edited: ObjectID<EmotionDiary>?
  @State private var isAdding = false
  @State private var isMarked = false

  public init() {}

  public var body: some View {
    Text(isMarked ? "Diary *" : "Diary")
    Button("Mark") { isMarked.toggle() }
    Button("New") { isAdding = true }
    EntryList(search: search, edited: $edited).searchable(text: $search, prompt: "Search")
    if let edited {
      EntryDetail(id: edited)
      EntryForm(id: edited) { self.edited = nil }
    }
    if isAdding { EntryForm { isAdding = false } }
  }
}

struct EntryList: View {
  @LiveQuery<EmotionDiary.Columns, DatePeriod> private var entries: LiveList<EmotionDiary.Columns, DatePeriod>
  @Binding private var edited: ObjectID<EmotionDiary>?

  init(search: String, edited: Binding<ObjectID<EmotionDiary>?>) {
    let all = EmotionDiary.all.sorted { $0.createdAt.descending }
    _entries = LiveQuery(
      search.isEmpty ? all : all.where { $0.content.contains(search, .caseInsensitive) },
      sections: .by { $0.createdAt.month() }, pageSize: 4, animation: .easeInOut)
    _edited = edited
  }

  var body: some View {
    List {
      if !entries.news.inserted.isEmpty {
        Button("\(entries.news.inserted.count) new") { $entries.markSeen() }
      }
      ForEach(entries.sections) { month in
        Section(month.value.start.formatted(.iso8601.year().month())) {
          ForEach(month.ids, id: \.self) { id in EntryRow(id: id, edited: $edited) }
        }
      }
      if entries.hasMore { Button("More") { $entries.loadMore() } }
      if let error = entries.error { Text("\(error)") }
    }
  }
}

struct EntryRow: View {
  @LiveObject private var entry: EmotionDiary?
  @Binding private var edited: ObjectID<EmotionDiary>?

  init(id: ObjectID<EmotionDiary>, edited: Binding<ObjectID<EmotionDiary>?>) {
    _entry = LiveObject(id)
    _edited = edited
  }

  var body: some View {
    if let entry { Button(entry.content) { edited = entry.objectID } }
  }
}

struct EntryDetail: View {
  @LiveObject private var entry: EmotionDiary?

  init(id: ObjectID<EmotionDiary>) { _entry = LiveObject(id) }

  var body: some View {
    if let entry { Text("Detail: \(entry.content)") } else { Text("This entry is gone.") }
  }
}

struct EntryForm: View {
  @LiveForm private var form: ObjectForm<EmotionDiary>?
  private let close: () -> Void

  init(id: ObjectID<EmotionDiary>, close: @escaping () -> Void) {
    _form = LiveForm(editing: id)
    self.close = close
  }

  init(close: @escaping () -> Void) {
    _form = LiveForm { EmotionDiary(in: $0, emotion: .calm, content: "") }
    self.close = close
  }

  var body: some View {
    if let form {
      let failures = form.failures
      Form {
        TextField("Content", text: form.fields.content)
        if let message = failures.message(for: \.content) { Text("Content \(message)") }
        if let error = form.error { Text("\(error)") }
        Button("Save") { if form.save() { close() } }
        Button("Cancel") {
          form.cancel()
          close()
        }
      }
    } else {
      Button("This entry is gone.") { close() }
    }
  }
}

/// Entries for previews.
public struct SampleEntries: SeededPreview {
  public static let model = ObjectModel.diary

  public init() {}

  public static func seed(_ context: ManagedObjectContext) throws {
    for (text, day) in [("산책하고 커피", 3.0), ("비", 2.0), ("바다", 40.0)] {
      EmotionDiary(in: context, emotion: .happy, content: text).createdAt = Date(timeIntervalSince1970: day * 86400)
    }
  }
}
