"""Controls headless Chromium with the browser's own protocol over two pipes (--remote-debugging-pipe)."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

PATH = shutil.which("chromium") or shutil.which("chromium-browser")


class Chromium:
    """A page. `complaints` lists the console messages and exceptions since it was opened."""

    def __init__(self, folder):
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_browser, from_browser)]

        def as_it_wants_them():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [PATH, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={folder}",
             "about:blank"],
            preexec_fn=as_it_wants_them, pass_fds=(3, 4), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for fd in high:
            os.close(fd)
        os.close(to_browser)
        os.close(from_browser)
        self.out, self.into, self.rest, self.last, self.session = ours_out, ours_in, b"", 0, None
        self.complaints, self.events = [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.last:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def read(self):
        end = time.monotonic() + 120
        while b"\0" not in self.rest:
            assert select.select([self.into], [], [], max(0, end - time.monotonic()))[0], "the browser does not answer"
            more = os.read(self.into, 1 << 20)
            assert more, "the browser has ended"
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(line)
        if message.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.complaints.append(message["params"])
        self.events.append(message.get("method"))
        return message

    def open(self, path, width=1100, dark=False, script=True, mobile=False):
        self.complaints.clear()
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1,
                  mobile=mobile)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value":
                                                           "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Page.navigate", url=path.as_uri())
        while "Page.loadEventFired" not in self.events:
            self.read()

    def ask(self, expression):
        """Returns the value of a JavaScript expression, or the result of its promise."""
        r = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in r, r["exceptionDetails"]
        return r["result"].get("value")

    def picture(self):
        """Returns the whole page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])
