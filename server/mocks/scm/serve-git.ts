import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gitEnvironment } from '../../system/git.ts';
import { startProgram } from '../../system/programs.ts';
import { GIT_ENVIRONMENT } from './scm-repositories.ts';

/** Maximum size of the headers of a git-http-backend response; they are short. */
const MAX_HEAD_BYTES = 64 * 1024;

/** A branch or tag that a push has changed. */
export interface PushedRef {
  before: string;
  after: string;
  /** `refs/heads/main` */
  ref: string;
}

export interface Push {
  refs: PushedRef[];
  options: string[];
}

/**
 * Responds by `git http-backend`. Calls back with what a push has changed before the response ends, and shows the lines that this resolves
 * to. Rejects if git cannot be started.
 */
export async function serveGit(
  req: IncomingMessage,
  res: ServerResponse,
  { dir, path, user, onPush }: { dir: string; path: string; user: string; onPush(push: Push): Promise<string[]> },
): Promise<void> {
  const report = join(dir, `push-${randomUUID()}`);
  const { searchParams } = new URL(req.url ?? '', 'http://git.invalid');
  const header = (name: string) => req.headers[name]?.toString() ?? '';
  const child = startProgram('git', ['http-backend'], {
    env: gitEnvironment({
      ...GIT_ENVIRONMENT,
      GIT_PROJECT_ROOT: dir,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: path,
      REQUEST_METHOD: req.method ?? 'GET',
      QUERY_STRING: searchParams.toString(),
      CONTENT_TYPE: header('content-type'),
      ...(header('content-length') && { CONTENT_LENGTH: header('content-length') }),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol'),
      REMOTE_USER: user,
      TERRARIUM_PUSH: report,
    }),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  // A client that disconnects ends its git process.
  res.once('close', () => child.kill());
  child.stdin.on('error', () => undefined);
  req.pipe(child.stdin);
  const answer = answerWith(child.stdout, res, path.endsWith('/git-receive-pack'));
  try {
    await ended;
    const lines = (await readFile(report, 'utf8').catch(() => '')).split('\n');
    const refs = lines.flatMap((line) => {
      const [, before, after, ref] = /^([\da-f]{40}) ([\da-f]{40}) (refs\/(?:heads|tags)\/.+)$/.exec(line) ?? [];
      return before && after && ref && before !== after ? [{ before, after, ref }] : [];
    });
    const options = lines.flatMap((line) => /^option (.*)$/.exec(line)?.[1] ?? []);
    if (refs.length > 0) answer.show(await onPush({ refs, options }));
  } finally {
    await rm(report, { force: true });
    if (!res.headersSent) res.writeHead(500);
    answer.end();
  }
}

/** The last packet of a response to a push. */
const FLUSH = '0000';
/** Position of the stream number in a packet, if streams are multiplexed; a user sees stream 2. */
const STREAM_AT = 4;

/** Passes on the output of a CGI program: headers, an empty line, the body. */
function answerWith(output: NodeJS.ReadableStream, res: ServerResponse, isPush: boolean) {
  let head: Buffer | undefined = Buffer.alloc(0);
  let hasStreams: boolean | undefined;
  /** The end of the response to a push, which is sent last. */
  let lastBytes: Buffer = Buffer.alloc(0);
  output.on('data', (chunk: Buffer) => {
    let body = chunk;
    if (head) {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0 && head.length < MAX_HEAD_BYTES) return;
      for (const line of head.subarray(0, end).toString('latin1').split('\r\n')) {
        const [, name = '', value = ''] = /^([\w-]+): *(.*)$/.exec(line) ?? [];
        if (name.toLowerCase() === 'status') res.statusCode = Number.parseInt(value, 10);
        else if (name) res.setHeader(name, value);
      }
      body = head.subarray(end + 4);
      head = undefined;
    }
    if (isPush) {
      const all = Buffer.concat([lastBytes, body]);
      if (all.length > STREAM_AT) hasStreams ??= all[STREAM_AT] === 1 || all[STREAM_AT] === 2;
      lastBytes = all.subarray(-FLUSH.length);
      body = all.subarray(0, -FLUSH.length);
    }
    if (!res.write(body)) {
      output.pause();
      res.once('drain', () => output.resume());
    }
  });
  return {
    show(lines: readonly string[]): void {
      if (lines.length === 0 || !hasStreams || lastBytes.toString() !== FLUSH) return;
      const text = Buffer.from(`\u0002\n${lines.join('\n')}\n\n`);
      res.write((text.length + STREAM_AT).toString(16).padStart(STREAM_AT, '0'));
      res.write(text);
    },
    end: () => void res.end(lastBytes),
  };
}
