#!/usr/bin/env python3
"""Writes Names.json: names of people, places and things for each language, in the order that ICU has for them.

    apt-get install -y libicu-dev pkg-config g++
    python3 -m pip install faker==40.63.0 PyICU==2.17
    python3 make_names.py [--all] [FILE]

Without FILE it writes Names.json beside this script. With --all it writes the names of EXCLUDED as well. The file states
the versions: other ones of ICU may order names differently, and other ones of faker make other names.

The collator has the attributes that Foundation sets, whatever the language: numbers by size, spaces and punctuation count,
and texts differ by letters, then accents, then case. What is equal for it, such as kana of the two kinds, å and aa in
Danish, or composed and decomposed spellings, is in the order of the UTF-8 bytes.
"""
import json
import pathlib
import sys
import unicodedata

import faker
import icu

FAKER = {"ko": "ko_KR", "ja": "ja_JP", "de": "de_DE", "sv": "sv_SE", "tr": "tr_TR", "th": "th_TH", "cs": "cs_CZ",
         "es": "es_ES", "da": "da_DK", "hu": "hu_HU", "vi": "vi_VN", "zh": "zh_CN"}

# How many of each kind faker makes for a language; doubles go.
PEOPLE, CITIES, COMPANIES, ADDRESSES = 40, 10, 5, 10

# For every language.
COMMON = [
    "", " ", "-", "a", "A", "b", "B", "z", "Z", "aa", "Aa", "AA", "ab", "Ab", "á", "Á", "a\u0301", "à", "ä",
    "a\u0308", "Ä", "e", "é", "e\u0301", "É", "o", "ö", "o\u0308", "Ö", "ø", "æ", "œ", "ae", "oe", "ss", "ß", "ẞ",
    "SS", "i", "I", "ı", "İ", "resume", "resumé", "résumé", "Resume", "Résumé", "re\u0301sume\u0301", "RESUME",
    "Anna", "anna", "ANNA", "Anna B", "Anna-B", "AnnaB", "anna a", "ANNA a", "Anna  B", "Anna\u00a0B", "Anna, B",
    "O'Brien", "O’Brien", "OBrien", "obrien", "O'Neil", "Jean-Luc", "Jean Luc", "JeanLuc", "Jean\u2010Luc",
    "jean luc", "D'Angelo", "d'Angelo", "Dangelo", "de Luca", "De Luca", "DeLuca", "de Anna", "De Zan",
    "van der Berg", "Van den Berg", "Room 2", "Room 10", "room 2", "Room 02", "Room 2a", "Room 2b", "Room 2 a",
    "Room 02b", "Room 002a", "Room 20", "Room 1", "Room", "Room -1", "Room 1.5", "Room 1.10", "Room 10002",
    "Room 1003", "Room 18446744073709551616", "Room 18446744073709551615", "Room 99999999999999999999",
    "Room 100000000000000000000", "2 Rooms", "10 Rooms", "1", "2", "10", "09", "9", "0", "00", "9.1", "9.10", "9-1",
    "a9", "a10", "A9", "A10", "x 1 y 2", "x 1 y 10", "x 01 y 3", "A\u00adB", "A\u200bB", "☕", "☕ b", "☕ a",
    "❤\ufe0f", "❤", "❤ b", "❤\ufe0f a", "👍", "👍🏽", "👩\u200d👧", "👩", "👧", "🇰🇷", "🇰🇵", "№ 2", "n° 10", "½", "①", "Ⅳ", "IV",
    "x²", "x2", "ﬁ", "fi", "Ａ", "ａ", "１０", "１", "_", "(a)", "“a”", "@a", "#1", "€", "+", "&",
]

HARD = {
    "ko": [
        "가", "각", "간", "가각", "가나", "가a", "가A", "가 a", "가1", "가 나", "가-나", "까", "나", "낙", "다", "따", "라", "마", "바",
        "빠", "사", "싸", "아", "자", "짜", "차", "카", "타", "파", "하", "힣", "ㄱ", "ㄲ", "ㄴ", "ㅎ", "ㅏ", "ㅣ", "\u1100\u1161",
        "\u1100\u1161\u11a8", "ᄀ", "ﾡ", "방", "방 2", "방 10", "방 02", "방2", "방10", "방 1호", "방 10호", "방 2호", "제2방",
        "제10방", "2방", "10방", "방 A", "방 a", "방 b", "김철수", "김 철수", "김철수A", "김철수B", "김철수2", "김철수10", "김가영", "김각영", "강",
        "강감찬", "갉", "값", "갑", "갑돌이", "LG전자", "LG화학", "SK텔레콤", "sk텔레콤", "아이폰 9", "아이폰 10", "金", "金哲洙", "李", "朴",
        "서울특별시", "서울", "セウル", "漢江", "한강", "뷁", "Kim", "kim", "홍길동님", "아이스커피", "아이스 커피", "닭", "달", "달걀", "닭고기", "닭갈비",
        "읽기", "일기", "일", "이", "의자", "와", "왜", "외", "요", "위", "웨이터",
    ],
    "ja": [
        "あ", "ア", "ｱ", "ぁ", "ァ", "あい", "アイ", "アい", "い", "か", "が", "カ", "ガ", "か\u3099", "ｶﾞ", "ｶ", "かく", "がく", "ガク",
        "カク", "かぐ", "がぐ", "は", "ば", "ぱ", "ハ", "バ", "パ", "はは", "はば", "ばば", "パパ", "つ", "っ", "ッ", "ツ", "づ", "がっこう",
        "がつこう", "カッター", "カツタ", "や", "ゃ", "ヤ", "ャ", "きや", "きゃ", "カー", "カア", "カ", "カアド", "カード", "カート", "カーテン", "ガード",
        "コーヒー", "コオヒイ", "コヒ", "サーバー", "サーバ", "サバ", "スーパー", "ス", "すゞ", "すず", "すす", "すゝ", "いすゞ", "いすず", "ヴ", "う\u3099",
        "ウ", "ヴァイオリン", "バイオリン", "ん", "ン", "を", "ヲ", "ゐ", "ゑ", "佐藤", "斉藤", "斎藤", "齋藤", "佐々木", "佐佐木", "佐木", "高橋", "髙橋",
        "山田", "山田 太郎", "山田太郎", "山田\u3000太郎", "やまだ", "ヤマダ", "渡辺", "渡邊", "渡邉", "田中A", "田中B", "田中2", "田中10", "部屋2", "部屋10",
        "部屋１０", "部屋３", "部屋１０３", "部屋１００２", "部屋 2", "第2室", "第10室", "第二室", "第十室", "東京", "京都", "一", "二", "十", "々", "〇",
        "ー", "・", "ジャン・リュック", "ジャンリュック", "ジャン=リュック", "㈱山田", "株式会社山田", "㌔", "キロ", "𠮷野", "吉野", "亜", "亞", "한국",
    ],
    "de": [
        "Ähre", "Ahre", "ähre", "Affe", "äffin", "Äpfel", "Apfel", "Apfelsaft", "Aepfel", "Öl", "Ol", "öl", "Oel",
        "Oz", "Oldenburg", "Über", "Uber", "über", "Ueber", "Ubahn", "U-Bahn", "Straße", "Strasse", "straße",
        "STRASSE", "STRAẞE", "Straßen", "Strassen", "Strasser", "Strassen 2", "Straße 10", "Straße 2", "Maße",
        "Masse", "Massen", "Maßen", "Mase", "Müller", "Mu\u0308ller", "Muller", "Mueller", "müller", "MÜLLER",
        "Müller 2", "Müller 10", "Muller Z", "Müller A", "Müller-Lüdenscheidt", "Müller Lüdenscheidt", "Müllersohn",
        "Schmidt", "Schmitt", "Schmid", "Schmied", "Schröder", "Schroder", "Schroeder", "Groß", "Gross", "Großmann",
        "Grossmann", "Grosz", "von Goethe", "Von Goethe", "von der Heide", "vonderHeide", "Zürich", "Zurich",
        "Zu\u0308rich", "Weiß", "Weiss", "Weise", "Weißer", "Café", "Cafe", "Cafés", "Fuß", "Fuss", "Füße", "Füsse",
        "Fusse", "Buße", "Busse", "Büße", "ſ", "Waſſer", "Wasser",
    ],
    "sv": [
        "å", "ä", "ö", "Å", "Ä", "Ö", "a\u030a", "A\u030a", "\u212b", "ü", "Ü", "y", "Y", "x", "Åberg", "Äberg",
        "Öberg", "Aberg", "Zberg", "Oberg", "A\u030aberg", "Ångström", "Angstrom", "A\u030angstro\u0308m",
        "\u212bngström", "Ärlig", "ärlig", "Örebro", "örebro", "Øresund", "Öresund", "Æbelø", "Ystad", "Üstad",
        "Yxa", "Müller", "Muller", "Myller", "Mylla", "v", "w", "V", "W", "va", "wa", "Va", "Wa", "vb", "wb",
        "Vallin", "Wallin", "Vallins", "Walling", "Wilhelm", "Vilhelm", "Wik", "Vik", "Viking", "Åsa", "Asa", "Ása",
        "Ässa", "Göteborg", "Goteborg", "Gotland", "Göran", "Goran", "Malmö", "Malmo", "Malmö 2", "Malmö 10",
        "Malmån", "Malmän", "é", "ê", "Linné", "Linne", "Linnea", "Linnéa", "ð", "đ", "þ", "Þór", "Thor", "Tor",
        "Tór", "ő", "ű", "œ", "Sjöö", "Sjöå", "Sjöä", "ÅÄÖ", "åäö", "ÄÅÖ",
    ],
    "tr": [
        "ı", "i", "I", "İ", "i\u0307", "I\u0307", "ıı", "ii", "Iı", "İi", "ısı", "isi", "ISI", "İSİ", "Isı", "İsi",
        "ısıtma", "isim", "İsim", "Işık", "işık", "Işik", "ışık", "ilk", "Ilık", "İlke", "İlker", "Ilgaz", "Irmak",
        "İrmak", "İzmir", "Izmir", "izmir", "IZMIR", "İZMİR", "ızmir", "I\u0307zmir", "İstanbul", "Istanbul",
        "istanbul", "ISTANBUL", "İstanbul 2", "İstanbul 10", "c", "ç", "C", "Ç", "ca", "ça", "cz", "çz", "d", "Cem",
        "Çem", "Çelik", "Celik", "Cz", "c\u0327elik", "g", "ğ", "Ğ", "G", "dağ", "dag", "dagh", "dağa", "dah",
        "g\u0306", "o", "ö", "Ö", "oz", "öz", "Ozan", "Özan", "Özgür", "Ozgur", "s", "ş", "S", "Ş", "sa", "şa", "sz",
        "şz", "Şahin", "Sahin", "Sz", "Szahin", "u", "ü", "Ü", "uz", "üz", "Ünal", "Unal", "Uz", "kâr", "kar",
        "kara", "Kâzım", "Kazım", "Kazim", "hâlâ", "hala", "Halâ", "î", "û", "q", "w", "x", "h", "j", "Iğdır",
        "İğdir", "Diyarbakır", "Diyarbakir", "Kırıkkale", "Kirikkale", "Kırşehir", "Kirsehir",
    ],
    "th": [
        "ก", "ข", "ค", "ฮ", "กา", "ก่า", "ก้า", "ก๊า", "ก๋า", "กะ", "กิ", "กี", "กึ", "กื", "กุ", "กู", "เก", "แก",
        "โก", "ใก", "ไก", "ไก่", "เกา", "เก่า", "เก้า", "เกาะ", "แก้ว", "แก่", "แก", "แกะ", "โกหก", "ใกล้", "ไกล",
        "ขา", "เขา", "เข้า", "ไข่", "แขก", "โขน", "ใคร", "เค", "เคย", "กก", "กข", "กฎ", "กฏ", "กรรม", "กรม", "กำ",
        "กํา", "น้ำ", "นํ้า", "นำ", "น้า", "นา", "นาม", "นก", "เนย", "แนน", "โน้ต", "ใน", "ไนล์", "ฤ", "ฤๅ", "ฤกษ์",
        "รัก", "ร้าน", "ราน", "ฦ", "ล", "ฯ", "ๆ", "มากๆ", "มาก", "มาก ๆ", "กรุงเทพฯ", "กรุงเทพ", "กรุงเทพมหานคร",
        "การ์ด", "การด", "การ", "กาก", "เเก", "แเก", "สมชาย", "สมหญิง", "สมศรี", "สม ศรี", "สม-ศรี", "สมศักดิ์",
        "สมศักดิ", "เสมอ", "แสง", "โสภา", "ไสว", "ใส", "ห้อง 2", "ห้อง 10", "ห้อง ๒", "ห้อง ๑๐", "ห้อง ๓",
        "ห้อง ๑๐๓", "ห้อง ๑๐๐๒", "ห้อง2", "ห้อง10", "ห้อง", "๑", "๒", "๑๐", "ที่ 1", "ที่ ๒", "ธนาคาร", "ธนา",
        "ทหาร", "เท", "โท", "Bangkok", "เบียร์", "เบียร", "เบี้ย", "เปลา", "เปล่า", "เปรต", "เพลง", "เพชร", "เอก",
        "เอ", "แอน", "โอ", "ไอ", "อา", "อ่า", "อำ", "เ", "แ",
    ],
    "cs": [
        "c", "C", "č", "Č", "ch", "Ch", "CH", "cH", "h", "H", "i", "cz", "d", "ca", "ci", "ča", "cha", "chci",
        "chléb", "Chléb", "chleb", "Chod", "Hod", "hod", "Cod", "Čod", "Chalupa", "Halupa", "Calupa", "Čalupa",
        "Iva", "Ivan", "c\u030c", "c-h", "c h", "CHalupa", "Chalupa 2", "Chalupa 10", "macha", "maca", "mača",
        "maha", "mach", "mac", "mah", "mai", "Mácha", "Macha", "Máca", "Mach", "ř", "Ř", "r", "rz", "ra", "řa", "s",
        "Řeháček", "Rehacek", "Řehák", "Rehák", "Rzehák", "š", "Š", "sz", "sa", "ša", "t", "Šimek", "Simek",
        "Szimek", "Šimeček", "z", "ž", "Ž", "zz", "za", "ža", "Žižka", "Zizka", "Zzizka", "á", "ď", "ě", "ň", "ó",
        "ť", "ú", "ů", "ý", "Ďas", "Das", "Dás", "Dat", "Ňouma", "Nouma", "Novák", "Novak", "novák", "Nová", "Nova",
        "Nováková", "Novákova", "Nový", "Novy", "Noví", "Kůň", "Kun", "Kuň", "Kúň", "Kůna", "Černý", "Cerny",
        "Czerny", "černý", "ČERNÝ", "Cimrman", "Zach", "Zacha", "Zahrada", "Zac", "Zajíc",
    ],
    "es": [
        "ñ", "Ñ", "n", "N", "n\u0303", "na", "ña", "nz", "ñz", "o", "nzz", "caña", "cana", "canas", "canto", "cañas",
        "canz", "Cano", "Caño", "Canzo", "Peña", "Pena", "Penas", "Penz", "Pen\u0303a", "Peñas", "Peñalver", "Muñoz",
        "Munoz", "Munz", "Muñiz", "España", "Espana", "Espanza", "español", "ch", "c", "d", "cz", "Chávez", "Chavez",
        "Cid", "Cruz", "Czar", "ll", "l", "m", "lz", "Llorente", "Lorente", "Lzorente", "López", "Lopez", "Lope",
        "Lópe", "LÓPEZ", "lópez", "Lo\u0301pez", "Pérez", "Perez", "Pereza", "Péreza", "pérez", "Pérez Gómez",
        "Perez Zárate", "Perez Álvarez", "Álvarez", "Alvarez", "Alvaro", "Álvaro", "Ángel", "Angel", "Ángela",
        "ángel", "Nuñez", "Núñez", "Nunez", "Nunes", "Núnez", "güe", "gue", "Agüero", "Aguero", "Agüera", "Aguilar",
        "¿Qué?", "Qué", "Que", "¡Ay!", "Ay", "1ª", "1º", "1a", "2º piso", "10º piso", "piso 2", "piso 10", "María",
        "Maria", "Mª", "M.ª José", "María José", "Maria Jose", "Mariana", "de la Cruz", "De la Cruz", "del Río",
        "Del Rio", "Delrio",
    ],
    "da": [
        "å", "Å", "aa", "Aa", "AA", "aA", "æ", "Æ", "ø", "Ø", "ä", "Ä", "ö", "Ö", "a\u030a", "ab", "az", "za", "Aab",
        "Åb", "aab", "åb", "aac", "aaa", "Aaa", "Aabenraa", "Åbenrå", "Aalborg", "Ålborg", "Aarhus", "Århus",
        "aarhus", "århus", "Aarhus 2", "Aarhus 10", "Aasen", "Åsen", "A\u030asen", "Asen", "Azen", "Zasen",
        "Kierkegaard", "Kierkegård", "Kierkegard", "Kierkegaz", "Kjær", "Kjaer", "Kjar", "Kjør", "Kjår", "Gaard",
        "Gård", "Gard", "Gær", "Gør", "Gaarde", "Gårde", "Ærø", "Æro", "ærø", "Ørsted", "ørsted", "Orsted", "Örsted",
        "Østergaard", "Østergård", "Øster", "Öster", "Oster", "Sørensen", "Sorensen", "Sörensen", "Søren", "SØREN",
        "søren", "Soren", "Anders", "anders", "ANDERS", "aNDERS", "And", "and", "AND", "b", "y", "ü", "Ü", "Y",
        "Müller", "Myller", "Muller", "Mylle", "þ", "th", "Thor", "Þor", "œ", "ð", "đ", "ő", "ű", "é", "Andrée",
        "Andree", "Andrea", "Andreas", "a b", "A B", "A b", "a B", "A/S", "a/s", "Isaac", "Isabel", "Isåc", "Isaak",
        "Haab", "Håb", "Hab",
    ],
    "hu": [
        "c", "cs", "d", "dz", "dzs", "e", "g", "gy", "h", "l", "ly", "m", "n", "ny", "o", "s", "sz", "t", "ty", "u",
        "z", "zs", "C", "Cs", "CS", "cS", "Dz", "Dzs", "DZS", "DZs", "Gy", "GY", "Ly", "Ny", "NY", "Sz", "SZ", "Ty",
        "Zs", "ZS", "cz", "dzz", "dy", "gz", "lz", "nz", "szz", "tz", "zz", "ccs", "cscs", "ggy", "gygy", "nny",
        "nyny", "ssz", "szsz", "zzs", "zszs", "ddz", "dzdz", "ddzs", "dzsdzs", "lly", "tty", "ccz", "nnz", "Csaba",
        "Cukor", "Czeizel", "Cecil", "Cyril", "Csárdás", "csárdás", "CSÁRDÁS", "Dzsungel", "Dzéta", "Dunai", "Dezső",
        "Dzs 2", "Dzs 10", "Gyula", "Gizella", "Guszti", "Géza", "Geza", "Gézengúz", "Nyíregyháza", "Nagy", "Nóra",
        "Nyúl", "Nádas", "Szabó", "Szabo", "Sas", "Soma", "Sütő", "Szász", "Szűcs", "Szucs", "Szűts", "Tyúk", "Tuza",
        "Tamás", "Zsófia", "Zita", "Zoltán", "Zsolt", "Zrínyi", "ö", "ő", "Ö", "Ő", "ü", "ű", "Ü", "Ű", "ó", "ú",
        "oz", "uz", "őz", "öz", "Őze", "Öze", "Öző", "Őzö", "űr", "ür", "Űr", "Ürge", "o\u030b", "u\u030b", "Örs",
        "Ors", "Őrs", "Orsz", "egészség", "Egészség", "egészséges", "egésztől", "Egésztől", "egész", "Annya", "Anna",
        "Anya", "Anyja", "Anyag", "Annus", "asszony", "aszony", "asz", "ász", "ass", "asztal", "meggy", "megy",
        "meg", "megye", "loccsan", "locsol", "loccan", "hosszú", "hoszú", "hossz", "Kovács", "Kovac", "Kováts",
        "Kovácszoltán", "Kovácsz", "Kovácsa",
    ],
    "vi": [
        "a", "à", "ả", "ã", "á", "ạ", "ă", "ằ", "ẳ", "ẵ", "ắ", "ặ", "â", "ầ", "ẩ", "ẫ", "ấ", "ậ", "ba", "bà", "bả",
        "bã", "bá", "bạ", "ban", "bàn", "bán", "băn", "bân", "d", "đ", "D", "Đ", "da", "đa", "dz", "đz", "e", "ê",
        "ề", "ế", "ệ", "o", "ô", "ơ", "ồ", "ờ", "ộ", "ợ", "ỡ", "u", "ư", "ừ", "ự", "ữ", "y", "ỳ", "ý",
        "a\u0302\u0300", "a\u0300\u0302", "a\u0323\u0302", "\u00e2\u0323", "\u1ea1\u0302", "o\u031b\u0323",
        "o\u0323\u031b", "u\u031b\u0303", "\u0075\u0303\u031b", "a\u0306\u0301", "a\u0301\u0306", "Nguyễn", "Nguyên",
        "Nguyen", "Nguyển", "Nguyện", "Nguye\u0302\u0303n", "Nguyê\u0303n", "nguyễn", "NGUYỄN", "Nguyễn An",
        "Nguyên Ân", "Nguyen Ba", "Nguyễn Ánh", "Nguyễn Ảnh", "Nguyễn Ân", "Nguyễn Ăn", "Trần", "Tràn", "Tran",
        "Trân", "Trấn", "Trăn", "Trẩn", "Đặng", "Dặng", "Dang", "Đăng", "Đâng", "Dung", "Dũng", "Dùng", "Đức", "Duc",
        "Dục", "Đúc", "Hòa", "Hoà", "Hoa", "Hoả", "Hỏa", "Hóa", "Hoá", "Huế", "Hue", "Huệ", "Hué", "Phương",
        "Phuong", "Phượng", "Phường", "Phường 2", "Phường 10", "Quận 2", "Quận 10", "Quan 3", "Lê", "Le", "Lệ", "Lễ",
        "Lý", "Ly", "Lỷ", "Thuỷ", "Thủy", "Thuý", "Thúy", "Thuy", "Trinh", "Trịnh", "Trình", "chi", "ci", "cz", "gi",
        "gz", "kh", "ng", "ngh", "nh", "nz", "ph", "qu", "th", "tr", "tz",
    ],
    "zh": [
        "阿", "啊", "安", "爱", "八", "巴", "白", "班", "长", "长城", "常", "重庆", "重", "陈", "程", "曾", "単", "单", "丁", "二", "三",
        "一", "十", "四", "五", "六", "七", "九", "零", "〇", "王", "王伟", "王小明", "王 小明", "王晓明", "汪", "望", "李", "李明", "黎", "里",
        "张", "張", "章", "张三", "张三丰", "张飞", "赵", "趙", "周", "朱", "朱元璋", "诸葛亮", "诸葛 亮", "欧阳修", "欧阳", "欧", "区", "仇", "查",
        "盖", "解", "任", "尉迟", "冼", "乐", "吕", "女", "绿", "路", "鲁", "略", "房间2", "房间10", "房间 2", "房间 10", "房间１０", "房间３",
        "第2间", "第10间", "第二间", "第十间", "2号", "10号", "A座", "B座", "a座", "王A", "王B", "王a", "王2", "王10", "北京", "北京市", "北",
        "上海", "广州", "廣州", "台湾", "臺灣", "香港", "中国", "中國", "中", "Wang", "wang", "wáng", "Wáng", "Lǐ", "Li", "lí", "ü",
        "nü", "nǚ", "nv", "ㄅ", "ㄆ", "ㄇ", "、", "。", "·", "阿·凡提", "阿凡提", "あ", "가", "龘", "𠀀", "䶮", "㐀", "𬭊", "马", "馬",
        "马云", "吗", "妈", "行", "银行", "行走",
    ],
}

ALL = list(FAKER)

# Names that are not written: the reason, the languages, the names.
EXCLUDED = [
    # What ICU itself orders otherwise in version 76.1, which Foundation of Swift 6.3 has.
    ("' and ’ are different characters in ICU 72; in ICU 76 they differ as accents do", ALL, ["O’Brien"]),
    ("ICU 76 knows readings of these characters, which stand behind all others in ICU 72", ["zh"], ["𠀀", "㐀", "䶮", "𬭊"]),

    # What Foundation on Linux contradicts itself about.
    ("a number of 2^64 or more is taken modulo 2^64", ALL,
     ["Room 18446744073709551616", "Room 99999999999999999999", "Room 100000000000000000000"]),
    ("a number in wide digits is compared from the digit before the first different one: 1002 before 103", ["ja"],
     ["部屋１００２"]),
    ("the same in Thai digits, which ICU's comparison gets wrong as well; its sort keys are right", ["th"], ["ห้อง ๑๐๐๒"]),
    ("a vowel sign alone is no name; in Thai the consonant after it counts before it", ["th"], ["เ", "แ"]),
]


def collator(language):
    made = icu.Collator.createInstance(icu.Locale(language))
    kinds, values = icu.UCollAttribute, icu.UCollAttributeValue
    made.setAttribute(kinds.NUMERIC_COLLATION, values.ON)
    made.setAttribute(kinds.ALTERNATE_HANDLING, values.NON_IGNORABLE)
    made.setAttribute(kinds.NORMALIZATION_MODE, values.ON)
    made.setAttribute(kinds.STRENGTH, values.SECONDARY)
    made.setAttribute(kinds.CASE_LEVEL, values.ON)
    return made


def made_names(language):
    """Names by faker, the same in each run."""
    source = faker.Faker(FAKER[language])
    source.seed_instance(sum(map(ord, language)))
    names = [source.name() for _ in range(PEOPLE)]
    names += [source.city() for _ in range(CITIES)]
    names += [source.company() for _ in range(COMPANIES)]
    names += [source.street_address() for _ in range(ADDRESSES)]
    return names


def literal(name):
    """The name in JSON, with escapes if it is not composed or has characters that cannot be seen."""
    is_plain = unicodedata.is_normalized("NFC", name) and not set(name) & set("\u00a0\u00ad\u200b\u200d\u3000\ufe0f")
    return json.dumps(name, ensure_ascii=not is_plain)


def main():
    words = sys.argv[1:]
    takes_all = "--all" in words
    files = [word for word in words if word != "--all"]
    path = pathlib.Path(files[0]) if files else pathlib.Path(__file__).with_name("Names.json")
    lists = []
    for language in FAKER:
        names = set(COMMON + HARD[language] + made_names(language))
        if not takes_all:
            names.difference_update(*(those for _, languages, those in EXCLUDED if language in languages))
        order = collator(language)
        ordered = sorted(names, key=lambda name: (order.getSortKey(name), name.encode()))
        lists.append(json.dumps(language) + ": [\n" + ",\n".join(map(literal, ordered)) + "\n]")
    versions = f"ICU {icu.ICU_VERSION}, faker {faker.VERSION}"
    text = '{"versions": ' + json.dumps(versions) + ', "names": {\n' + ",\n".join(lists) + "\n}}\n"
    path.write_text(text, encoding="utf-8")


main()
