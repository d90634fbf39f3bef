"""Where groups can be made, from what /proc says on real systems."""

import pytest

from sandbox.linux.cgroup_places import Own, parse_own

DEBIAN_12 = """\
24 30 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw
25 30 0:23 / /proc rw,nosuid,nodev,noexec,relatime shared:13 - proc proc rw
29 24 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
30 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard,errors=remount-ro
"""
HYBRID = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
HYBRID_OWN = "9:name=systemd:/\n8:pids:/\n4:memory:/jobs/f708\n1:cpu:/\n0::/\n"


@pytest.mark.parametrize(
    ("cgroup", "mountinfo", "expected"),
    [
        pytest.param(
            "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope\n",
            DEBIAN_12,
            Own(
                v1={},
                v2="/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope",
            ),
            id="debian-12-user",
        ),
        pytest.param("0::/\n", DEBIAN_12, Own(v1={}, v2="/sys/fs/cgroup", is_top=True), id="v2-without-systemd"),
        pytest.param(
            HYBRID_OWN,
            HYBRID,
            Own(
                v1={"memory": "/sys/fs/cgroup/memory/jobs/f708", "pids": "/sys/fs/cgroup/pids"},
                v2="/sys/fs/cgroup/unified",
                is_top=True,
            ),
            id="hybrid",
        ),
        pytest.param(
            "11:cpu,cpuacct:/user.slice\n5:memory,pids:/user.slice/user-0.slice\n",
            "33 25 0:30 / /sys/fs/cgroup/both rw shared:15 - cgroup cgroup rw,memory,pids\n",
            Own(
                v1={
                    "memory": "/sys/fs/cgroup/both/user.slice/user-0.slice",
                    "pids": "/sys/fs/cgroup/both/user.slice/user-0.slice",
                },
                v2=None,
            ),
            id="v1-with-both-in-one-hierarchy",
        ),
        pytest.param(
            "5:memory:/docker/3f1c\n",
            "720 719 0:32 /docker/3f1c /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory\n",
            Own(v1={"memory": "/sys/fs/cgroup/memory"}, v2=None),
            id="container-that-shares-the-machine's-view",
        ),
        pytest.param(
            "0::/\n",
            "900 880 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate\n",
            Own(v1={}, v2="/sys/fs/cgroup", is_top=True),
            id="container-with-a-cgroup-namespace",
        ),
        pytest.param("0::/../../other\n", DEBIAN_12, Own(v1={}, v2=None), id="outside-of-the-cgroup-namespace"),
        pytest.param(
            "5:memory:/other\n",
            "720 719 0:32 /docker/3f1c /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            Own(v1={}, v2=None),
            id="outside-of-what-is-mounted",
        ),
        pytest.param(
            "5:memory:/docker/3f1c-more\n",
            "720 719 0:32 /docker/3f1c /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            Own(v1={}, v2=None),
            id="a-neighbour-whose-name-begins-alike",
        ),
        pytest.param(
            "0::/a:b\n",
            "29 24 0:26 / /mnt/my\\040groups rw - cgroup2 none rw\n",
            Own(v1={}, v2="/mnt/my groups/a:b"),
            id="spaces-and-colons",
        ),
        pytest.param("", "", Own(v1={}, v2=None), id="nothing"),
        pytest.param("0::/\n", "nonsense\n1 2 3\n", Own(v1={}, v2=None), id="lines-of-another-shape"),
    ],
)
def test_the_own_groups_are_found_as_folders(cgroup, mountinfo, expected):
    assert parse_own(cgroup, mountinfo) == expected
