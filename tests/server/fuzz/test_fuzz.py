"""A few thousand requests of `benchmarks/fuzz.py`: always an answer, at once, and never an error of the server's own."""

import asyncio
import http.client
import socket
import ssl

import pytest
from tests.server.fuzz.judge import run
from tests.server.fuzz.requests import Generator
from tests.server.fuzz.samples import SAMPLES, kinds_of
from tests.server.talk import WIDGET_CRD, Talk

from setpoint.cluster.hosted import hosted
from setpoint.world import real_world

FIRST = 1_000_000
PATIENCE = 60.0


@pytest.mark.parametrize("part", range(3))
def test_requests_that_make_no_sense_are_answered_at_once_and_without_an_error_of_the_servers_own(part):
    async def main():
        talk = Talk(real_world())
        await talk.establish(WIDGET_CRD)
        generator = Generator(kinds_of(talk.server), SAMPLES)
        found = await run(talk.server, map(generator.make, range(FIRST + 1000 * part, FIRST + 1000 * (part + 1))))
        talk.server.stop()
        return found

    found = asyncio.run(main())
    assert not found, "\n".join(found)
    assert sum(found.counts.get(code, 0) for code in (200, 201, 409, 422)) > 100, "hardly any request got far into the server"


WIRE = [
    b"hello\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET /livez HTTP/9.9\r\n\r\n",
    b"GET \xff\xfe HTTP/1.1\r\nhost: x\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nhost\r\n\r\n",
    b"POST /api/v1/namespaces HTTP/1.1\r\nhost: x\r\ncontent-length: abc\r\n\r\n{}",
    b"POST /api/v1/namespaces HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n{}",
    b"POST /api/v1/namespaces HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x",
    b"POST /api/v1/namespaces HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    b"GET /" + b"a" * (2 << 20) + b" HTTP/1.1\r\nhost: x\r\n\r\n",
    b"GET /livez HTTP/1.1\r\nhost: x\r\nx: " + b"a" * (2 << 20) + b"\r\n\r\n",
    b"GET /livez HTTP/1.1\r\n" + b"".join(b"x%d: a\r\n" % number for number in range(120_000)) + b"\r\n",
]


def test_what_is_no_http_is_refused_and_harms_nobody(capfd):
    with hosted(controllers=False) as address:
        context = ssl.create_default_context(cadata=address.ca_pem.decode())

        def send(data):
            with (
                socket.create_connection((address.host, address.port), timeout=PATIENCE) as plain,
                context.wrap_socket(plain, server_hostname="localhost") as sock,
            ):
                try:
                    sock.sendall(data)
                    answer = sock.recv(65536)
                except OSError:
                    answer = b""  # it has let go of the connection while much was still to come
            return answer

        for data in WIRE:
            answer = send(data)
            assert not answer or answer.split(b" ")[1] in (b"400", b"401", b"431"), (data[:80], answer[:200])
        connection = http.client.HTTPSConnection("localhost", address.port, context=context, timeout=PATIENCE)
        connection.request("GET", "/livez")
        assert connection.getresponse().read() == b"ok"
        connection.close()
    assert "Traceback" not in capfd.readouterr().err
