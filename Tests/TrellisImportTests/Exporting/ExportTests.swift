import Foundation
import Testing
import Trellis
import TrellisJSON
import TrellisTestSupport

@Suite("Exporting JSON") struct ExportTests {
  private static let authors = #"""
    [{"id": 7, "full_name": "Kim \"A\"", "life": {"born": "31.01.1990"}, "seen": 1700000000123,
      "contact": {"e-mail": "kim@example.org", "address": {"street": "Sea 1", "town": null}},
      "labels": [{"text": "a"}, {"text": "b"}], "scores": [1, 2, 3], "marks": [{"value": 4.5, "source": {"name": "press"}}],
      "prizes": [{"name": "Sun"}], "genre": "poetry", "active": false, "fee": "12.5", "site": "https://example.org/kim",
      "token": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "photo": "SGk=", "phones": {"home": "1", "work": "2"},
      "works": [{"isbn": "x", "title": "X", "kind": {"name": "book"}, "pages": 10},
                {"kind": {"name": "poem"}, "isbn": "y", "title": "Y", "lines": 4}],
      "friend_ids": [8, 7], "mentor": 8},
     {"id": 8, "full_name": "Lee", "mentor": 7, "friend_ids": [7]}]
    """#

  @Test("what is exported can be imported: into the same store nothing changes, into a new one all is the same")
  func roundTrip() throws {
    let shelf = try Shelf()
    #expect(try shelf.take(Self.authors).rejected.isEmpty)
    for layout in [JSONLayout.document, .lines] {
      let data = try shelf.context.exportJSON(Author.all.sorted { $0.number }, layout: layout)
      let again = try shelf.context.importJSON(Author.self, from: data, layout: layout)
      #expect(again.inserted.isEmpty && again.updated.isEmpty && again.rejected.isEmpty && again.unresolved.isEmpty)
      let other = try Shelf()
      let report = try other.context.importJSON(Author.self, from: data, layout: layout)
      #expect(report.rejected.isEmpty && report.unresolved.isEmpty)
      #expect(try other.picture() == shelf.picture())
      #expect(try other.context.exportJSON(Author.all.sorted { $0.number }, layout: layout) == data)
    }
  }

  @Test("keys have the order of the model, and values are where the mapping says")
  func text() throws {
    let shelf = try Shelf()
    try shelf.take(
      #"[{"id": 1, "full_name": "a", "marks": [{"source": {"name": "press"}, "value": 2}], "labels": [{"text": "x"}]}, {"id": 2, "full_name": "b", "mentor": 1, "phones": {"home": "5"}, "works": [{"isbn": "i", "title": "t", "kind": {"name": "poem"}}]}]"#
    )
    let data = try shelf.context.exportJSON(Author.where { $0.number == 2 }, layout: .lines)
    let nulls = #""life":{"born":null},"seen":null,"contact":{"e-mail":null"#
    let one =
      #"{"id":1,"full_name":"a",\#(nulls),"address":null},"labels":[{"text":"x"}],"scores":[],"marks":[{"source":{"name":"press"},"value":2.0}],"prizes":[{"name":null}],"genre":null,"active":true,"fee":null,"site":null,"token":null,"photo":null,"works":[],"phones":{},"friend_ids":[],"mentor":null,"notes":[]}"#
    let two =
      #"{"id":2,"full_name":"b",\#(nulls),"address":null},"labels":[],"scores":[],"marks":[{"source":{"name":"press"},"value":null}],"prizes":[{"name":null}],"genre":null,"active":true,"fee":null,"site":null,"token":null,"photo":null,"works":[{"kind":{"name":"poem"},"isbn":"i","title":"t","publisher":{"url":null},"lines":null}],"phones":{"home":"5"},"friend_ids":[],"mentor":\#(one),"notes":[]}"#
    #expect(String(decoding: data, as: UTF8.self) == two + "\n")
  }

  @Test("only what the request prefetches is nested, if asked for; the others are written by their key")
  func nesting() throws {
    let shelf = try Shelf()
    try shelf.take(Self.authors)
    let data = try shelf.context.exportJSON(
      Author.where { $0.number == 7 }.prefetching { $0.works }, layout: .lines, nesting: .prefetched)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains(#""mentor":8"#) && text.contains(#""friend_ids":[7,8]"#) && text.contains(#""isbn":"x""#))
  }
}
