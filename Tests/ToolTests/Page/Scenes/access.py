"""Scenes with axe: what its rules find in the page."""

import importlib.util
import os

from browser import SOAK, expect

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
DESKTOP = {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False}


def axe():
    folder = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
    with open(os.path.join(folder, "axe.min.js"), encoding="utf-8") as file:
        return file.read()


def check(browser, where):
    """Runs axe; the script comes through the debugger, for which the page's policy does not count."""
    if not browser.run("return 'axe' in window"):
        browser.cdp("Runtime.evaluate", expression=axe())
    found = browser.driver.execute_async_script("""
      const done = arguments[arguments.length - 1];
      axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa",
        "best-practice"]}).then(({violations}) => done(violations.map((violation) =>
        `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)
          + " " + (node.any[0]?.message ?? node.all[0]?.message ?? "")).join(" || ")}`)), (error) => done([String(error)]));
      """)
    expect(not found, f"axe finds in {where}: " + " ### ".join(found))


def theme(browser, name):
    browser.cdp("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": name}, {"name": "prefers-reduced-motion", "value": "reduce"}])


def everything_is_accessible(stage):
    """The light theme at the width of a desktop and the dark one at the width of a phone, each with some of the parts
    that open. `make soak` looks at both themes and at all parts at each width."""
    browser = stage.browser
    looked = 0
    try:
        for size, width, usual, usual_parts in [
            (DESKTOP, "desktop", "light", ["list", "settings"]), (PHONE, "phone", "dark", ["detail", "embed"]),
        ]:
            browser.cdp("Emulation.setDeviceMetricsOverride", **size)
            parts = ["detail", "list", "settings", "embed"] if SOAK else usual_parts
            for name in ["light", "dark"] if SOAK else [usual]:
                theme(browser, name)
                if "detail" in parts:
                    browser.open(stage.url + "/?selected=us12")
                    browser.until("the detail with its revisions", lambda: browser.run(
                        "return document.querySelectorAll('#detail li, #detail tr, #detail dd').length > 5"))
                    check(browser, f"{width}, {name}, detail")
                if "list" in parts:
                    browser.open(stage.url + "/")
                    for part in ["time", "charts"]:
                        browser.press_id(f"#{part}-toggle")
                    browser.until("time and charts", lambda: browser.run(
                        "return document.querySelector('#time').childElementCount > 0"
                        " && document.querySelector('#charts').childElementCount > 0"))
                    check(browser, f"{width}, {name}, list with time and charts")
                if "settings" in parts:
                    browser.press("Settings")
                    browser.until("the settings", lambda: browser.find("dialog[open]"))
                    check(browser, f"{width}, {name}, settings")
                if "embed" in parts:
                    browser.open(stage.url + "/embed", live=False)
                    browser.until("the map", lambda: browser.find("canvas"))
                    check(browser, f"{width}, {name}, /embed")
                looked += len(parts)
    finally:
        browser.cdp("Emulation.clearDeviceMetricsOverride")
        browser.cdp("Emulation.setEmulatedMedia", features=[])
    browser.take_messages()
    return f"{looked} views"


SCENES = [everything_is_accessible]
