import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("Reading formats") struct FormatReadingTests {
  /// A format and how it is printed after it was read.
  static let accepted: [(String, String)] = [
    // Every spelling of a comparison.
    ("stars = 1", "stars == 1"), ("stars == 1", "stars == 1"), ("stars != 1", "stars != 1"),
    ("stars <> 1", "stars != 1"),
    ("stars < 1", "stars < 1"), ("stars <= 1", "stars <= 1"), ("stars =< 1", "stars <= 1"), ("stars > 1", "stars > 1"),
    ("stars >= 1", "stars >= 1"), ("stars => 1", "stars >= 1"), ("1 < stars", "1 < stars"),
    ("stars BETWEEN {1, 5}", "stars >= 1 AND stars <= 5"), ("stars in {1,2}", "stars IN {1, 2}"),
    ("stars NOT IN {1}", "NOT (stars IN {1})"), ("stars IN {}", "stars IN {}"),
    // Texts.
    ("content BEGINSWITH 'a'", "content BEGINSWITH 'a'"), ("content endswith[c] \"a\"", "content ENDSWITH[c] 'a'"),
    ("content CONTAINS[cd] 'a'", "content CONTAINS[cd] 'a'"), ("content LIKE[n] 'a*?'", "content LIKE[n] 'a*?'"),
    ("content MATCHES '\\d+'", "content MATCHES '\\\\d+'"), ("content =[c] 'A'", "content ==[c] 'A'"),
    ("content CONTAINS[l] 'a'", "content CONTAINS[cd] 'a'"),
    ("content matching 'a b'", "content MATCHING 'a b'"), ("NOT content MATCHING 'a'", "NOT (content MATCHING 'a')"),
    ("content IN[c] {'a', 'b'}", "content ==[c] 'a' OR content ==[c] 'b'"),
    ("content == 'it\\'s \\u00e9 \\u{1F600} \\\\ 100%%'", "content == 'it\\'s é 😀 \\\\ 100%%'"),
    ("content == \"\"", "content == ''"),
    // Logic.
    ("NOT stars = 1 AND stars = 2 OR stars = 3", "((NOT (stars == 1)) AND stars == 2) OR stars == 3"),
    ("!(stars = 1) && stars = 2 || stars = 3", "((NOT (stars == 1)) AND stars == 2) OR stars == 3"),
    ("TRUEPREDICATE or falsepredicate", "TRUEPREDICATE OR FALSEPREDICATE"), ("isDraft", "isDraft == TRUE"),
    ("not isDraft", "NOT (isDraft == TRUE)"), ("isDraft == YES", "isDraft == TRUE"),
    ("isDraft = no", "isDraft == FALSE"),
    ("isDraft == 1", "isDraft == TRUE"), ("mood = nil", "mood == NIL"), ("mood != NULL", "mood != NIL"),
    // Numbers.
    ("stars == 0xFF", "stars == 255"), ("stars == 0b101", "stars == 5"), ("stars == 0o17", "stars == 15"),
    ("stars == 1_000", "stars == 1000"), ("weight > 6e23", "weight > 6e+23"), ("weight > .5", "weight > 0.5"),
    ("weight == 2", "weight == 2.0"), ("stars > 2.5", "stars > 2.5"), ("stars == 2.0", "stars == 2"),
    ("price == 9.50", "price == 9.5"), ("price > -1", "price > -1"), ("stars == -5", "stars == -5"),
    ("price == stars", "price == CAST(stars, 'Decimal')"), ("weight == stars", "weight == stars"),
    // Arithmetic binds as usual.
    ("stars + 1 * 2 ** 3 > 4", "(stars + (1 * (2 ** 3))) > 4"), ("(stars + 1) * 2 > 4", "((stars + 1) * 2) > 4"),
    ("price * 1.1 > 5", "(price * 1.1) > 5"), ("stars / 2.0 > 5", "(stars / 2.0) > 5.0"),
    ("stars / 2 > 2.5", "(stars / 2) > 2.5"),
    ("CAST(2, 'Decimal') / 3 > stars", "(CAST(2, 'Decimal') / CAST(3, 'Decimal')) > CAST(stars, 'Decimal')"),
    ("-stars < 0", "-(stars) < 0"), ("stars - -1 = 0", "(stars - -1) == 0"),
    // Paths.
    ("next.next.content == 'a'", "next.next.content == 'a'"), ("next == nil", "next == NIL"),
    ("images.@count > 2", "images.@count > 2"), ("images[SIZE] > 2", "images.@count > 2"),
    ("images.@sum.size > 2", "sum(images, $v1, $v1.size) > 2"),
    ("images.size.@max > 2", "max(images, $v1, $v1.size) > 2"),
    ("images.@avg.size > 2", "average(images, $v1, $v1.size) > 2.0"),
    ("sum(images, $i, $i.size * 2) > 2", "sum(images, $v1, ($v1.size * 2)) > 2"),
    ("next.images.@min.size = 2", "min(next.images, $v1, $v1.size) == 2"),
    ("#in = 3", "#in == 3"), ("SELF.in = 3", "#in == 3"), ("self == nil", "SELF == NIL"),
    // Many values.
    ("ANY images.size > 3", "ANY(images, $v1, $v1.size > 3)"),
    ("some images.size > 3", "ANY(images, $v1, $v1.size > 3)"),
    ("ALL images.size > 3", "ALL(images, $v1, $v1.size > 3)"),
    ("NONE images.size > 3", "NONE(images, $v1, $v1.size > 3)"),
    ("NONE tags.diaries.stars > 3", "NONE(tags, $v1, ANY($v1.diaries, $v2, $v2.stars > 3))"),
    ("'x' IN tags.name", "ANY(tags, $v1, $v1.name == 'x')"),
    ("ANY images.size BETWEEN {1, 2}", "ANY(images, $v1, $v1.size >= 1 AND $v1.size <= 2)"),
    (
      "SUBQUERY(images, $i, $i.size > 3 AND $i.path LIKE '*.png').@count >= 2",
      "SUBQUERY(images, $v1, $v1.size > 3 AND $v1.path LIKE '*.png').@count >= 2"
    ),
    (
      "ALL(tags, $t, ANY($t.diaries, $d, $d.stars > stars))",
      "ALL(tags, $v1, ANY($v1.diaries, $v2, $v2.stars > stars))"
    ),
    // Functions.
    ("length(content) > 3", "length(content) > 3"), ("length:(content) > 3", "length(content) > 3"),
    ("lowercase:(content) = 'a'", "lowercase(content) == 'a'"), ("count:(images) = 1", "images.@count == 1"),
    ("sum(images.size) = 1", "sum(images, $v1, $v1.size) == 1"), ("abs(stars) = 1", "abs(stars) == 1"),
    ("multiply:by:(stars, 2) = 4", "(stars * 2) == 4"),
    ("FUNCTION(content, 'lowercaseString') = 'a'", "lowercase(content) == 'a'"),
    ("createdAt > now() - 3600", "createdAt > (now() - 3600)"),
    ("createdAt < CAST('2026-01-31', 'NSDate')", "createdAt < CAST('2026-01-31T00:00:00Z', 'NSDate')"),
    ("CAST(0, 'NSDate') < createdAt", "CAST('2001-01-01T00:00:00Z', 'NSDate') < createdAt"),
    // Types by constants.
    ("emotion == 'happy'", "emotion == 'happy'"), ("emotion CONTAINS 'app'", "emotion CONTAINS 'app'"),
    ("level == 9", "level == 9"), ("level == 'high'", "level == 9"),
    ("emotion IN {'happy', 'sad'}", "emotion IN {'happy', 'sad'}"),
    (
      "id == '00112233-4455-6677-8899-AABBCCDDEEFF'", "id == '00112233-4455-6677-8899-AABBCCDDEEFF'"
    ),
    ("picture = CAST('AQID', 'NSData')", "picture == CAST('AQID', 'NSData')"),
    ("  stars\n==\t1 ", "stars == 1"),
    // Bits bind more tightly than comparisons, and less tightly than sums.
    ("stars & 4 != 0", "(stars & 4) != 0"), ("stars & 1 + 1 | 8 ^ 2 == 3", "((stars & (1 + 1)) | (8 ^ 2)) == 3"),
    ("stars << 2 >> 1 = 4", "((stars << 2) >> 1) == 4"), ("~stars & 0xF = 1", "(~(stars) & 15) == 1"),
    ("bitwiseAnd:with:(stars, 4) > 0", "(stars & 4) > 0"),
    ("FUNCTION(stars, 'leftshift:by:', 2) = 4", "(stars << 2) == 4"),
    // Functions of numbers.
    ("sqrt(stars) > 2", "sqrt(stars) > 2.0"), ("FUNCTION('ln:', weight) < 1", "ln(weight) < 1.0"),
    ("log:(price) < exp(1)", "log(price) < exp(1)"), ("modulus:by:(stars, 2) = 1", "modulus:by:(stars, 2) == 1"),
    ("raise:to:(stars, 2) = 4", "(stars ** 2) == 4"), ("noindex:(stars) = 4", "stars == 4"),
    ("max({stars, 3}) > 2", "max({stars, 3}) > 2"), ("min(stars, 3, nil) > 2", "min({stars, 3}) > 2"),
    ("sum({stars, 0.5}) > 2", "sum({stars, 0.5}) > 2.0"), ("average({stars, 2}) > 2", "average({stars, 2}) > 2.0"),
    ("max({price, 1}) > 2", "max({price, CAST(1, 'Decimal')}) > 2"), ("count({1, 2}) == stars", "2 == stars"),
    ("max({createdAt, now()}) > now()", "max({createdAt, now()}) > now()"),
    // Choices.
    ("TERNARY(stars > 3, content, mood) = 'a'", "TERNARY(stars > 3, content, mood) == 'a'"),
    ("ternary(isDraft, 1, stars) > 2", "TERNARY(isDraft == TRUE, 1, stars) > 2"),
    ("isDraft == TERNARY(stars > 3, YES, NO)", "isDraft == TERNARY(stars > 3, TRUE, FALSE)"),
    ("price > TERNARY(isDraft, 1, price)", "price > TERNARY(isDraft == TRUE, 1, price)"),
    // Casts.
    ("CAST(stars, 'NSString') BEGINSWITH '1'", "CAST(stars, 'NSString') BEGINSWITH '1'"),
    ("CAST(content, 'NSNumber') > 2", "CAST(content, 'Double') > 2.0"),
    ("price > CAST('0.1', 'Decimal')", "price > 0.1"), ("CAST('12', 'NSNumber') < weight", "12.0 < weight"),
    ("CAST(content, 'NSDecimalNumber') == price", "CAST(content, 'Decimal') == price"),
    (
      "createdAt > CAST(CAST(now(), 'NSNumber') - 60, 'NSDate')",
      "createdAt > (CAST('2001-01-01T00:00:00Z', 'NSDate') + (CAST(now(), 'NSNumber') - 60.0))"
    ),
    // Places.
    ("pages[FIRST].number > 2", "pages[FIRST].number > 2"), ("pages[last].number > 2", "pages[LAST].number > 2"),
    ("pages[1].diary.content == 'a'", "pages[1].diary.content == 'a'"), ("pages[0] == nil", "pages[0] == NIL"),
    ("pages[0].diary.images[SIZE] > 1", "pages[0].diary.images.@count > 1"),
    ("pages[0].diary.pages[LAST].number > 1", "pages[0].diary.pages[LAST].number > 1"),
    ("ANY tags.diaries.pages[FIRST].number > 1", "ANY(tags, $v1, ANY($v1.diaries, $v2, $v2.pages[FIRST].number > 1))"),
    ("SELF['stars'] > 1 AND next['stars'] > 1", "stars > 1 AND next.stars > 1"),
    // Entities.
    ("entity == 'Diary'", "SELF.entity == 'Diary'"), ("next.entity.name != 'Tag'", "next.entity != 'Tag'"),
    ("ANY images.entity.name IN {'Image'}", "ANY(images, $v1, $v1.entity IN {'Image'})"),
    ("entity.name BEGINSWITH 'Di'", "SELF.entity BEGINSWITH 'Di'"),
    // Lists and single values where a to-many would stand.
    ("ANY {1, 2} == stars", "1 == stars OR 2 == stars"), ("ALL {1, 2} < stars", "1 < stars AND 2 < stars"),
    ("NONE {'a', 'b'} ==[c] content", "NOT ('a' ==[c] content OR 'b' ==[c] content)"),
    ("{1, 2} CONTAINS stars", "stars IN {1, 2}"), ("ANY next.stars > 3", "next.stars > 3"),
    ("NONE next.stars > 3", "NOT (next.stars > 3)"), ("ANY {'a'} IN tags.name", "ANY(tags, $v1, $v1.name == 'a')"),
    ("ANY tags CONTAINS nil", "ANY(tags, $v1, $v1 == NIL)"),
  ]

  @Test("every form of the language is read, and prints itself as what reads back the same", arguments: accepted)
  func accepts(_ format: String, _ printed: String) throws {
    let bench = try FormatBench()
    let tree = try bench.read(format)
    let text = try tree.formatText(of: 0, in: bench.model)
    #expect(text == printed)
    #expect(try bench.read(text) == tree)
  }

  /// A format, the code of its error, the column, and a part of the message.
  static let refused: [(String, PredicateFormatError.Code, Int, String)] = [
    ("", .unexpected, 1, "Expected a value, but the format ends"), ("stars ==", .unexpected, 9, "Expected a value"),
    ("stars = 1 1", .unexpected, 11, "Expected 'AND', 'OR' or the end"),
    ("stars = 1 = 2", .unexpected, 11, "between two"),
    ("(stars = 1", .unexpected, 11, "Expected ')'"), ("stars IN {1,", .unexpected, 13, "Expected a value"),
    ("stars ; 1", .unexpected, 7, "no meaning"), ("content == 'a", .unterminatedText, 12, "closing quote"),
    ("content == '\\u12'", .invalidEscape, 13, "hexadecimal"), ("stars = 12ab", .invalidNumber, 9, "no number"),
    ("stars = 0xFFFFFFFFFFFFFFFFF", .invalidNumber, 9, "no number"), ("stars = 1__0", .invalidNumber, 9, "no number"),
    ("emotoin == 'happy'", .unknownProperty, 1, "did you mean 'emotion'?"),
    ("next.contnt == 'a'", .unknownProperty, 6, "did you mean 'content'?"),
    ("content.x == 'a'", .unknownProperty, 9, "no relationship"),
    ("emotion == 'hapy'", .unknownCase, 12, "did you mean 'happy'?"), ("level == 5", .unknownCase, 10, "no such case"),
    ("stars == 'x'", .typeMismatch, 10, "a whole number"), ("content == 5", .typeMismatch, 12, "a text"),
    ("stars == TRUE", .typeMismatch, 10, "TRUE or FALSE"), ("createdAt > 5", .typeMismatch, 13, "Bind a date"),
    ("createdAt > '2026-01-31'", .typeMismatch, 13, "CAST"), ("isDraft == 2", .typeMismatch, 12, "a Bool"),
    ("stars CONTAINS '1'", .typeMismatch, 1, "only texts"), ("stars ==[c] 1", .typeMismatch, 1, "are for texts"),
    ("id < '00112233-4455-6677-8899-AABBCCDDEEFF'", .typeMismatch, 1, "no order"),
    ("id == 'x'", .invalidConstant, 7, "no UUID"),
    ("next < next", .typeMismatch, 1, "no order"), ("content == stars", .typeMismatch, 12, "never be equal"),
    ("images.size > 3", .manyValues, 1, "ANY"), ("images == nil", .manyValues, 1, "@count"),
    ("ANY 3 > stars", .notMany, 5, "to-many"), ("stars & 4", .notACondition, 1, "comparison"),
    ("weight & 4 != 0", .typeMismatch, 1, "whole numbers have bits"), ("~content = 1", .typeMismatch, 2, "bits"),
    ("entity == 'Dairy'", .unknownCase, 11, "did you mean 'Diary'?"),
    ("entity > 'Diary'", .typeMismatch, 1, "no order"),
    ("images[FIRST].size = 1", .unsupported, 7, "has no order"), ("next[0].stars = 1", .notMany, 5, "ordered to-many"),
    ("pages[0].diary.tags.name = 'a'", .unsupported, 1, "Behind a member's place"),
    ("pages[x].number = 1", .unexpected, 7, "SIZE, FIRST, LAST"), ("random() > 1", .unsupported, 1, "draw a number"),
    ("stddev:(images.size) > 1", .unsupported, 1, "compute it in the program"),
    ("TERNARY(isDraft, 1) = 1", .wrongArgument, 1, "two values"),
    ("TERNARY(isDraft, 1, 'a') = 1", .typeMismatch, 21, "whole number"),
    ("CAST('x', 'NSNumber') > 1", .invalidConstant, 6, "no number"),
    ("CAST('x', 'Decimal') > 1", .invalidConstant, 6, "no decimal number"),
    ("CAST(createdAt, 'NSString') == 'a'", .typeMismatch, 6, "no text"),
    ("max({1, 'a'}) > 1", .typeMismatch, 9, "values of a list"),
    ("sum({'a'}) > 1", .typeMismatch, 6, "values of a list"),
    ("next.@count > 3", .notMany, 7, "to-many"), ("images.@median.size > 3", .unknownFunction, 9, "@avg"),
    ("images.@cout > 3", .unknownFunction, 9, "is not known"),
    ("lenght(content) > 3", .unknownFunction, 1, "did you mean 'length'?"),
    ("content", .notACondition, 1, "condition"), ("stars + 1", .notACondition, 1, "condition"),
    ("(stars = 1) + 1 = 2", .notAValue, 2, "value is needed"),
    ("content MATCHES '('", .invalidPattern, 17, "wrong at character"),
    ("content MATCHING[c] 'a'", .unsupported, 1, "takes no options"),
    ("stars MATCHING 'a'", .typeMismatch, 1, "only texts"),
    ("stars BETWEEN 5", .wrongArgument, 15, "two bounds"), ("stars BETWEEN {1}", .wrongArgument, 15, "two bounds"),
    ("stars IN 5", .notMany, 10, "IN needs a list"), ("stars == %@", .missingArgument, 10, "needs more than 0"),
    ("stars == %q", .unexpected, 10, "'%'"), ("SUBQUERY(images, $i, $i.size > 3)", .unexpected, 34, ".@count"),
    ("images[0].size = 1", .unsupported, 7, "has no order"), ("cached == 'a'", .unsupported, 1, "transient"),
    ("in = 3", .unexpected, 1, "#in"), ("NOT stars", .notACondition, 5, "condition"),
    ("$x.size > 3", .unboundVariable, 1, "Nothing around binds"), ("words == 'a'", .typeMismatch, 10, "[string]"),
    ("stars = 1 AND\n  strs = 2", .unknownProperty, 3, "did you mean 'stars'?"),
    ("content = %%", .unexpected, 11, "inside quotes"),
    ("UPPER(content) = 'A'", .unknownFunction, 1, "uppercase"), ("createdAt * 2 > now()", .typeMismatch, 1, "Seconds"),
  ]

  @Test("a mistake is an error with its place and the way out", arguments: refused)
  func refuses(_ format: String, _ code: PredicateFormatError.Code, _ column: Int, _ part: String) throws {
    let bench = try FormatBench()
    let error = try #require(throws: PredicateFormatError.self) { try bench.read(format) }
    #expect(error.code == code, "\(error)")
    #expect(error.column == column, "\(error)")
    #expect(error.message.contains(part), "\(error)")
  }

  /// A format in the words of another language, the column of its error, the way out in the message, and the format
  /// after that way is taken.
  static let habits: [(String, Int, String, String)] = [
    ("images.count > 2", 8, "write 'images.@count'", "images.@count > 2"),
    ("next.images.count > 2", 13, "write 'next.images.@count'", "next.images.@count > 2"),
    ("tags.isEmpty", 6, "write 'tags.@count == 0'", "tags.@count == 0"),
    ("pages.first.number = 1", 7, "write 'pages[FIRST]'", "pages[FIRST].number = 1"),
    ("images.sum.size > 1", 8, "write 'images.@sum'", "images.@sum.size > 1"),
    ("content.count > 3", 9, "write 'length(content)'", "length(content) > 3"),
    ("next.content.length > 3", 14, "write 'length(next.content)'", "length(next.content) > 3"),
    ("content.isEmpty", 9, "write 'content == \"\"'", "content == \"\""),
    ("content.lowercased == 'a'", 9, "write 'lowercase(content)'", "lowercase(content) == 'a'"),
    ("content.contains('a')", 17, "content CONTAINS 'a'", "content CONTAINS 'a'"),
    ("emotion.rawValue == 'sad'", 9, "compare 'emotion' with a case in quotes", "emotion == 'sad'"),
    ("emotion = happy", 11, "in quotes: 'happy'", "emotion = 'happy'"),
    ("happy = emotion", 1, "in quotes: 'happy'", "'happy' = emotion"),
    ("emotion == hapy", 12, "in quotes: 'happy'", "emotion == 'happy'"),
    ("emotion IN {happy, 'sad'}", 13, "in quotes: 'happy'", "emotion IN {'happy', 'sad'}"),
    ("emotion == .happy", 12, "in quotes, as in 'happy'", "emotion == 'happy'"),
    ("content = Seoul", 11, "in quotes: 'Seoul'", "content = 'Seoul'"),
    ("content IN ['x']", 12, "in braces, as in {'a', 'b'}", "content IN {'x'}"),
    ("content IN ('x', 'y')", 12, "in braces, as in {'a', 'b'}", "content IN {'x', 'y'}"),
    ("content IN ('x')", 13, "a list such as {'a', 'b'}", "content IN {'x'}"),
    ("mood IS NULL", 6, "'== NIL'", "mood == NIL"), ("mood IS NOT NULL", 6, "'!= NIL'", "mood != NIL"),
    ("(mood IS NULL) OR stars = 1", 7, "'== NIL'", "(mood == NIL) OR stars = 1"),
    ("isDraft is true", 9, "TRUE or FALSE by '=='", "isDraft == true"),
    ("content ILIKE 'a*'", 9, "LIKE[c]", "content LIKE[c] 'a*'"),
    ("content NOT ILIKE 'a*'", 13, "LIKE[c]", "content NOT LIKE[c] 'a*'"),
    ("content REGEXP 'a+'", 9, "MATCHES", "content MATCHES 'a+'"),
    ("content hasPrefix 'a'", 9, "BEGINSWITH", "content BEGINSWITH 'a'"),
    ("content CONTANS 'a'", 9, "did you mean 'CONTAINS'?", "content CONTAINS 'a'"),
    ("(content beginwith 'a') OR stars = 1", 10, "did you mean 'BEGINSWITH'?", "(content beginswith 'a') OR stars = 1"),
    ("content NOT LIEK 'a*'", 13, "did you mean 'LIKE'?", "content NOT LIKE 'a*'"),
    ("stars BETWEN {1, 5}", 7, "did you mean 'BETWEEN'?", "stars BETWEEN {1, 5}"),
    ("stars = 1 ADN stars = 2", 11, "did you mean 'AND'?", "stars = 1 AND stars = 2"),
    ("stars BETWEEN 1 AND 5", 15, "in {1, 5}", "stars BETWEEN {1, 5}"),
    ("stars = 1 ORDER BY stars", 11, "sort the request", "stars = 1"),
    ("stars = 1 LIMIT 3", 11, "limit the request", "stars = 1"),
    ("stars = ?", 9, "%@", "stars = 1"), ("stars = :n", 9, "%@", "stars = 1"),
    ("$0.stars = 1", 2, "without '$0.'", "stars = 1"),
    ("stars % 2 = 0", 7, "modulus:by:(stars, 2)", "modulus:by:(stars, 2) = 0"),
    ("LOWER(content) = 'a'", 1, "lowercase(…)", "lowercase(content) = 'a'"),
    ("COALESCE(mood, 'x') = 'x'", 1, "TERNARY(a == NIL, b, a)", "TERNARY(mood == NIL, 'x', mood) = 'x'"),
    ("createdAt > DATE('2026-01-31')", 13, "CAST('2026-01-31', 'NSDate')", "createdAt > CAST('2026-01-31', 'NSDate')"),
    ("createdAt > 2026-01-31", 13, "CAST('2026-01-31', 'NSDate')", "createdAt > CAST('2026-01-31', 'NSDate')"),
    ("createdAt > now", 13, "now()", "createdAt > now()"),
    ("isDraft = 'true'", 11, "TRUE or FALSE", "isDraft = true"),
    ("stars = '3'", 9, "without quotes", "stars = 3"), ("content = 3", 11, "in quotes", "content = '3'"),
    ("COUNT(image) > 1", 7, "did you mean 'images'?", "COUNT(images) > 1"),
  ]

  @Test("a spelling of another language is an error that names the one here", arguments: habits)
  func habit(_ format: String, _ column: Int, _ way: String, _ repaired: String) throws {
    let bench = try FormatBench()
    let error = try #require(throws: PredicateFormatError.self) { try bench.read(format) }
    #expect(error.column == column, "\(error)")
    #expect(error.message.contains(way), "\(error)")
    _ = try bench.read(repaired)
  }

  @Test("a name without quotes keeps its own error where it may be a misspelt property")
  func misspeltOnTheRight() throws {
    let bench = try FormatBench()
    for format in ["stars > strs", "content == contnt", "emotion == zzzzzzzz", "images.zzz > 3", "ANY tags.count > 1"] {
      let error = try #require(throws: PredicateFormatError.self) { try bench.read(format) }
      #expect(error.code == .unknownProperty)
      #expect(!error.message.contains("quotes"), "\(error)")
    }
  }

  @Test(
    "without a model a value is told from a condition and from what is neither",
    arguments: [
      ("firstName + ' ' + lastName", nil), ("lowercase:(email)", nil), ("'hello'", nil), ("NIL", nil),
      ("{1, a.b}", nil),
      ("TERNARY(stars > 3, YES, NO)", nil), ("(((a)))", nil), ("SUBQUERY(tags, $t, $t.name == 'x').@count", nil),
      ("", .unexpected), ("  ", .unexpected), ("hello world", .unexpected), ("'hello", .unterminatedText),
      ("a +", .unexpected), ("%@", .missingArgument), ("stars > 3", .notAValue), ("(stars > 3)", .notAValue),
      ("NOT a", .notAValue), ("ANY tags.name == 'x'", .notAValue), ("TRUEPREDICATE", .notAValue),
    ] as [(String, PredicateFormatError.Code?)])
  func values(text: String, code: PredicateFormatError.Code?) {
    do throws(PredicateFormatError) {
      try CheckedFormat.checkSyntax(ofValue: text)
      #expect(code == nil)
    } catch {
      #expect(error.code == code)
    }
  }

  @Test("an error shows the line and marks the place, and names the line")
  func marks() throws {
    let bench = try FormatBench()
    let error = try #require(throws: PredicateFormatError.self) { try bench.read("stars = 1 AND\n  strs = 2") }
    #expect(error.line == 2)
    #expect(error.suggestion == "stars")
    #expect(
      error.description
        == "Entity 'Diary' has no property 'strs'; did you mean 'stars'? [unknown-property] at 2:3\n  strs = 2\n  ^")
  }

  @Test("an argument is a value, whatever it holds")
  func injection() throws {
    let bench = try FormatBench()
    let attack = "x' OR TRUEPREDICATE OR content == 'x"
    let tree = try bench.read("content == %@", [.value(.text(attack), .text)])
    guard case .comparison(let comparison) = tree else { throw PredicateFormatError(.unexpected, "", in: "", at: 0) }
    #expect(comparison.right == .value(.text(attack)))
    let error = try #require(throws: PredicateFormatError.self) {
      try bench.read("%K == 1", [.value(.text("stars == 1 OR stars"), .text)])
    }
    #expect(error.code == .unknownProperty)
    #expect(
      try bench.printed(
        "%K.%K == %d", [.value(.text("next"), .text), .value(.text("stars"), .text), .value(.integer(3), .integer)])
        == "next.stars == 3")
  }

  @Test("arguments are checked like constants")
  func arguments() throws {
    let bench = try FormatBench()
    func code(_ format: String, _ arguments: FormatArgument...) -> PredicateFormatError.Code? {
      do {
        _ = try bench.read(format, arguments)
        return nil
      } catch { return (error as? PredicateFormatError)?.code }
    }
    #expect(code("stars == %@", .value(.text("x"), .text)) == .typeMismatch)
    #expect(code("stars == %d", .value(.text("x"), .text)) == .wrongArgument)
    #expect(code("stars == 1", .null) == .surplusArgument)
    #expect(code("stars == %@", .list([])) == .manyValues)
    #expect(code("emotion == %@", .value(.text("hapy"), .text)) == .unknownCase)
    #expect(code("createdAt > %@", .value(.integer(5), .integer)) == .typeMismatch)
    #expect(code("next == %@", .value(.integer(5), .object(1))) == .typeMismatch)
    #expect(code("next == %@", .value(.integer(5), .object(0))) == nil)
    #expect(code("%@ IN tags", .value(.integer(5), .object(2))) == nil)
    #expect(code("tags CONTAINS %@", .value(.integer(5), .object(2))) == nil)
    #expect(code("stars IN %@", .list([.value(.integer(5), .integer)])) == nil)
    #expect(code("ANY tags CONTAINS %@", .value(.integer(5), .object(2))) == nil)
    #expect(code("ANY tags CONTAINS %@", .value(.integer(5), .object(1))) == .typeMismatch)
    #expect(code("%@ CONTAINS stars", .list([.value(.integer(5), .integer)])) == nil)
    #expect(code("ANY %@ == stars", .list([.value(.integer(5), .integer)])) == nil)
    #expect(code("max(%@) == stars", .list([.value(.integer(5), .integer)])) == nil)
    #expect(code("entity.name == %@", .value(.text("Diary"), .text)) == nil)
    #expect(code("entity == %@", .value(.text("Dairy"), .text)) == .unknownCase)
    #expect(code("%@.stars == stars", .value(.integer(5), .object(0))) == .unsupported)
    #expect(code("stars IN %@", .range(.integer(1), .integer(5), .integer, isClosed: false)) == nil)
    #expect(code("price == %@", .value(.real(0.1), .real)) == nil)
    #expect(try bench.printed("price == %@", [.value(.real(0.1), .real)]) == "price == 0.1")
    #expect(try bench.printed("mood == %@", [.null]) == "mood == NIL")
  }

  @Test("variables without a value are told with their types; those with one are values")
  func variables() throws {
    let model = try FormatModel.make()
    let checked = try CheckedFormat("emotion == $e AND stars IN $list AND createdAt > $e2", of: 0, in: model)
    #expect(checked.variables.map(\.name) == ["e", "list", "e2"])
    #expect(checked.variables.map(\.type) == [.enumeration("Emotion"), .integer, .date])
    #expect(checked.variables.map(\.isList) == [false, true, false])
    let bound = try CheckedFormat(
      "emotion == $e", of: 0, in: model, bindings: ["e": .value(.text("sad"), .enumeration(nil))])
    #expect(bound.variables.isEmpty)
    #expect(try bound.predicate.formatText(of: 0, in: model) == "emotion == 'sad'")
  }

  @Test("interpolated values lie at their offsets, between those that are given; inside quotes they are refused")
  func interpolations() throws {
    let model = try FormatModel.make()
    let checked = try CheckedFormat(
      "stars == %@ AND stars == %@", of: 0, in: model, arguments: [.value(.integer(1), .integer)],
      interpolated: [25: .value(.integer(2), .integer)])
    #expect(try checked.predicate.formatText(of: 0, in: model) == "stars == 1 AND stars == 2")
    let error = #expect(throws: PredicateFormatError.self) {
      try CheckedFormat("content == '%@'", of: 0, in: model, interpolated: [12: .null])
    }
    #expect(error?.code == .argumentInQuotes)
  }

  @Test("nesting and length have limits that are errors, on a small stack")
  func limits() async throws {
    // What is as deep as may be, on the stack of a small thread.
    for format in [
      Self.nested("("), Self.nested("NOT ("), Self.nested("-(", "stars", ") = 1"),
      Self.nested("abs(", "stars", ") = 1"),
    ] {
      let found = await withCheckedContinuation { (done: CheckedContinuation<String?, Never>) in
        let thread = Thread {
          let found = try? FormatBench().printed(format)
          done.resume(returning: found)
        }
        thread.stackSize = TestSettings.smallStack
        thread.start()
      }
      #expect(found != nil)
    }
    try Self.tooDeep()
  }

  private static func nested(_ opening: String, _ inner: String = "stars = 1", _ end: String = ")") -> String {
    let count = 90
    let closing = String(repeating: ")", count: count - 1) + end
    return String(repeating: opening, count: count) + inner + closing
  }

  private static func tooDeep() throws {
    let bench = try FormatBench()
    let deep = String(repeating: "(", count: 50_000) + "stars = 1"
    #expect(throws: PredicateFormatError.self) { try bench.read(deep) }
    for prefix in ["NOT ", "!", "-", "ANY ", "abs("] {
      #expect(throws: PredicateFormatError.self) { try bench.read(String(repeating: prefix, count: 20_000)) }
    }
    let chain = "stars" + String(repeating: " + 1", count: 20_000) + " = 1"
    let error = #expect(throws: PredicateFormatError.self) { try bench.read(chain) }
    #expect(error?.code == .tooDeep)
    let long = "stars = 1" + String(repeating: " ", count: 200_000)
    #expect(#expect(throws: PredicateFormatError.self) { try bench.read(long) }?.code == .tooLong)
    // What is long and not deep is read.
    let wide = Array(repeating: "stars = 1", count: 5_000).joined(separator: " OR ")
    _ = try bench.read(wide)
  }
}
