import { once } from 'node:events';
import { EngineRefusal, type ExecResult } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { OutputFrames } from './output.ts';

const TIME_LIMIT_MS = 30_000;
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
    const keptPiece = piece.subarray(0, Math.max(0, OUTPUT_LIMIT_BYTES - sizes[name]));
    isCut ||= keptPiece.length < piece.length;
    sizes[name] += keptPiece.length;
    // A copy: the piece is a window into a larger buffer.
    if (keptPiece.length > 0) output[name].push(Buffer.from(keptPiece));
  });
  stream.on('data', (chunk: Buffer) => frames.push(chunk));
  stream.on('error', () => {}); // of no matter once it has ended
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    await once(stream, 'end', { signal });
  } catch (failure) {
    if (!signal.aborted) throw connection.toEngineError(failure);
    stream.destroy();
    const limit = `${TIME_LIMIT_MS / 1000} s`;
    throw new EngineRefusal('fault', `the command did not end within ${limit}; it may still be running`);
  }
  const { ExitCode: exitCode } = await connection.ask(() => exec.inspect());
  const text = (name: 'stdout' | 'stderr') => Buffer.concat(output[name]).toString('utf8');
  return { exitCode: exitCode ?? -1, stdout: text('stdout'), stderr: text('stderr'), isCut };
}
