"""Passes connections on: relay.py LISTEN-HOST PORT TARGET-HOST PORT. The simulator listens on the loopback alone."""

import asyncio
import sys


async def pour(source, sink):
    try:
        while piece := await source.read(65536):
            sink.write(piece)
            await sink.drain()
    except OSError:
        pass
    finally:
        sink.close()


async def main(host, port, target_host, target_port):
    async def meet(reader, writer):
        try:
            there = await asyncio.open_connection(target_host, int(target_port))
        except OSError:
            writer.close()
            return
        await asyncio.gather(pour(reader, there[1]), pour(there[0], writer))

    server = await asyncio.start_server(meet, host, int(port))
    print(server.sockets[0].getsockname()[1], flush=True)

    def ended():
        if not sys.stdin.buffer.read(1):
            asyncio.get_running_loop().stop()

    asyncio.get_running_loop().add_reader(sys.stdin, ended)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main(*sys.argv[1:]))
    except RuntimeError:
        # The loop was stopped because the driver is gone.
        pass
