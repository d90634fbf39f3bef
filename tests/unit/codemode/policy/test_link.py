"""Addresses that servers want opened: what is passed on, what never is."""

import pytest

from codemode.policy.link import LinkError, read_link


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.com", "example.com"),
        ("https://example.com/", "example.com"),
        ("https://Login.Example.com:8443/a/b?x=1&y=%20#z", "login.example.com:8443"),
        ("https://xn--bcher-kva.example/?q", "xn--bcher-kva.example"),
        ("HTTPS://192.0.2.7#top", "192.0.2.7"),
        ("https://example.com/@user", "example.com"),
    ],
)
def test_a_plain_https_address_keeps_its_text_and_shows_its_host(url, host):
    link = read_link(url)
    assert (link.url, link.host) == (url, host)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://example.com/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "//example.com",
        "https:example.com",
        "https:///example.com",
        "https://",
        "https://-x.example",
        "https://bank.example@evil.example/",
        "https://bank.example:x@evil.example/",
        "https://bank.example\\@evil.example/",
        "https://evil.example\n.bank.example/",
        "https://bank.example /",
        "https://b\u00e4nk.example/",
        "https://bank.example/\u202egpj.exe",
        "https://bank.example/\x1b[2J",
        "https://[::1]/",
        "https://example.com:123456/",
        "https://example.com:x/",
        "https://example.com/" + "x" * 2_048,
        'https://example.com/">click',
    ],
)
def test_an_address_that_people_and_browsers_may_read_differently_is_refused(url):
    with pytest.raises(LinkError):
        read_link(url)
