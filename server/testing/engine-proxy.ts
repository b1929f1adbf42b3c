import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { connectForTests } from './engine.ts';
import { freePort } from './free-port.ts';

/** Pause between two bytes of a slow response: even the shortest one takes longer than the limit of any call. */
const DRIP_MS = 500;

/**
 * A proxy to the engine that tests can close or block: for its clients the engine disappears or hangs in the middle of any request. Other
 * clients of the engine are not affected.
 */
export interface EngineProxy {
  /** `unix://...` or `tcp://...` */
  url: string;
  /** Lets requests through again, including waiting ones. */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Accepts connections but forwards nothing, like a daemon that was stopped (SIGSTOP). */
  hang(): void;
  /** Forwards responses one byte at a time. */
  drip(): void;
  /** Cuts the next response after this number of bytes: it ends early, or the connection is reset (tcp). */
  breakNext(how: 'cut' | 'reset', afterBytes: number): void;
  /** Delays the engine's response to the next request that contains this text until it is released. */
  holdNext(requestText: string): HeldResponse;
  /** Closes it permanently. */
  remove(): Promise<void>;
}

export interface HeldResponse {
  /** Resolves when the request has arrived. */
  requested: Promise<void>;
  release(): void;
}

/** The handling of the engine's responses by the proxy. */
class ProxyFaults {
  mode: 'pass' | 'hang' | 'drip' = 'pass';
  nextBreak: { how: 'cut' | 'reset'; afterBytes: number } | undefined;
  nextHeld: { requestText: string; onRequest(): void; released: Promise<void> } | undefined;
  readonly #heldResponses: (() => void)[] = [];

  setMode(mode: ProxyFaults['mode']): void {
    this.mode = mode;
    if (mode === 'pass') for (const go of this.#heldResponses.splice(0)) go();
  }

  async #waitWhileHanging(): Promise<void> {
    if (this.mode === 'hang') await new Promise<void>((resolve) => this.#heldResponses.push(resolve));
  }

  requestFilter(connection: { responseRelease?: Promise<void> }): Transform {
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (this.nextHeld && chunk.includes(this.nextHeld.requestText)) {
          connection.responseRelease = this.nextHeld.released;
          this.nextHeld.onRequest();
          this.nextHeld = undefined;
        }
        this.#waitWhileHanging().then(() => done(null, chunk));
      },
    });
  }

  responseFilter(client: Socket, connection: { responseRelease?: Promise<void> }): Transform {
    const pass = async (chunk: Buffer, out: Transform) => {
      await this.#waitWhileHanging();
      await connection.responseRelease;
      const { nextBreak } = this;
      if (nextBreak) {
        this.nextBreak = undefined;
        client.write(chunk.subarray(0, nextBreak.afterBytes));
        if (nextBreak.how === 'reset') client.resetAndDestroy();
        else client.destroySoon();
        return;
      }
      for (let at = 0; at < chunk.length; at++) {
        if (this.mode === 'pass' || client.destroyed) return void out.push(chunk.subarray(at));
        out.push(chunk.subarray(at, at + 1));
        await pause(DRIP_MS);
      }
    };
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        void pass(chunk, this).then(() => done());
      },
    });
  }
}

/** @param kind how it listens; only a tcp connection can be reset */
export async function makeEngineProxy(kind: 'socket' | 'tcp' = 'socket'): Promise<EngineProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'tdoor-'));
  const path = join(folder, 'docker.sock');
  const { transport } = connectForTests().address;
  // The docker command closes its sending side and continues to read.
  const allowHalfOpen = true;
  const connectToEngine = () => {
    if (transport.kind === 'socket') return connect({ path: transport.path, allowHalfOpen });
    if (transport.kind === 'tcp') return connect({ port: transport.port, host: transport.host, allowHalfOpen });
    throw new Error('tests connect to the engine by its socket or by tcp');
  };
  const faults = new ProxyFaults();
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const port = kind === 'tcp' ? await freePort() : 0;
  const close = async () => {
    faults.setMode('pass');
    const open = server;
    server = undefined;
    if (!open) return;
    const closed = once(open, 'close');
    open.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: kind === 'tcp' ? `tcp://127.0.0.1:${port}` : `unix://${path}`,
    async open() {
      faults.setMode('pass');
      if (server) return;
      server = createServer({ allowHalfOpen }, (socket) => {
        const engine = connectToEngine();
        for (const [side, other] of [
          [socket, engine],
          [engine, socket],
        ] as const) {
          sockets.add(side);
          side.on('error', () => other.destroy());
          side.on('close', () => {
            sockets.delete(side);
            other.destroy();
          });
        }
        const connection = {};
        socket.pipe(faults.requestFilter(connection)).pipe(engine);
        engine.pipe(faults.responseFilter(socket, connection)).pipe(socket);
      });
      if (kind === 'tcp') server.listen(port, '127.0.0.1');
      else server.listen(path);
      await once(server, 'listening');
    },
    hang: () => faults.setMode('hang'),
    drip: () => faults.setMode('drip'),
    breakNext(how, afterBytes) {
      faults.nextBreak = { how, afterBytes };
    },
    holdNext(requestText) {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const requested = new Promise<void>((onRequest) => {
        faults.nextHeld = { requestText, onRequest, released };
      });
      return { requested, release };
    },
    close,
    async remove() {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
