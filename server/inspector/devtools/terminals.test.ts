import { once } from 'node:events';
import { createServer } from 'node:http';
import { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { closeWithin, listenAt } from '../../api/server/listening.ts';
import { responseToHandshake } from '../../api/server/upgrades.ts';
import { PlatformError, toPlatformError } from '../../model/errors.ts';
import { TERMINAL_PROTOCOL } from '../../model/terminal-protocol.ts';
import type { Shell } from '../../runtimes/containers/engine.ts';
import { Terminals } from './terminals.ts';

/** A shell that prints without end. */
class EndlessShell implements Shell {
  printedBytes = 0;
  readonly stream = new Duplex({
    read: () => {
      const chunk = Buffer.alloc(64 * 1024, 'x');
      this.printedBytes += chunk.length;
      this.stream.push(chunk);
    },
    write: (_typed, _encoding, done) => done(),
  });
  resize = async () => {};
  ending = () => new Promise<never>(() => {});
  end = async () => void this.stream.destroy();
}

/** Terminals behind a listener; the user is named by the path. */
async function openTerminals() {
  const shells: EndlessShell[] = [];
  const faults: unknown[] = [];
  let isAllowed = true;
  const terminals = new Terminals((fault) => faults.push(fault));
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    // As: TCP, no other Duplex.
    const response = responseToHandshake(request, { socket: socket as import('node:net').Socket, head });
    const openShell = async () => {
      const shell = new EndlessShell();
      shells.push(shell);
      return shell;
    };
    const size = { columns: 80, rows: 24 };
    const userId = request.url?.slice(1) ?? '';
    const requirePermission = () => {
      if (!isAllowed) throw new PlatformError('forbidden', 'revoked');
    };
    terminals.open(request, { userId, size, openShell, requirePermission }).catch((failure: unknown) => {
      const { status, message } = toPlatformError(failure);
      response.writeHead(status).end(message);
    });
  });
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    await terminals.stop();
    await closeWithin(server, 0);
    expect(faults).toEqual([]);
  });
  const revoke = () => {
    isAllowed = false;
  };
  const open = async (userId: string) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/${userId}`, [TERMINAL_PROTOCOL]);
    onTestFinished(() => socket.terminate());
    socket.on('error', () => {});
    const refused = once(socket, 'unexpected-response').then(([, answer]) => {
      throw Object.assign(new Error('refused'), { status: answer.statusCode });
    });
    await Promise.race([once(socket, 'open'), refused]);
    return socket;
  };
  return { open, shells, revoke };
}

describe('terminals', () => {
  it('end their shells with their viewers, and with the permission', async () => {
    const { open, shells, revoke } = await openTerminals();
    const hasEnded = (at: number) => shells[at]?.stream.destroyed;
    const leaving = await open('ada');
    await once(leaving, 'message');
    leaving.terminate();
    await expect.poll(() => hasEnded(0)).toBe(true);
    const typing = await open('ada');
    await once(typing, 'message');
    expect(hasEnded(1)).toBe(false);
    revoke();
    typing.send(Buffer.from('x'));
    expect((await once(typing, 'close'))[0]).toBe(1008);
    await expect.poll(() => hasEnded(1)).toBe(true);
  });

  it('of one user are at most four, so that none can take all ten', async () => {
    const { open } = await openTerminals();
    for (const user of ['ann', 'bob']) {
      for (let count = 0; count < 4; count += 1) await open(user);
      await expect(open(user)).rejects.toMatchObject({ status: 429 });
    }
    await open('eve');
    await open('eve');
    await expect(open('eve')).rejects.toMatchObject({ status: 429 });
  });

  it('keep little in memory for a viewer that reports everything as shown and reads nothing', async () => {
    const { open, shells } = await openTerminals();
    const socket = await open('ann');
    socket.pause();
    let before = -1;
    // Until nothing more is printed: the buffers of the connection are full.
    for (let printed = 0; printed > before; printed = shells[0]?.printedBytes ?? 0) {
      before = printed;
      for (let times = 0; times < 20; times += 1) {
        socket.send(JSON.stringify({ shown: 2 ** 40 }));
        await wait(10);
      }
      expect(printed).toBeLessThan(64 * 1024 * 1024);
    }
    socket.resume();
    await expect.poll(() => shells[0]?.printedBytes).toBeGreaterThan(before);
  });
});
