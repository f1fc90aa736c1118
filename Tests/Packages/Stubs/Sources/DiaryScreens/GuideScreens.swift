import DiaryModel
import Foundation
import SwiftUI
import Trellis
import TrellisUI

// The samples of Docs/Screens.md, block by block.
enum Guide {
  @MainActor static func scene(_ container: PersistentContainer) -> some Scene {
    WindowGroup { DiaryScreen() }.trellisContainer(container)
  }

  struct TagList: View {
    @LiveQuery(Tag.all.sorted { $0.name }) private var tags

    var body: some View {
      List {
        ForEach(tags.ids, id: \.self) { TagRow(id: $0) }
      }
    }
  }

  struct TagRow: View {
    @LiveObject private var tag: Tag?
    init(id: ObjectID<Tag>) { _tag = LiveObject(id) }
    var body: some View { if let tag { Text(tag.name) } }
  }

  struct NameIndex: View {
    @LiveQuery(Tag.all, sections: .by { $0.name.initial(in: Locale(identifier: "ko")) }) private var names

    var body: some View {
      ForEach(names.sections) { letter in Section(letter.value ?? "-") { Text("\(letter.count)") } }
    }
  }

  struct SearchScreen: View {
    @State private var search = ""

    var body: some View {
      EntryList(search: search).searchable(text: $search, prompt: "Search")
    }
  }

  struct EntryList: View {
    @LiveQuery<EmotionDiary.Columns, DatePeriod> private var entries: LiveList<EmotionDiary.Columns, DatePeriod>

    init(search: String) {
      _entries = LiveQuery(
        EmotionDiary.where { $0.content.contains(search, .caseInsensitive) }.sorted { $0.createdAt.descending },
        sections: .by { $0.createdAt.month() }, pageSize: 50, animation: .default)
    }

    var body: some View {
      if !entries.news.inserted.isEmpty {
        Button("\(entries.news.inserted.count) new") { $entries.markSeen() }
      }
      List {
        ForEach(entries.sections) { month in
          Section(month.value.start.formatted(.iso8601.year().month())) {
            ForEach(month.ids, id: \.self) { EntryRow(id: $0) }
          }
        }
        if entries.hasMore { Button("More") { $entries.loadMore() } }
        if let error = entries.error { Text("\(error)") }
      }
    }
  }

  struct EntryRow: View {
    @LiveObject private var entry: EmotionDiary?

    init(id: ObjectID<EmotionDiary>) { _entry = LiveObject(id) }

    var body: some View {
      if let entry { Text(entry.content) }
    }
  }

  struct EntryForm: View {
    @LiveForm private var form: ObjectForm<EmotionDiary>?
    @Binding var isShown: Bool

    init(id: ObjectID<EmotionDiary>, isShown: Binding<Bool>) {
      _form = LiveForm(editing: id)
      _isShown = isShown
    }

    var body: some View {
      if let form {
        let failures = form.failures
        Form {
          TextField("Content", text: form.fields.content)
          if let message = failures.message(for: \.content) { Text("Content \(message)") }
          if let error = form.error { Text("\(error)") }
          Button("Save") { if form.save() { isShown = false } }
        }
      }
    }
  }

  struct NewEntryForm: View {
    @LiveForm private var form: ObjectForm<EmotionDiary>?

    init() {
      _form = LiveForm { context in
        let entry = EmotionDiary(in: context, emotion: .calm, content: "")
        if let sea = try context.first(Tag.where { $0.name == "sea" }) { entry.tags.append(sea) }
        return entry
      }
    }

    var body: some View { if let form { Text("\(form.object.tags.count) tags") } }
  }

  struct SampleEntries: SeededPreview {
    static let model = ObjectModel.diary

    static func seed(_ context: ManagedObjectContext) throws {
      _ = EmotionDiary(in: context, emotion: .happy, content: "산책하고 커피")
    }
  }
}

/// The views of the guide, to be shown.
public enum GuideViews {
  @MainActor public static var tags: some View { Guide.TagList() }
  @MainActor public static var index: some View { Guide.NameIndex() }
  @MainActor public static var search: some View { Guide.SearchScreen() }
  @MainActor public static var newEntry: some View { Guide.NewEntryForm() }
  @MainActor public static func form(_ id: ObjectID<EmotionDiary>, isShown: Binding<Bool>) -> some View {
    Guide.EntryForm(id: id, isShown: isShown)
  }
  @MainActor public static func seed(_ context: ManagedObjectContext) throws { try Guide.SampleEntries.seed(context) }
}
