import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:http2';

/** A field of a message of Protocol Buffers, of less than 128 bytes. */
export const field = (number: number, data: string | Buffer) =>
  Buffer.concat([Buffer.from([(number << 3) | 2, Buffer.byteLength(data)]), Buffer.from(data)]);

/** Calls BuildKit as a client of Docker does; resolves to the status of gRPC and its message. */
export async function callBuildKit(socketPath: string, path: string, message: Buffer = Buffer.alloc(0)) {
  const headers = { Connection: 'Upgrade', Upgrade: 'h2c' };
  const upgrade = request({ socketPath, method: 'POST', path: '/grpc', headers, agent: false });
  upgrade.end();
  const [, socket, head] = await once(upgrade, 'upgrade');
  socket.unshift(head);
  const session = connect('http://engine.invalid', { createConnection: () => socket });
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([prefix, message]));
    let answer: Record<string, unknown> = {};
    for (const event of ['response', 'trailers'])
      stream.on(event, (received) => {
        answer = { ...answer, ...received };
      });
    stream.resume();
    await once(stream, 'close');
    return { status: answer['grpc-status'], message: decodeURIComponent(String(answer['grpc-message'] ?? '')) };
  } finally {
    session.destroy();
  }
}
