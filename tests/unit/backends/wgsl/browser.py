"""Headless Chromium with WebGPU on SwiftShader, driven over a pipe."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--no-first-run"),
    *("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--remote-debugging-pipe"),
)


class Browser:
    """A browser process; `open` and `evaluate` speak the DevTools protocol over two pipes."""

    def __init__(self) -> None:
        program = shutil.which("chromium")
        assert program is not None, "chromium is not installed: apt-get install -y chromium"
        self.profile = tempfile.mkdtemp(prefix="vyre-chromium-")
        to_browser, self._writer = os.pipe()
        self._reader, from_browser = os.pipe()

        def wire() -> None:
            # The browser reads descriptor 3 and writes descriptor 4.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        command = [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self._process = subprocess.Popen(
            command,
            preexec_fn=wire,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._count = 0
        self._session: str | None = None

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *problem: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._writer)
        os.close(self._reader)
        shutil.rmtree(self.profile, ignore_errors=True)

    def open(self, page: Path, deadline: float) -> None:
        """Open a page of the disk in a new tab, which `evaluate` then means."""
        self._session = None
        target = self._call("Target.createTarget", {"url": page.as_uri()}, deadline)
        attached = self._call(
            "Target.attachToTarget", {"targetId": target["targetId"], "flatten": True}, deadline
        )
        self._session = attached["sessionId"]
        ends = time.monotonic() + deadline
        loaded = "document.readyState === 'complete' && location.protocol === 'file:'"
        while not self.evaluate(loaded, deadline):
            if time.monotonic() > ends:
                raise TimeoutError(f"{page} did not load")
            time.sleep(0.05)

    def evaluate(self, expression: str, deadline: float) -> Any:
        """The value of a JavaScript expression in the page, awaited."""
        parameters = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self._call("Runtime.evaluate", parameters, deadline)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _call(self, method: str, parameters: dict[str, Any], deadline: float) -> Any:
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writer, json.dumps(message).encode() + b"\0")
        ends = time.monotonic() + deadline
        while True:
            answer = self._receive(ends)
            if answer.get("id") == self._count:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _receive(self, ends: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._reader], [], [], max(0.0, ends - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser did not answer")
            chunk = os.read(self._reader, 1 << 16)
            if not chunk:
                raise EOFError("the browser ended")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)
