// Memory of the shipped server while many clients stall uploads or do not read responses, and after their connections have closed.
// Ends with an error if the server does not respond afterward.
//
//   node bench/run.mjs floods
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Line } from './speed/goals.ts';
import { type Benchmark, runBench } from './speed/harness.ts';
import { memoryMb } from './speed/memory.ts';

const CLIENTS = 200;
const MIB = 1024 * 1024;
const UPLOAD_BYTES = 10 * MIB;
const RESPONSE_BYTES = 8 * MIB;
/** 256 MB of one listener, and the rest of the process: copies, garbage, and buffers of connections. */
const MAX_FLOODED_MB = 506;
/** Recorded bodies take up to 32 MB, and the system's allocator keeps some pages. */
const MAX_REMAINING_MB = 220;
/** A flood has ended when no connection has made progress for this number of looks. */
const IDLE_LOOKS = 10;
const LOOK_INTERVAL_MS = 100;
const MAX_LOOKS_AFTERWARD = 300;

function upload(socket: Socket, path: string): void {
  const type = 'application/x-www-form-urlencoded';
  socket.resume();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${UPLOAD_BYTES}\r\n\r\n`,
  );
  socket.write(Buffer.alloc(UPLOAD_BYTES - 1024, 'a'));
}

async function openConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}); // it may be closed while it sends
  await once(socket, 'connect');
  return socket;
}

async function main(benchmark: Benchmark): Promise<Line[]> {
  const platform = await benchmark.platform();
  const code = `exports.run = (event, context, callback) => callback(null, 'x'.repeat(${RESPONSE_BYTES}));`;
  const { path } = await platform.publish({ code });
  const floods: [name: string, port: number, begin: (socket: Socket) => void][] = [
    ['stalled uploads to the control plane', platform.port, (socket) => upload(socket, '/security/root/oauth/issue')],
    ['stalled uploads to the gateway', platform.gatewayPort, (socket) => upload(socket, path)],
    [
      'responses that are not read',
      platform.gatewayPort,
      (socket) => void socket.pause().write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    ],
  ];
  const measureMb = () => memoryMb(platform.child.pid) ?? Number.NaN;
  const startMb = measureMb();
  const lines: Line[] = [];
  for (const [name, port, begin] of floods) {
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => openConnection(port)));
    for (const socket of sockets) begin(socket);
    let peakMb = 0;
    for (let state = '', idleLooks = 0; idleLooks < IDLE_LOOKS; await wait(LOOK_INTERVAL_MS)) {
      peakMb = Math.max(peakMb, measureMb());
      const now = sockets.map((socket) => `${socket.bytesWritten - socket.writableLength},${socket.destroyed}`).join();
      idleLooks = now === state ? idleLooks + 1 : 0;
      state = now;
    }
    for (const socket of sockets) socket.destroy();
    let afterMb = measureMb();
    for (let looks = 0; looks < MAX_LOOKS_AFTERWARD && afterMb - startMb > MAX_REMAINING_MB; looks += 1) {
      await platform.ask('GET', '/meta/health'); // garbage is only collected when there is activity
      await wait(LOOK_INTERVAL_MS);
      afterMb = measureMb();
    }
    await platform.ask('GET', '/meta/health');
    lines.push({ label: `${name}: at most`, measured: peakMb - startMb, unit: 'MB', goal: { atMost: MAX_FLOODED_MB } });
    lines.push({
      label: `${name}: afterward`,
      measured: afterMb - startMb,
      unit: 'MB',
      goal: { atMost: MAX_REMAINING_MB },
    });
  }
  return lines;
}

await runBench(main);
