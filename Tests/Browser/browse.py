#!/usr/bin/env python3
"""Walks through `trellis browse` in a headless Chromium, as a person would, and as a hostile page would.

    python3 Tests/Browser/browse.py TRELLIS

TRELLIS is the built program. Needs chromium, chromium-driver and python3-selenium (names of Debian's packages).
"""
import http.server
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By

root = pathlib.Path(__file__).resolve().parent.parent.parent
trellis = pathlib.Path(sys.argv[1]).resolve()


def run(*arguments):
    return subprocess.run([trellis, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1100,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    page = webdriver.Chrome(options=options)
    # A click returns before the next page is there.
    page.implicitly_wait(10)
    return page


class Walk:
    def __init__(self, folder):
        self.store = folder / "notes.sqlite"
        run("seed", root / "Models/Diary/Diary.model.json", self.store, 120, "--seed", 4)
        self.process = subprocess.Popen(
            [trellis, "browse", self.store, "--write"], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.page = browser()

    def open(self, path=""):
        self.page.get(self.address + path)

    def link(self, text):
        self.page.find_element(By.LINK_TEXT, text).click()

    def text(self):
        return "\n".join(self.texts("body"))

    def texts(self, selector):
        """The texts of all elements that match. One script reads them, so the page cannot change between the search and the reading."""
        return self.page.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map(element => element.innerText)", selector)

    def faults(self):
        return self.texts(".field .fault")

    def fill(self, name, value):
        field = self.page.find_element(By.NAME, name)
        field.clear()
        field.send_keys(value)

    def press(self, text):
        self.page.find_element(By.XPATH, f"//button[text()='{text}']").click()

    def reads(self):
        self.open()
        expect(lambda: "Diary" in self.page.title, "the title")
        self.link("EmotionDiary")
        expect(lambda: "120 objects" in self.text(), "the list of all objects")
        self.link("Next ›")
        expect(lambda: "page 2" in self.text(), "the second page")
        self.link("emotion")
        expect(lambda: "▲" in self.text(), "sorted by emotion")
        self.fill("where", 'emotion == "calm" AND images.@count > 0')
        self.press("Filter")
        expect(lambda: "EmotionDiary#" in self.text() and "happy" not in self.text(), "filtered")
        self.fill("where", 'emotion = = "calm"')
        self.press("Filter")
        expect(lambda: self.page.find_elements(By.CLASS_NAME, "fault"), "a wrong predicate is explained")
        self.open()
        expect(lambda: self.page.execute_script(
            "return document.querySelector('img.diagram')?.naturalWidth > 100"), "the picture is drawn")
        self.link("Open the picture")
        expect(lambda: self.page.find_elements(By.CSS_SELECTOR, "a"), "entities in the picture lead to their pages")

    def writes(self):
        self.open("entity/Tag/new")
        hostile = '<script>document.title="x"</script><img src=x onerror=document.title="x">'
        self.fill("name", hostile)
        self.press("Save")
        expect(lambda: hostile in self.text() and self.page.title != "x", "a text stays a text")
        self.open("entity/EmotionDiary?sort=-createdAt")
        self.page.find_element(By.CSS_SELECTOR, "td a").click()
        self.link("Edit")
        self.fill("content", "")
        self.fill("createdAt", "yesterday")
        expect(lambda: "Hooks of the program do not run here." in self.text(), "hooks are mentioned")
        self.press("Save")
        expect(lambda: any("must be" in fault for fault in self.faults()) and "must not be empty" in self.faults(),
               lambda: f"a wrong value and a broken rule, each at its field: {self.faults()}")
        self.fill("createdAt", "2026-01-31T09:30:00Z")
        self.press("Save")
        expect(lambda: self.faults() == ["must not be empty"], lambda: f"a broken rule at its field: {self.faults()}")
        self.fill("content", "바다에서\nand back")
        self.press("Save")
        expect(lambda: "바다에서" in self.text(), "saved")
        name = self.page.find_element(By.CSS_SELECTOR, "nav b").text.split("(")[-1].rstrip(")")
        shown = json.loads(run("show", self.store, name, "--json"))
        expect(shown["content"] == "바다에서\nand back", shown)
        self.link("Delete")
        self.press("Delete")
        expect(lambda: self.page.title.startswith("EmotionDiary") and f"{name}\n" not in self.text() + "\n", "deleted")
        expect(run("doctor", self.store).rstrip().endswith("nothing is broken"), "the rules hold")

    def narrow(self):
        """On a telephone no value is written one letter a line, and no page is wider than the screen."""
        self.page.set_window_size(400, 900)
        key = json.loads(run("list", self.store, "EmotionDiary", "--limit", 1, "--json"))[0]["_object"].split("#")[1]
        for path in ("entity/EmotionDiary", f"object/EmotionDiary/{key}", f"object/EmotionDiary/{key}/edit"):
            self.open(path)
            tall = self.page.execute_script(
                "return [...document.querySelectorAll('td')].filter(cell => cell.offsetHeight > 120).map(cell => cell.innerText)")
            expect(not tall, f"{path}: {tall}")
            expect(self.page.execute_script(
                "return document.documentElement.scrollWidth <= window.innerWidth"), f"{path} is wider than the screen")
        self.open("entity/EmotionDiary?where=titel%20%3D%3D%201")
        expect(lambda: "\ntitel == 1\n^" in self.text(), "the message about a predicate keeps its lines")
        self.page.set_window_size(1100, 900)

    def columns(self):
        self.open("entity/EmotionDiary")
        expect(lambda: "not shown: images, tags" in self.text(), "columns that are left out are named")
        self.page.find_element(By.TAG_NAME, "summary").click()
        self.page.find_element(By.CSS_SELECTOR, "input[value=tags]").click()
        self.press("Show")
        expect(lambda: "tags" in [head.strip() for head in self.texts("th")], "a chosen column")

    def live(self):
        self.open("entity/Tag")
        run("insert", self.store, "Tag", "name=from elsewhere", "--write")
        self.page.refresh()
        self.open('entity/Tag?where=name%20%3D%3D%20"from%20elsewhere"')
        expect(lambda: "1 object" in self.text(), "what another program saves is shown")

    def hostile(self):
        """A page from another place neither reads nor changes anything, though it knows the whole address."""
        key = json.loads(run("list", self.store, "Tag", "--limit", 1, "--json"))[0]["_object"].split("#")[1]
        target = f"{self.address}object/Tag/{key}/delete"
        body = (f'<title>evil</title><form id=f method=post action="{target}"><input name=version value=1></form>'
                f'<iframe id=i src="{self.address}"></iframe><script>'
                f'fetch("{self.address}").then(r => r.text()).then(t => document.title = "read " + t.length)'
                f'.catch(e => document.title = "refused")</script>').encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.page.get(f"http://127.0.0.1:{server.server_port}/")
        expect(lambda: self.page.title == "refused", lambda: f"a script from elsewhere: {self.page.title}")
        self.page.execute_script("document.getElementById('f').submit()")
        expect(lambda: "A page from elsewhere may change nothing here." in self.text(), "the form is refused")
        expect(run("show", self.store, f"Tag#{key}"), "the object is there")
        server.shutdown()
        port = int(self.address.split(":")[2].split("/")[0])
        for host, path, expected in (("evil.example", "/", 421), (f"127.0.0.1:{port}", "/", 404)):
            request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": host})
            try:
                urllib.request.urlopen(request)
                expect(False, f"{host} was answered")
            except urllib.error.HTTPError as error:
                expect(error.code == expected, f"{host}: {error.code}")
        for garbage in (b"\x00" * 100, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 5000 + b"\r\n", b"POST / HTTP/1.1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(garbage)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(65536)
        self.open()
        expect(lambda: "Diary" in self.page.title, "the site goes on")

    def past(self):
        """The history of a store: a save is undone, and a deleted object comes back as it was."""
        store = self.store.parent / "lists.sqlite"
        run("seed", root / "Tests/TrellisToolTests/Guide/38/Lists.model.json", store, 1, "--seed", 5)
        run("set", store, "Item#2", "name=<b>tea</b>", "--write")
        run("delete", store, "List#1", "--write")
        process = subprocess.Popen([trellis, "browse", store, "--write"], stdout=subprocess.PIPE, text=True)
        try:
            address = process.stdout.readline().strip()
            self.page.get(address)
            self.link("History of the saves")
            expect(lambda: "2 deleted" in self.text() and "1 updated" in self.text(), "the saves")
            self.link("3")
            expect(lambda: "<b>tea</b>" in self.text(), "what a save has deleted, as text")
            self.link("Item#2")
            expect(lambda: "History of Item#2" in self.text() and "deleted" in self.text(), "the history of a deleted object")
            self.press("Restore as of save 2")
            expect(lambda: "must" in self.text() or "[partner-gone]" in self.text(), "an item needs its list")
            self.page.get(address + "history/3")
            self.press("Undo")
            expect(lambda: "2 inserted" in self.text(), "the undo is a save")
            self.page.get(address + "object/Item/2")
            self.link("History")
            self.press("Restore as of save 1")
            expect(lambda: "<b>tea</b>" not in self.text() and "bridge" in self.text(), "the former name")
            for width in (1100, 400):
                self.page.set_window_size(width, 900)
                for path in ("history", "history/3", "past/Item/2"):
                    self.page.get(address + path)
                    expect(self.page.execute_script(
                        "return document.documentElement.scrollWidth <= window.innerWidth"), f"{path} is wider than the screen")
            self.page.set_window_size(1100, 900)
            expect(run("doctor", store).rstrip().endswith("nothing is broken"), "the rules hold")
        finally:
            process.terminate()
            process.wait()

    def quiet(self):
        messages = [entry["message"] for entry in self.page.get_log("browser") if self.address in entry["message"]]
        messages = [m for m in messages if "favicon" not in m and "422" not in m and "CORS" not in m and "Frame" not in m]
        expect(not messages, f"the browser complains: {messages}")

    def end(self):
        self.page.quit()
        self.process.terminate()
        self.process.wait()


def expect(condition, what):
    """Fails unless a condition holds. One that asks a page is a function, and may become true while the page loads."""
    end = time.monotonic() + 20
    while True:
        try:
            if condition() if callable(condition) else condition:
                return
        except WebDriverException:  # An element that is not there yet, or no more: the page has changed meanwhile.
            pass
        if not callable(condition) or time.monotonic() > end:
            sys.exit(f"browse: {what() if callable(what) else what}")
        time.sleep(0.05)


with tempfile.TemporaryDirectory() as name:
    walk = Walk(pathlib.Path(name))
    try:
        for step in (walk.reads, walk.quiet, walk.columns, walk.narrow, walk.writes, walk.live, walk.past, walk.hostile):
            step()
            print(f"{step.__name__}: ok")
    finally:
        walk.end()
