import Foundation
import Testing
import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage
import TrellisTestSupport

@testable import TrellisBrowser

@Suite("Pages about a store") struct SiteTests {
  @Test("every page of every object is there, without a script, and every link in it leads to a page")
  func allPages() throws {
    let place = try BrowsedStore(isWritable: true)
    var open = [place.site.address()]
    var seen: Set<String> = []
    while let address = open.popLast() {
      guard seen.insert(address).inserted else { continue }
      let response = place.get(address)
      #expect(response.status == .ok, "\(address)")
      guard response.contentType.hasPrefix("text/html") else { continue }
      let page = String(decoding: response.body, as: UTF8.self)
      #expect(!page.lowercased().contains("<script"))
      open += BrowsedStore.links(in: page).filter { $0.hasPrefix("/") }
    }
    #expect(seen.count > 20)
  }

  @Test("texts of the store are escaped wherever they are shown")
  func escaping() throws {
    let place = try BrowsedStore(isWritable: true)
    let text = "<img src=x onerror=alert(1)>\"'&"
    let key = try place.insert("Tag", ["name": .text(text)])
    for address in [
      "object/Tag/\(key)", "object/Tag/\(key)/edit", "entity/Tag", "object/Tag/\(key)/delete", "past/Tag/\(key)",
    ] {
      let page = place.text(address)
      #expect(!page.contains("<img src=x"), "\(address)")
      #expect(page.contains("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;"), "\(address)")
    }
    #expect(place.text("entity/Tag?where=\(FormFields.encoded("<b>"))").contains("&lt;b&gt;"))
  }

  @Test("objects are filtered, sorted and shown page by page, and a wrong predicate is explained")
  func lists() throws {
    let place = try BrowsedStore(isWritable: false)
    let context = place.container.newContext()
    for number in 0..<120 {
      try context.insert("Tag", ["name": .text("tag \(String(repeating: "0", count: 3 - "\(number)".count))\(number)")])
    }
    try context.save()
    let filter = FormFields.encoded("name BEGINSWITH \"tag \"")
    let first = place.text("entity/Tag?where=\(filter)&sort=-name")
    #expect(first.contains("120 objects"))
    #expect(first.contains("tag 119") && first.contains("tag 070") && !first.contains("tag 069"))
    let third = place.text("entity/Tag?where=\(filter)&sort=-name&page=3")
    #expect(third.contains("tag 019") && third.contains("tag 000") && !third.contains("tag 020"))
    let wrong = place.get(place.site.address("entity", "Tag") + "?where=nmae%20%3D%3D%20%22a%22")
    #expect(wrong.status == .unprocessable)
    #expect(String(decoding: wrong.body, as: UTF8.self).contains("did you mean &#39;name&#39;"))
  }

  @Test("pictures are shown, other data is saved, and nothing that could have scripts is a picture")
  func data() throws {
    let place = try BrowsedStore(isWritable: false)
    let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
    let picture = try place.insert("Image", ["path": .text("a"), "data": .blob(png)])
    let shown = place.get(place.site.address("object", "Image", "\(picture)", "data", "data"))
    #expect(shown.contentType == "image/png" && shown.body == png && shown.fileName == nil)
    #expect(place.text("object/Image/\(picture)").contains("<img class=data"))
    for text in ["<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>", "<html>", "GIF", ""] {
      let key = try place.insert("Image", ["path": .text("b"), "data": .blob(Array(text.utf8))])
      let response = place.get(place.site.address("object", "Image", "\(key)", "data", "data"))
      #expect(response.contentType == "application/octet-stream")
      #expect(response.fileName == "Image-\(key)-data")
    }
    let none = try place.insert("Image", ["path": .text("c")])
    #expect(place.get(place.site.address("object", "Image", "\(none)", "data", "data")).status == .notFound)
  }

  // MARK: History

  @Test("a save is shown with what it changed, and undone unless something was built on it") func undo() throws {
    let place = try BrowsedStore(isWritable: true)
    let tag = try place.insert("Tag", ["name": .text("lake")])
    let save = try #require(try place.container.history().last).token.transaction
    #expect(place.text("history").contains("1 inserted"))
    #expect(place.text("history/\(save)").contains("<ins>lake</ins>"))
    let context = place.container.newContext()
    try #require(try context.object("Tag", tag)).set("name", .text("river"))
    try context.save()
    let refused = place.post("history/\(save)", [:])
    #expect(refused.status == .unprocessable)
    #expect(
      String(decoding: refused.body, as: UTF8.self).contains("Tag#\(tag).name was changed later. [changed-later]"))
    #expect(place.post("history/\(save + 1)", [:]).status == .seeOther)
    #expect(place.post("history/\(save)", [:]).status == .seeOther)
    #expect(try place.container.newContext().object("Tag", tag) == nil)
    #expect(place.get(place.site.address("history", "999")).status == .notFound)
  }

  @Test("a deleted object has its history, and comes back as of a save") func restore() throws {
    let place = try BrowsedStore(isWritable: true)
    let context = place.container.newContext()
    let diary = try #require(try context.objects("Diary").first { try !$0.members("images").isEmpty })
    let key = diary.key
    let save = try #require(try place.container.history().last).token.transaction
    try context.delete(diary)
    try context.save()
    #expect(place.get(place.site.address("object", "Diary", "\(key)")).status == .notFound)
    #expect(place.text("past/Diary/\(key)").contains("Restore as of save \(save)"))
    let lossy = place.post("past/Diary/\(key)", ["save": "\(save)"])
    #expect(String(decoding: lossy.body, as: UTF8.self).contains("[partner-gone]"))
    #expect(place.post("past/Diary/\(key)", ["save": "\(save)", "parts": "on"]).status == .seeOther)
    let later = place.container.newContext()
    let restored = try #require(try later.object("Diary", key))
    #expect(try later.count("Image", where: "diary == %@", [.value(.integer(key), .object(nil))]) == 1)
    #expect(try restored.members("tags").count == 2 && later.count("Diary") == 2)
    for form in [["save": "0"], ["save": "x"], [:]] {
      #expect(place.post("past/Diary/\(key)", form).status == .badRequest)
    }
  }

  // MARK: Changes

  @Test("a form shows every value, and saving it unchanged writes nothing")
  func unchangedForm() throws {
    let place = try BrowsedStore(isWritable: true)
    for address in place.objects {
      let before = try place.version(address)
      let response = place.post(address + "/edit", place.formFields(address + "/edit"))
      #expect(response.status == .seeOther, "\(address): \(String(decoding: response.body, as: UTF8.self))")
      #expect(try place.version(address) == before)
    }
  }

  @Test("an edit is saved under the model's rules, and its links at both ends")
  func edit() throws {
    let place = try BrowsedStore(isWritable: true)
    let image = try place.insert("Image", ["path": .text("new.png")])
    var fields = place.formFields("object/Diary/1/edit")
    fields["title"] = "바다\r\nsea & \"salt\""
    fields["note"] = ""
    fields["nil:note"] = "on"
    fields["images"] = "Image#\(image)"
    fields["mood"] = "calm"
    #expect(place.post("object/Diary/1/edit", fields).status == .seeOther)
    let context = place.container.newContext()
    let diary = try #require(try context.object("Diary", 1))
    #expect(diary["title"] == .text("바다\nsea & \"salt\""))
    #expect(diary["note"] == .null)
    #expect(diary["mood"] == .text("calm"))
    #expect(try diary.members("images").map { $0["path"] } == [.text("new.png")])
    #expect(try place.container.check().isEmpty)
  }

  @Test("every broken rule stands at its field, the other values stay in the form, and nothing is saved")
  func brokenRules() throws {
    let place = try BrowsedStore(isWritable: true)
    var fields = place.formFields("object/Diary/1/edit")
    fields["title"] = ""
    fields["rating"] = "11"
    fields["note"] = "kept in the form"
    fields.removeValue(forKey: "nil:note")
    let response = place.post("object/Diary/1/edit", fields)
    #expect(response.status == .unprocessable)
    let page = String(decoding: response.body, as: UTF8.self)
    #expect(place.faults(of: "title", in: page) == ["must not be empty"])
    #expect(place.faults(of: "rating", in: page) == ["must be at most 10"])
    #expect(place.faults(of: "note", in: page) == [])
    #expect(page.contains("kept in the form"))
    fields["rating"] = "ten"
    fields["tags"] = "Tag#99999"
    let second = String(decoding: place.post("object/Diary/1/edit", fields).body, as: UTF8.self)
    #expect(place.faults(of: "rating", in: second).first?.contains("must be a whole number") == true)
    #expect(place.faults(of: "tags", in: second) == ["names Tag#99999, which is no object"])
    #expect(try place.version("object/Diary/1") == 1)
  }

  @Test("all mistakes of a form are shown at once, whether a value cannot be read, is missing or breaks a rule")
  func allMistakes() throws {
    let place = try BrowsedStore(isWritable: true)
    var fields = place.formFields("object/Diary/1/edit")
    fields["title"] = ""
    fields["rating"] = "11"
    fields["writtenAt"] = "yesterday"
    let page = String(decoding: place.post("object/Diary/1/edit", fields).body, as: UTF8.self)
    #expect(place.faults(of: "title", in: page) == ["must not be empty"])
    #expect(place.faults(of: "rating", in: page) == ["must be at most 10"])
    #expect(place.faults(of: "writtenAt", in: page).count == 1)
    var new = place.formFields("entity/Diary/new")
    new["rating"] = "11"
    new["writtenAt"] = "yesterday"
    new.removeValue(forKey: "title")
    let second = String(decoding: place.post("entity/Diary/new", new).body, as: UTF8.self)
    for name in ["title", "rating", "writtenAt"] { #expect(place.faults(of: name, in: second).count == 1, "\(name)") }
    #expect(try place.container.newContext().count("Diary") == 2)
    for address in ["entity/Diary/new", "object/Diary/1/edit", "object/Diary/1/delete"] {
      #expect(place.text(address).contains("Hooks of the program do not run here."))
    }
  }

  @Test("columns that a list leaves out are named, and chosen by the address")
  func columns() throws {
    let place = try BrowsedStore(isWritable: false)
    #expect(place.text("entity/Diary").contains("not shown: place, images, tags"))
    let chosen = place.text("entity/Diary?column=tags&column=title&sort=title")
    #expect(chosen.contains("<th>tags</th>") && !chosen.contains(">rating</a></th>"))
    #expect(chosen.contains("column=tags&amp;column=title"))
  }

  @Test("the message about a predicate keeps its lines")
  func predicateMessage() throws {
    let place = try BrowsedStore(isWritable: false)
    let page = place.text("entity/Diary?where=\(FormFields.encoded("titel == 'a'"))")
    #expect(page.firstMatch(of: /<pre class=fault>[^<]*\n[^<]*\^/) != nil)
  }

  @Test("a new object gets the model's defaults, and what it lacks is said at the field")
  func new() throws {
    let place = try BrowsedStore(isWritable: true)
    var fields = place.formFields("entity/Diary/new")
    #expect(fields["mood"] == "happy")
    let tag = try place.insert("Tag", ["name": .text("new")])
    fields["tags"] = "\(tag)"
    let refused = place.post("entity/Diary/new", fields)
    #expect(refused.status == .unprocessable)
    #expect(!place.faults(of: "title", in: String(decoding: refused.body, as: UTF8.self)).isEmpty)
    fields["title"] = "new"
    let saved = place.post("entity/Diary/new", fields)
    #expect(saved.status == .seeOther)
    let page = String(decoding: place.get(try #require(saved.location)).body, as: UTF8.self)
    #expect(page.contains("new") && page.contains("happy"))
  }

  @Test("a form of an object that was changed meanwhile saves nothing")
  func conflict() throws {
    let place = try BrowsedStore(isWritable: true)
    var fields = place.formFields("object/Diary/1/edit")
    let context = place.container.newContext()
    try #require(try context.object("Diary", 1)).set("note", .text("by another program"))
    try context.save()
    fields["note"] = "by the form"
    #expect(place.post("object/Diary/1/edit", fields).status == .conflict)
    #expect(place.post("object/Diary/1/delete", ["version": "1"]).status == .conflict)
    #expect(place.text("object/Diary/1").contains("by another program"))
  }

  @Test("a delete obeys the delete rules, and says what prevents it")
  func delete() throws {
    let place = try BrowsedStore(isWritable: true)
    let page = place.text("object/Place/1/delete")
    #expect(page.contains("Diary#1") && !page.contains("<form method=post"))
    #expect(place.post("object/Place/1/delete", ["version": "1"]).status == .unprocessable)
    #expect(place.post("object/Diary/1/delete", ["version": "1"]).status == .seeOther)
    #expect(place.get(place.site.address("object", "Diary", "1")).status == .notFound)
    #expect(try place.container.newContext().count("Image") == 0)
    #expect(try place.container.check().isEmpty)
  }

  @Test("a site that only reads has no forms that change something, and answers none")
  func readOnly() throws {
    let place = try BrowsedStore(isWritable: false)
    let before = try place.bytes
    for address in place.objects { #expect(!place.text(address).contains("/edit")) }
    for address in ["object/Diary/1/edit", "object/Diary/1/delete", "entity/Tag/new"] {
      #expect(place.post(address, ["version": "1", "name": "x"]).status == .forbidden)
    }
    #expect(try place.bytes == before)
  }

  @Test("what another program saves or replaces is shown at the next request", arguments: BrowsedStore.Kind.allCases)
  func liveChanges(_ kind: BrowsedStore.Kind) throws {
    let place = try BrowsedStore(isWritable: false, kind: kind)
    #expect(!place.text("entity/Tag").contains("from elsewhere"))
    let other = try place.openElsewhere()
    let context = other.newContext()
    try context.insert("Tag", ["name": .text("from elsewhere")])
    try context.save()
    #expect(place.text("entity/Tag").contains("from elsewhere"))
    other.close()
  }
}
