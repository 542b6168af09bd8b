#!/usr/bin/env python3
"""Runs scenes in one browser: run.py TOOLS PSQL CONNINFO PART [SCENE...]

PART is live, odd, answers, access, load, real or pictures, or several with commas between them. Prints a line for each scene: "ok NAME
SECONDS TEXT" or "failed NAME SECONDS TEXT".
"""

import importlib
import shutil
import sys
import tempfile
import time
import traceback

from browser import Browser, SceneFailure
from server import Database, Server


class Stage:
    def __init__(self, tools, psql, conninfo, folder):
        self.tools, self.folder = tools, folder
        self.database = Database(psql, conninfo)
        self.server = Server(tools, self.database)
        self.url = self.server.url
        self.browser = Browser(folder)
        self.first_token = self.database.run(
            "select token || '.' || nonce from quake.change_transaction order by token limit 1")


def main():
    tools, psql, conninfo, parts, *names = sys.argv[1:]
    folder = tempfile.mkdtemp(prefix="quake-page-")
    stage = Stage(tools, psql, conninfo, folder)

    def play(name, scene):
        begun = time.monotonic()
        try:
            result, text = "ok", scene()
        except SceneFailure as failure:
            result, text = "failed", str(failure)
        except Exception as error:
            # What went wrong comes first: a report has room for the beginning.
            lines = [f"{place.name}:{place.lineno}" for place in traceback.extract_tb(error.__traceback__)[1:]]
            result, text = "failed", f"{type(error).__name__}: {str(error).split('Stacktrace:')[0]} at {', '.join(lines)}"
        seconds = time.monotonic() - begun
        print(result, name, f"{seconds:.1f}", " ".join((text or "").split())[:3000], flush=True)
        return result == "ok"

    try:
        for part in parts.split(","):
            for scene in importlib.import_module(part).SCENES:
                if names and scene.__name__ not in names:
                    continue
                if not play(scene.__name__, lambda: scene(stage)):
                    # The next scene begins anew.
                    try:
                        for message in stage.browser.take_messages()[:5]:
                            print("console", message["message"][:500], file=sys.stderr)
                        stage.browser.driver.get("about:blank")
                    except Exception:
                        stage.browser.quit()
                        stage.browser = Browser(tempfile.mkdtemp(dir=folder))
        stage.browser.quit()

        def no_request_leaves():
            outside = stage.browser.outside_requests()
            if outside:
                raise SceneFailure(f"requests to other servers: {outside[:5]}")
        if not names:
            play("no_request_leaves", no_request_leaves)
    finally:
        stage.browser.quit()
        stage.server.process.kill()
        shutil.rmtree(folder, ignore_errors=True)


main()
