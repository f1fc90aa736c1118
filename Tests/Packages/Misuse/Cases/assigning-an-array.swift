// expect: cannot assign value of type '[Page]' to type 'ToMany<Page>'
import MisuseModel
import Trellis

func misuse(_ note: Note, _ pages: [Page]) {
  note.pages = pages
}
