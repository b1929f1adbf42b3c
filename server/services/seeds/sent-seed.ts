import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { parseJson } from '../../api/server/read-body.ts';
import { PlatformError, type PlatformStatus } from '../../model/errors.ts';
import { unpackedFile } from '../../system/package-file.ts';
import { readSentSeed } from './read-seed.ts';
import { sentSeedDocument } from './seed-document.ts';
import { SeedError } from './seed-error.ts';
import type { Seed, SeedNode } from './seed-node.ts';
import type { TextFormat } from './seed-text.ts';
import { parseSeedDocument, type SeedDocument } from './seed-yaml.ts';

/** A longer document is read in another thread, because reading YAML takes up to a second for each megabyte. */
const LONG_CHARS = 64 * 1024;
const THREAD_FILE = 'dist/server/seed-thread.js';

const SENT = 'seed';

export interface SentSeed {
  format: TextFormat;
  text: string;
}

/** What the thread gets: a document to read, or the pointer to a part of it whose line is wanted. */
export interface ThreadTask extends SentSeed {
  pointer?: string;
}

export interface FlatNode extends Omit<SeedNode, 'parent' | 'path' | 'children'> {
  /** Position of the parent among all nodes; -1 for the root. */
  parent: number;
  /** The last name of its path; its `name` can be another. */
  key: string;
}

/** What the thread sends: nodes, a part at a time, then the rest; or why it refuses the document; or the line. */
export type ThreadMessage =
  | { nodes: FlatNode[] }
  | { defaultProviders: boolean; scope: number[] }
  | { fault: { line: number | undefined; pointer: string; reason: string } }
  | { refusal: { status: PlatformStatus; message: string } }
  | { line: number | undefined };

export function documentOf({ format, text }: SentSeed): SeedDocument {
  return format === 'yaml' ? parseSeedDocument(SENT, text) : sentSeedDocument(SENT, parseJson(text));
}

export async function readSent(sent: SentSeed): Promise<Seed> {
  if (sent.text.length <= LONG_CHARS) return readSentSeed(documentOf(sent));
  const nodes: SeedNode[] = [];
  for await (const message of inThread(sent)) {
    if ('nodes' in message) for (const flat of message.nodes) nodes.push(linked(flat, nodes));
    if ('scope' in message) {
      const [root] = nodes;
      if (!root) break;
      const scope = message.scope.flatMap((at) => nodes[at] ?? []);
      const { errorAt } = sentSeedDocument(SENT, undefined);
      return { root, scope, defaultProviders: message.defaultProviders, errorAt };
    }
  }
  throw new Error('the thread that reads seed documents ended before the document did');
}

/** The error with its line in the document: finding the line in a long document takes as long as reading it. */
export async function withLine(error: SeedError, sent: SentSeed): Promise<SeedError> {
  const { file, line, pointer, reason, cause } = error;
  if (line !== undefined || sent.format === 'json' || sent.text.length <= LONG_CHARS) return error;
  for await (const message of inThread({ ...sent, pointer })) {
    if ('line' in message) return new SeedError({ file, line: message.line, pointer }, reason, cause);
  }
  return error;
}

function linked({ parent: at, key, ...own }: FlatNode, before: readonly SeedNode[]): SeedNode {
  const parent = before[at] ?? null;
  const node: SeedNode = { ...own, parent, path: parent ? [...parent.path, own.word, key] : [], children: [] };
  parent?.children.push(node);
  return node;
}

/** The results of the thread for a document. Each message is handled in a separate turn of the event loop. */
async function* inThread(task: ThreadTask): AsyncGenerator<ThreadMessage> {
  const worker = new Worker(unpackedFile(THREAD_FILE), { workerData: task, execArgv: [] });
  const failed = new Promise<never>((_resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread that reads seed documents ended')));
  });
  failed.catch(() => undefined);
  try {
    for (;;) {
      const [message]: ThreadMessage[] = await Promise.race([once(worker, 'message'), failed]);
      if (!message) return;
      if ('fault' in message) throw new SeedError({ file: SENT, ...message.fault }, message.fault.reason);
      if ('refusal' in message) throw new PlatformError(message.refusal.status, message.refusal.message);
      yield message;
      worker.postMessage('next');
    }
  } finally {
    await worker.terminate();
  }
}
