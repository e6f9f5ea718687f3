"""Which device is chosen, and what is said when it cannot be had."""

from __future__ import annotations

import numpy as np
import pytest

from vyre.config import config
from vyre.diagnostics import DeviceError
from vyre.driver import registry, routing
from vyre.driver.backend import Backend, Device
from vyre.ir import BufferDecl, DataType, Expr, Node, Program
from vyre.runtime import run
from vyre.target import Feature

ADD = Program.wrapped(
    [BufferDecl.read_write("x", 0, DataType.U32)],
    (64, 1, 1),
    [Node.store("x", Expr.gid(0), Expr.load("x", Expr.gid(0)) + Expr.u32(1))],
)


def test_without_a_gpu_the_cpu_is_chosen_and_says_why(monkeypatch):
    monkeypatch.setattr(routing, "_may_have_gpu", lambda: False)
    routing.choose.cache.clear()
    route = routing.choose()
    assert route.device.info.id == "cpu"
    assert "best" in route.why
    routing.choose.cache.clear()


def test_the_environment_chooses(monkeypatch):
    monkeypatch.setenv("VYRE_DEVICE", "reference")
    config.cache_clear()
    routing.choose.cache.clear()
    try:
        route = routing.choose()
        assert route.device.info.id == "reference"
        assert "VYRE_DEVICE" in route.why
        assert routing.choose("cpu").device.info.id == "cpu"
    finally:
        monkeypatch.undo()
        config.cache_clear()
        routing.choose.cache.clear()


@pytest.mark.parametrize("name", ["nowhere", "cpu:7", "reference:x"])
def test_a_device_that_is_not_there_is_an_error_that_lists_the_others(name):
    with pytest.raises(DeviceError) as caught:
        routing.choose(name)
    assert caught.value.code == "D001"
    assert "cpu" in caught.value.fix


def test_a_third_partys_backend_is_found_by_its_entry_point():
    values = {name: found.value for name, found in registry.third_party().items()}
    assert values == {"split": "vyre_split_example:backend"}
    backend = registry.backend("split")
    assert isinstance(backend, Backend)
    assert all(isinstance(device, Device) for device in backend.probe())
    outputs = run(ADD, {"x": np.arange(64, dtype=np.uint32)}, device="split")
    assert outputs["x"].tolist() == list(range(1, 65))


def test_every_device_says_what_it_is():
    for device in routing.all_devices():
        info = device.info
        assert info.id.split(":")[0] in registry.backend_names()
        assert info.available or (info.reason and info.remedy)
        if info.available:
            assert Feature.TRAP in info.target.features
            assert info.target.limits.max_invocations >= 64


def test_a_device_of_the_list_stands_for_its_name() -> None:
    info = next(one.info for one in routing.all_devices() if one.info.id == "reference")
    assert routing.choose(info).device.info.id == "reference"
    with pytest.raises(DeviceError, match="there is no device 3"):
        routing.choose(3)  # pyright: ignore[reportArgumentType]
