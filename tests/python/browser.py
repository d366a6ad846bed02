# SPDX-License-Identifier: BSD-3-Clause
"""Chromium without a window, driven over a pipe (the DevTools protocol), for tests of HTML pages."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--use-angle=swiftshader", "--hide-scrollbars",
           "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
           "--disable-background-networking", "--window-size=1000,700"]  # fmt: skip


class Browser:
    """One page; `problems` gathers errors of the console, exceptions and requests to anywhere but files and data."""

    def __init__(self, seconds=60):
        self.problems, self.seconds, self.number, self.text = [], seconds, 0, b""
        self.folder = tempfile.mkdtemp(prefix="quadrat-browser-")
        self.input, theirs_out = os.pipe()
        theirs_in, self.output = os.pipe()

        def descriptors():  # Chromium reads from 3 and writes to 4.
            high = [os.dup2(one, 100 + k) for k, one in enumerate((theirs_in, theirs_out))]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [PROGRAM, *OPTIONS, f"--user-data-dir={self.folder}", "about:blank"], preexec_fn=descriptors,
            close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.seconds
        while (answer := self.receive(end)).get("id") != self.number:
            self.note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def receive(self, end):
        while b"\0" not in self.text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.input, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.text += part
        message, _, self.text = self.text.partition(b"\0")
        return json.loads(message)

    def note(self, event):
        method, given = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(given["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "assert"):
            self.problems.append([one.get("value", one.get("description")) for one in given["args"]])
        elif method == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.problems.append(given["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = given["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:", "about:")):
                self.problems.append(f"the page asks for {url}")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, file):
        self.call("Page.navigate", url=file.resolve().as_uri())

    def value(self, expression):
        """Of JavaScript, waited for if it is a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def wait_for(self, expression):
        end = time.monotonic() + self.seconds
        while not (value := self.value(expression)):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} stays {value}; {self.problems}")
            time.sleep(0.05)
        return value

    def picture(self):
        """PNG of what is seen."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])
