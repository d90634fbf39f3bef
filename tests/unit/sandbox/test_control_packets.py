"""Packets between host and zygote."""

import pytest

from sandbox.guest import control

READY = control.Ready(
    mode="root", namespaces=True, empty_root=True, landlock_abi=7, slots=1024, nproc_counts=True, data_bytes=1
)


@pytest.mark.parametrize(
    "packet",
    [
        control.Start(packages=["numpy"]),
        READY,
        control.Failed(layer="namespaces", message="no"),
        control.Spawn(id=1, slot=0, memory_bytes=1, cpu_s=1.5, threads=2, examine=False),
        control.Spawned(id=1),
        control.Refused(id=1, message="fork: no memory"),
        control.Exited(id=1, status=9, cpu_s=0.1, max_rss_bytes=4096),
    ],
)
def test_a_packet_survives_the_way(packet):
    data = control.encode(packet)
    assert len(data) < control.PACKET_BYTES
    assert control.decode(data) == packet


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"kind": "spawned"}', b'{"kind": "other", "id": 1}', b"\xff"])
def test_anything_else_is_refused(data):
    with pytest.raises(ValueError):
        control.decode(data)
