import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectForTests } from './engine-for-tests.ts';

/**
 * A door to the engine that tests can shut: to whoever came through it, the engine has gone, in the middle of whatever it was doing.
 * The engine itself goes on, so that nobody else notices.
 */
export interface EngineDoor {
  /** `unix://...` */
  url: string;
  open(): Promise<void>;
  shut(): Promise<void>;
  /** Shuts it for good. */
  remove(): Promise<void>;
}

export async function makeEngineDoor(): Promise<EngineDoor> {
  const folder = await mkdtemp(join(tmpdir(), 'tdoor-'));
  const path = join(folder, 'docker.sock');
  const { transport } = connectForTests().address;
  const reach = () => {
    if (transport.kind === 'socket') return connect(transport.path);
    if (transport.kind === 'tcp') return connect(transport.port, transport.host);
    throw new Error('tests reach the engine by its socket or by tcp');
  };
  const passing = new Set<Socket>();
  let server: Server | undefined;
  const shut = async () => {
    const open = server;
    server = undefined;
    if (!open) return;
    const closed = once(open, 'close');
    open.close();
    for (const socket of passing) socket.destroy();
    await closed;
  };
  return {
    url: `unix://${path}`,
    async open() {
      server = createServer((socket) => {
        const engine = reach();
        for (const [one, other] of [
          [socket, engine],
          [engine, socket],
        ] as const) {
          passing.add(one);
          one.on('error', () => other.destroy());
          one.on('close', () => {
            passing.delete(one);
            other.destroy();
          });
        }
        socket.pipe(engine).pipe(socket);
      });
      server.listen(path);
      await once(server, 'listening');
    },
    shut,
    async remove() {
      await shut();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
