import Foundation
import Testing
import TrellisDiagram
import TrellisModel
import TrellisTestSupport

#if canImport(FoundationXML)
  import FoundationXML
#endif

@Suite("A picture as SVG") struct SVGTests {
  /// The texts and links of a document; nil if it is not well-formed.
  private final class Reader: NSObject, XMLParserDelegate {
    var texts: [String] = []
    var links: [String] = []
    var elements: Set<String> = []
    private var isInText = false

    static func read(_ svg: String) -> Reader? {
      let reader = Reader()
      let parser = XMLParser(data: Data(svg.utf8))
      parser.delegate = reader
      return parser.parse() ? reader : nil
    }

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
      attributes: [String: String]
    ) {
      elements.insert(name)
      isInText = name == "text"
      if isInText { texts.append("") }
      if let link = attributes["href"] { links.append(link) }
    }

    func parser(
      _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) { isInText = false }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
      if isInText { texts[texts.count - 1] += string }
    }
  }

  @Test("is well-formed and has every name, for every small model in the tree, and in long runs for all")
  func wellFormed() throws {
    for (name, model) in try SomeModels.all(atMost: 8) {
      let reader = try #require(Reader.read(Diagram(model).svg()), "\(name)")
      for entity in model.entities where entity.name.count < 30 { #expect(reader.texts.contains(entity.name)) }
      #expect(!reader.elements.contains("script") && !reader.elements.contains("foreignObject"))
    }
  }

  @Test("texts are escaped, and characters that XML does not have are replaced")
  func escaped() throws {
    let hostile = "a<b>&\"c'\u{1}\u{FFFF}]]>"
    let model = try ModelDescription(
      name: hostile, doc: hostile,
      entities: [
        EntityDescription(
          hostile, attributes: [AttributeDescription("x", .codable(hostile))],
          relationships: [RelationshipDescription("r", to: hostile)], doc: hostile)
      ]
    ).resolved()
    let svg = Diagram(model).svg(link: { _ in "/e?a=\"1\"&b=<2>" })
    let reader = try #require(Reader.read(svg))
    let shown = "a<b>&\"c'\u{FFFD}\u{FFFD}]]>"
    #expect(reader.texts.contains(shown))
    #expect(reader.links == ["/e?a=\"1\"&b=<2>"])
  }

  @Test("an entity leads where the link says, an enum nowhere")
  func links() throws {
    let svg = Diagram(try SomeModels.sample("Diary")).svg { entity in
      entity.name == "Tag" ? nil : "#\(entity.name)"
    }
    #expect(Reader.read(svg)?.links == ["#EmotionDiary", "#DiaryImage"])
  }

  @Test("one picture has both themes, or the one that is asked for")
  func themes() throws {
    let diagram = Diagram(try SomeModels.sample("Diary"))
    let paper = (light: ".paper{fill:#ffffff}", dark: ".paper{fill:#0f151c}")
    let both = diagram.svg()
    #expect(both.contains(paper.light) && both.contains(paper.dark))
    #expect(both.contains("@media (prefers-color-scheme: dark){"))
    #expect(!diagram.svg(theme: .light).contains(paper.dark))
    #expect(!diagram.svg(theme: .dark).contains(paper.light))
    #expect(!diagram.svg(theme: .dark).contains("@media"))
  }

  @Test("the legend explains the marks of the picture, and no others")
  func legend() throws {
    let texts = try #require(Reader.read(Diagram(try SomeModels.sample("ReceiptMind")).svg())).texts
    #expect(texts.suffix(3) == ["one or none", "many", "unique"])
  }

  @Test("long enums are cut, with the number of the rest")
  func longEnum() throws {
    let cases = (0..<30).map { "case\($0)" }
    let model = try ModelDescription(
      name: "M", enums: [EnumDescription("E", caseNames: cases)],
      entities: [EntityDescription("A", attributes: [AttributeDescription("e", .enumeration("E"))])]
    ).resolved()
    let texts = try #require(Reader.read(Diagram(model).svg())).texts
    #expect(texts.contains("case7") && !texts.contains("case8") && texts.contains("… and 22 more"))
  }

  @Test("names of 255 letters are cut with an ellipsis, and Hangul counts as wide")
  func widths() throws {
    let name = "A" + String(repeating: "w", count: 254)
    let model = try ModelDescription(name: "M", entities: [EntityDescription(name)]).resolved()
    let layout = DiagramLayout(Diagram(model).content)
    #expect(layout.boxes[0].width < 330)
    #expect(TextWidth.of("한글", size: 10) > TextWidth.of("ab", size: 10))
    #expect(TextWidth.of("🧾", size: 10) == TextWidth.of("가", size: 10))
    #expect(TextWidth.fitted("short", size: 12, within: 100) == "short")
    let fitted = TextWidth.fitted(name, size: 12, within: 100)
    #expect(fitted.hasSuffix("…") && TextWidth.of(fitted, size: 12) <= 100)
  }
}
