import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { EngineRefusal, type Shell, type TerminalSize } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { execute } from './execute.ts';

/** The daemon does not end a shell when its viewer disconnects. So the shell first prints its process id, with which it can be ended. */
const COMMAND = 'echo $$; command -v bash >/dev/null 2>&1 && exec bash; exec sh';
const START_LIMIT_MS = 10_000;
/** Largest output before the process id; the engine's message about a shell that cannot start is shorter. */
const FIRST_LINE_BYTES = 4_096;
/** Time for a shell to end after SIGHUP; then it is killed. */
const HANG_UP_MS = 2_000;
const KILLED = 128 + 9;

/** Opens a shell in an instance: bash where the image has it, else sh. Throws EngineRefusal where it has none. */
export async function openShell(connection: DockerConnection, instanceId: string, size: TerminalSize): Promise<Shell> {
  const startOf = async () => {
    const found = await connection.ask((docker) => docker.getContainer(instanceId).inspect()).catch(() => undefined);
    return found?.State.Running ? found.State.StartedAt : undefined;
  };
  const startedAt = await startOf();
  const exec = await connection.ask((docker) =>
    docker.getContainer(instanceId).exec({
      Cmd: ['/bin/sh', '-c', COMMAND],
      Env: ['TERM=xterm-256color'],
      Tty: true,
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
    }),
  );
  const stream: Duplex = await connection
    .ask(() => exec.start({ hijack: true, stdin: true, Tty: true }))
    .catch(noShell);
  let hasEnded = false;
  stream.on('error', () => {}); // readers get its close event
  stream.once('end', () => {
    hasEnded = true;
  });
  const pid = await firstLine(stream);
  if (!/^\d+$/.test(pid)) {
    stream.destroy();
    throw noShell(new EngineRefusal('definition', pid));
  }
  const resize = async ({ columns, rows }: TerminalSize) => {
    await connection.ask(() => exec.resize({ w: columns, h: rows })).catch(() => undefined);
  };
  await resize(size);
  return {
    stream,
    resize,
    async ending() {
      const ended = await connection.ask(() => exec.inspect()).catch(() => undefined);
      const exitCode = ended?.ExitCode ?? undefined;
      // What was killed may have been so with all of its instance. A busy engine says for seconds that such a one runs, but runs nothing in it.
      const runsNothing =
        exitCode === KILLED &&
        (await execute(connection, instanceId, ['/bin/sh', '-c', ':']).then(
          ({ exitCode }) => exitCode !== 0,
          () => true,
        ));
      return { exitCode, isInstanceGone: runsNothing || (await startOf()) !== startedAt };
    },
    async end() {
      stream.resume(); // its end comes after the unread data
      for (const signal of ['HUP', 'KILL']) {
        if (hasEnded) break;
        const over = stream.destroyed ? Promise.resolve() : once(stream, 'end').catch(() => undefined);
        await execute(connection, instanceId, ['/bin/sh', '-c', `kill -${signal} ${pid}`]).catch(() => undefined);
        await Promise.race([over, pause(HANG_UP_MS, undefined, { ref: false })]);
      }
      stream.destroy();
    },
  };
}

async function firstLine(stream: Duplex): Promise<string> {
  let read = Buffer.alloc(0);
  const signal = AbortSignal.timeout(START_LIMIT_MS);
  while (!read.includes('\n') && read.length < FIRST_LINE_BYTES) {
    const chunk: Buffer | null = stream.read();
    if (chunk) read = Buffer.concat([read, chunk]);
    else if (stream.readableEnded || stream.destroyed || signal.aborted) break;
    else
      await Promise.race(['readable', 'end', 'close'].map((event) => once(stream, event, { signal }).catch(() => [])));
  }
  const end = read.indexOf('\n');
  if (end >= 0 && !stream.readableEnded) stream.unshift(read.subarray(end + 1));
  return read
    .subarray(0, end < 0 ? read.length : end)
    .toString('utf8')
    .trim();
}

/** Engines report a missing program in many ways; for any other error their own message is shown. */
function noShell(failure: unknown): never {
  const reason = String(Object(failure).message ?? '');
  const isMissing = /no such file|not found|executable|OCI/i.test(reason);
  if (!(failure instanceof EngineRefusal) || !(isMissing || reason === '')) throw failure;
  throw new EngineRefusal(
    'definition',
    'its image has no /bin/sh, so no shell can be opened. Build it from an image with a shell, such as busybox, alpine or debian.',
    { cause: failure },
  );
}
