# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, controlled with messages of its DevTools protocol over two pipes."""
import base64
import json
import os
import select
import shutil
import subprocess
import time


class Chromium:
    """A browser with one page. The requests and messages of the page are in `requests` and `messages`."""

    MAX_SECONDS = 60

    def __init__(self, profile):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        to_browser, self.input = os.pipe()
        self.output, from_browser = os.pipe()
        # Chromium's sandbox does not work for root. All opened pages are our own, so it is not needed.
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', program, *sandbox, "--headless",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--hide-scrollbars",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
             f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.last, self.session = b"", 0, None
        self.requests, self.messages, self.loaded = [], [], False
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(self.MAX_SECONDS)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            os.close(self.input)
            os.close(self.output)

    def call(self, method, **parameters):
        """Calls a method of the DevTools protocol, and returns its result."""
        self.last += 1
        number = self.last
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.input, data):]
        while True:
            answer = self._read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _read(self):
        """Reads the next message of the browser. Events are also recorded."""
        end = time.monotonic() + self.MAX_SECONDS
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.output], [], [], max(0, end - time.monotonic()))
            data = os.read(self.output, 1 << 16) if ready else b""
            if not data:
                raise RuntimeError("the browser does not answer")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self._note(message.get("method"), message.get("params"))
        return message

    def _note(self, event, parameters):
        if event == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif event == "Runtime.consoleAPICalled":
            self.messages.append(f"console: {parameters['type']}")
        elif event == "Runtime.exceptionThrown":
            self.messages.append(f"exception: {parameters['exceptionDetails']['text']}")
        elif event == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])
        elif event == "Page.loadEventFired":
            self.loaded = True

    def open(self, url):
        """Opens a page, waits until it is loaded, and forgets earlier requests and messages."""
        self.requests, self.messages, self.loaded = [], [], False
        self.call("Log.clear")
        answer = self.call("Page.navigate", url=url)
        if "errorText" in answer:
            raise RuntimeError(f"{url}: {answer['errorText']}")
        while not self.loaded:
            self._read()
        # Two frames later, the requests that the page makes immediately after loading are recorded.
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def value(self, expression):
        """The value of a JavaScript expression. It also works on a page whose policy permits no scripts."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def resize(self, width, height=900, scale=1):
        """Sets the size of the screen. A narrow screen is that of a phone."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)

    def prefer(self, scheme):
        """Sets the preferred color scheme: light or dark."""
        self.call("Emulation.setEmulatedMedia", media="screen",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, width, height, top=0):
        """A PNG of a part of the page."""
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        return base64.b64decode(
            self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True,
                      optimizeForSpeed=False)["data"])

    def pdf(self, width, height):
        """The page as a PDF on paper of this size in inches. The margins that the page states are used, but not its
        paper size."""
        self.call("Emulation.setEmulatedMedia", media="", features=[])
        return base64.b64decode(
            self.call("Page.printToPDF", paperWidth=width, paperHeight=height, printBackground=False,
                      preferCSSPageSize=False)["data"])
