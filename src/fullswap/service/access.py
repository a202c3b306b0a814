"""Who may do what.

With tokens, a request needs one with the role that its path asks for. Without, the service
listens on this machine alone, and then two more doors are shut: a page in a browser could reach it
under a name that its owner lets lead here (the Host header gives that away), or send requests to
it from elsewhere (the Origin header does).
"""

from __future__ import annotations

from ipaddress import ip_address

from fullswap.service.answers import Headers, HttpError
from fullswap.service.paths import OPEN, RANK
from fullswap.service.tokens import TokenFile

LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
NOBODY = "-"
"""Who asks where no token is needed."""


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own.

    Examples
    --------
    >>> [is_loopback(one) for one in ("127.0.0.1", "::1", "0.0.0.0", "192.168.1.2")]
    [True, True, False, False]
    """
    return ip_address(address.partition("%")[0]).is_loopback


class Access:
    """Decides about requests before anything else looks at them."""

    def __init__(self, tokens: TokenFile, loopback: bool = True) -> None:
        """``loopback``: whether the service can be reached from this machine alone."""
        self.tokens = tokens
        self.loopback = loopback

    def admit(self, role: str, headers: Headers) -> str:
        """The name of the token that asks; raises ``HttpError`` if it may not."""
        if not self.tokens.needed and self.loopback:
            _check_local(headers)
            return NOBODY
        if role == OPEN:
            return NOBODY
        given = [value for name, value in headers if name == b"authorization"]
        scheme, _, secret = (given[0] if len(given) == 1 else b"").partition(b" ")
        if scheme.lower() != b"bearer" or not secret.strip():
            raise unauthorized("this needs the header Authorization: Bearer TOKEN, once")
        token = self.tokens.find(secret.strip().decode("latin-1"))
        if token is None:
            raise unauthorized("this token is not known, or was revoked")
        if RANK[token.role] < RANK[role]:
            raise HttpError(
                403, "forbidden", f"this needs a token of role {role}, yours has role {token.role}"
            )
        return token.name


def unauthorized(message: str) -> HttpError:
    """A 401, which says how to ask."""
    return HttpError(401, "unauthorized", message, [(b"www-authenticate", b"Bearer")])


def _check_local(headers: Headers) -> None:
    hosts = [value for name, value in headers if name == b"host"]
    origins = [value for name, value in headers if name == b"origin"]
    if len(hosts) != 1 or _host_name(hosts[0]) not in LOCAL_NAMES:
        raise HttpError(
            403, "foreign-host",
            f"without tokens the service answers only to {', '.join(LOCAL_NAMES)} in the header "
            "Host; to use another name, create a token",
        )  # fmt: skip
    own = (b"http://" + hosts[0].lower(), b"https://" + hosts[0].lower())
    if any(origin.lower() not in own for origin in origins):
        raise HttpError(
            403, "foreign-origin",
            "pages of other origins may not use the service without a token",
        )  # fmt: skip


def _host_name(host: bytes) -> str:
    """Of "localhost:8642" the name alone; "" where that is no host and port."""
    text = host.decode("latin-1").lower()
    name, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text
    return name if port.isascii() and port.isdigit() else ""
