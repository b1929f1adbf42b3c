import { setTimeout as pause } from 'node:timers/promises';
import type { ExecResult } from '../engine.ts';
import { EngineRefusal } from '../engine-errors.ts';
import type { DockerConnection } from './docker-connection.ts';
import { OutputFrames } from './output.ts';

const TIME_LIMIT_MS = 30_000;
/** Of each of its two outputs. */
const OUTPUT_LIMIT_BYTES = 1024 * 1024;

/** Runs a command inside an instance. Throws EngineRefusal when it does not end in time, or cannot be run. */
export async function execute(
  connection: DockerConnection,
  instanceId: string,
  command: readonly string[],
): Promise<ExecResult> {
  const exec = await connection.ask((docker) =>
    docker.getContainer(instanceId).exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true }),
  );
  const stream = await connection.ask(() => exec.start({ hijack: false, stdin: false }));
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const sizes = { stdout: 0, stderr: 0 };
  let isCut = false;
  const frames = new OutputFrames((name, piece) => {
    const kept = piece.subarray(0, Math.max(0, OUTPUT_LIMIT_BYTES - sizes[name]));
    isCut ||= kept.length < piece.length;
    sizes[name] += kept.length;
    // A copy: the piece is a window into a larger buffer.
    if (kept.length > 0) output[name].push(Buffer.from(kept));
  });
  stream.on('data', (chunk: Buffer) => frames.push(chunk));
  const end = new Promise<'ended'>((resolve, reject) => {
    stream.once('end', () => resolve('ended'));
    stream.once('error', (failure) => reject(connection.toEngineError(failure)));
  });
  const over = new AbortController();
  const late = pause(TIME_LIMIT_MS, 'late' as const, { signal: over.signal }).catch(() => 'late' as const);
  const outcome = await Promise.race([end, late]);
  over.abort();
  if (outcome === 'late') {
    stream.destroy();
    throw new EngineRefusal(
      'fault',
      `the command did not end within ${TIME_LIMIT_MS / 1000} s; it may still be running`,
    );
  }
  const { ExitCode: exitCode } = await connection.ask(() => exec.inspect());
  const text = (name: 'stdout' | 'stderr') => Buffer.concat(output[name]).toString('utf8');
  return { exitCode: exitCode ?? -1, stdout: text('stdout'), stderr: text('stderr'), isCut };
}
