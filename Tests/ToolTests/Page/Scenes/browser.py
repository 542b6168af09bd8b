"""Chromium, driven by chromedriver, with what the scenes ask of it."""

import base64
import json
import os
import re
import urllib.request

import websocket
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

# Only a scene that fails waits this long.
PATIENCE = 120

SOAK = os.environ.get("QUAKE_SOAK") == "1"

# Runs before the page's own scripts: keeps what the page violates, and when the list could first be read.
WATCH = """
window.seen = {violations: [], readable: null};
addEventListener("securitypolicyviolation", (event) =>
  seen.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
const look = () => {
  const rows = [...document.querySelectorAll("#rows [role=option]")].filter((row) => row.textContent.trim());
  if (rows.length >= 5) seen.readable = performance.now();
  else requestAnimationFrame(look);
};
look();
"""


class SceneFailure(Exception):
    """What a scene expected and did not find."""


def expect(condition, what):
    if not condition:
        raise SceneFailure(what)


class Browser:
    def __init__(self, folder, width=1440, height=900):
        self.net_log = os.path.join(folder, "net-log.json")
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in [
            "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={width},{height}",
            "--lang=en-US", "--force-color-profile=srgb", "--hide-scrollbars", "--mute-audio",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
            "--disable-default-apps", "--disable-extensions", "--enable-precise-memory-info",
            "--js-flags=--expose-gc", f"--user-data-dir={folder}/profile", f"--log-net-log={self.net_log}",
            # A request to another server fails, and is in the log.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        environment = dict(os.environ, HOME=folder)
        self.driver = webdriver.Chrome(
            options=options, service=Service("/usr/bin/chromedriver", env=environment))
        self.driver.set_script_timeout(PATIENCE)
        self.main = self.driver.current_window_handle
        self.messages = []
        self.watch()

    def watch(self):
        """Watches the pages of this tab from their beginning."""
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, what, condition, patience=PATIENCE, pause=0.03):
        """Waits for a condition, and returns its value."""
        wait = WebDriverWait(
            self.driver, patience, poll_frequency=pause, ignored_exceptions=[StaleElementReferenceException])
        try:
            return wait.until(lambda driver: condition())
        except TimeoutException:
            raise SceneFailure(f"waited {patience} s for: {what}; the page says: {self.summary()}") from None

    def summary(self):
        """What a person would see of the state, for messages."""
        return self.run("""
          const parts = "#header .status, #toasts, dialog[open], #list-count, #list .state:not([hidden])";
          const texts = [...document.querySelectorAll(parts)].map((part) => part.innerText.replace(/\\s+/g, " "));
          return [...texts, location.pathname + location.search].join(" | ")""")[:600]

    def open(self, url, live=True):
        self.driver.get(url)
        if live:
            self.until_live()

    def until_live(self, patience=PATIENCE):
        self.until("the connection is live", lambda: self.run("""
          return document.querySelector("#header [data-kind]")?.dataset.kind === "live"
            && document.querySelector("#rows [role=option]") !== null"""), patience)

    def find(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def named(self, name, within="body"):
        """A button that has this name, as assistive technology sees it."""
        return self.run("""
          return [...document.querySelectorAll(arguments[1] + " button")].find((button) =>
            (button.getAttribute("aria-label") ?? button.textContent).trim() === arguments[0]
            && button.checkVisibility())""", name, within)

    def press(self, name, within="body"):
        """Clicks the button of this name as soon as there is one that is enabled."""
        self.until(f"an enabled button “{name}”", lambda: self.run("""
          const button = [...document.querySelectorAll(arguments[1] + " button")].find((button) =>
            (button.getAttribute("aria-label") ?? button.textContent).trim() === arguments[0]
            && button.checkVisibility() && !button.disabled);
          button?.click();
          return button !== undefined;""", name, within))

    def press_id(self, selector):
        """Clicks an element as soon as there is one that is enabled."""
        self.until(selector, lambda: self.run("""
          const element = document.querySelector(`${arguments[0]}:not([hidden]):not([disabled])`);
          element?.click();
          return element !== null;""", selector))

    def row(self, code):
        """The text of an event's row; None: the list does not show it."""
        return self.run(
            "return document.querySelector(`#rows [role=option][data-code=\"${CSS.escape(arguments[0])}\"]`)"
            "?.innerText ?? null", code)

    def gone(self, code):
        """Whether the list has no such event; for a moment it may show it as deleted."""
        return self.run(
            "const row = document.querySelector(`#rows [role=option][data-code=\"${CSS.escape(arguments[0])}\"]`);"
            "return row === null || row.classList.contains('deleted')", code)

    def click_row(self, code):
        """Clicks the row of an event as soon as the list shows it."""
        self.until(f"the row of {code}", lambda: self.run("""
          const row = document.querySelector(`#rows [role=option][data-code="${CSS.escape(arguments[0])}"]`);
          row?.click();
          return row !== null;""", code))

    def until_named(self, name, within="body"):
        """Waits for a button of this name."""
        return self.until(f"the button “{name}”", lambda: self.named(name, within))

    def until_ready(self):
        """Waits until all parts are loaded that the page loads by itself."""
        self.until("the parts of the page", lambda: self.run(
            "return document.documentElement.dataset.ready !== undefined"))

    def shown(self):
        """The text above the list, which says how many events it has."""
        return self.run("return document.querySelector('#list-count')?.textContent ?? ''")

    def number_shown(self):
        """The number of events in that text, of earthquakes and others; None while there is none."""
        found = re.fullmatch(r"([\d,]+) earthquakes?(?:, ([\d,]+) other events?)?", self.shown())
        return found and sum(int(part.replace(",", "")) for part in found.groups() if part)

    def toast(self, part, patience=PATIENCE):
        """Waits for a message that contains this text."""
        return self.until(f"a message with “{part}”", lambda: self.run("""
          return [...document.querySelectorAll("#toasts .toast")].map((toast) => toast.innerText)
            .find((text) => text.includes(arguments[0]))""", part), patience)

    def keep_undo(self):
        """Waits for a message with the button Undo, and keeps it, as a pointer does that rests on it."""
        self.until("the button Undo", lambda: self.run("""
          const button = [...document.querySelectorAll("#toasts button")].find((one) => one.textContent.trim() === "Undo");
          button?.closest(".toast").dispatchEvent(new PointerEvent("pointerenter"));
          return button !== undefined;"""))

    def watch_toasts(self):
        """Keeps the messages from now on in `seen.toasts`: most of them go away by themselves."""
        self.run("""
          seen.toasts = [];
          new MutationObserver((records) => records.forEach(({addedNodes}) => addedNodes.forEach((node) =>
            seen.toasts.push({error: node.classList.contains("error"), text: node.textContent}))))
            .observe(document.querySelector("#toasts"), {childList: true});""")

    def forget_toasts(self):
        self.run("document.querySelectorAll('#toasts .toast').forEach((toast) => toast.remove())")

    def whole_list(self):
        """The codes of the whole list, by scrolling through its rows, the most DOM nodes on the way, and whether the
        rows were always in the order of the list for those who read the DOM."""
        return self.driver.execute_async_script("""
          const done = arguments[arguments.length - 1];
          const list = document.querySelector("#rows");
          if (list === null) return done({codes: [], positions: [], nodes: 0, ordered: false});
          const codes = new Map();
          let nodes = 0;
          let ordered = true;
          const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
          (async () => {
            list.scrollTop = 0;
            for (;;) {
              await frame();
              let last = 0;
              for (const row of list.querySelectorAll("[role=option][data-code]")) {
                if (!row.checkVisibility() || row.classList.contains("deleted")) continue;
                const place = Number(row.getAttribute("aria-posinset"));
                codes.set(place, row.dataset.code);
                ordered &&= place > last;
                last = place;
              }
              nodes = Math.max(nodes, document.querySelectorAll("#list *").length);
              const before = list.scrollTop;
              list.scrollTop += list.clientHeight * 0.8;
              if (list.scrollTop === before) break;
            }
            list.scrollTop = 0;
            const sorted = [...codes].sort((a, b) => a[0] - b[0]);
            done({codes: sorted.map(([, code]) => code), positions: sorted.map(([place]) => place), nodes, ordered});
          })();""")

    def until_list(self, expected, what):
        """Waits until the list has these codes, in this order; returns what `whole_list` found."""
        found = {}

        def matches():
            found.update(self.whole_list())
            return found["codes"] == expected
        try:
            self.until(what, matches, pause=0.1)
        except SceneFailure as failure:
            missing = [code for code in expected if code not in found["codes"]]
            extra = [code for code in found["codes"] if code not in expected]
            raise SceneFailure(
                f"{failure}; {len(found['codes'])} rows for {len(expected)} events; missing {missing[:5]}, "
                f"too many {extra[:5]}") from None
        return found

    def take_messages(self):
        """What the console has had since the last call."""
        messages = self.driver.get_log("browser")
        self.messages += messages
        return messages

    def violations(self):
        return self.run("return window.seen?.violations ?? []")

    def no_errors(self, where):
        errors = [m["message"] for m in self.take_messages() if m["level"] in ("SEVERE", "WARNING")]
        expect(not errors, f"the console of {where} has: {errors[:5]}")
        expect(not self.violations(), f"{where} violates its policy: {self.violations()[:5]}")

    def tasks_while(self, action):
        """What `action` returns, and the tasks of the page's main thread meanwhile: milliseconds, and those of them
        in which the processor worked for it. A trace of the developer tools has both."""
        address = self.driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
        with urllib.request.urlopen(f"http://{address}/json/version", timeout=PATIENCE) as answer:
            url = json.load(answer)["webSocketDebuggerUrl"]
        tools = websocket.create_connection(url, suppress_origin=True, timeout=PATIENCE)
        events, number = [], 0

        def call(method, parameters, end):
            nonlocal number
            number += 1
            tools.send(json.dumps({"id": number, "method": method, "params": parameters}))
            while True:
                message = json.loads(tools.recv())
                if message.get("method") == "Tracing.dataCollected":
                    events.extend(message["params"]["value"])
                if end(message):
                    return
        try:
            call("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {
                "recordMode": "recordUntilFull", "includedCategories": ["toplevel", "__metadata"],
                "excludedCategories": ["*"]}}, lambda message: message.get("id") == number)
            result = action()
            call("Tracing.end", {}, lambda message: message.get("method") == "Tracing.tracingComplete")
        finally:
            tools.close()
        main = {(event["pid"], event["tid"]) for event in events
                if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"}
        tasks = [(event["dur"] / 1000, event.get("tdur", event["dur"]) / 1000) for event in events
                 if event.get("ph") == "X" and "RunTask" in event["name"] and (event["pid"], event["tid"]) in main]
        expect(len(tasks) > 100, f"the trace has only {len(tasks)} tasks")
        return result, tasks

    def memory(self):
        """Bytes of the page's heap after a collection of garbage."""
        self.cdp("Performance.enable")
        self.cdp("HeapProfiler.collectGarbage")
        metrics = self.cdp("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "JSHeapUsedSize")

    def screenshot(self, path):
        data = self.cdp("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def quit(self):
        self.driver.quit()

    def outside_requests(self):
        """The requests of the page, its frames and its workers to other machines; call it after `quit`."""
        with open(self.net_log, encoding="utf-8") as file:
            text = file.read()
        try:
            log = json.loads(text)
        except json.JSONDecodeError:
            # The browser did not write the end.
            log = json.loads(text.rstrip().rstrip(",") + "]}")
        urls, own = [], 0
        for event in log["events"]:
            parameters = event.get("params", {})
            url = parameters.get("url")
            if not isinstance(url, str) or not url.startswith(("http:", "https:", "ws:", "wss:")):
                continue
            if url.startswith("http://127.0.0.1:"):
                own += 1
            elif parameters.get("initiator", "not an origin") != "not an origin":
                urls.append(url)
        expect(own > 20, f"the log has only {own} requests to the server")
        return urls
