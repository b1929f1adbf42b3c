// The thread that reads long seed documents, so that they do not delay requests.
import { once } from 'node:events';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { PlatformError } from '../../model/errors.ts';
import { segmentsOf } from '../../model/patch/pointer.ts';
import { readSentSeed } from './read-seed.ts';
import { SeedError } from './seed-error.ts';
import { descendants, type SeedNode } from './seed-node.ts';
import { documentOf, type FlatNode, type ThreadMessage, type ThreadTask } from './sent-seed.ts';

/** Number of items that the platform reads in one turn of the event loop. */
const NODES_PER_MESSAGE = 200;

async function read(port: MessagePort, task: ThreadTask): Promise<void> {
  const send = (message: ThreadMessage) => port.postMessage(message);
  const document = documentOf(task);
  if (task.pointer !== undefined) {
    send({ line: document.errorAt(segmentsOf(task.pointer), '').line });
    return;
  }
  const { root, scope, defaultProviders } = await readSentSeed(document);
  const positions = new Map<SeedNode, number>();
  let nodes: FlatNode[] = [];
  const sendNodes = async () => {
    send({ nodes });
    nodes = [];
    await once(port, 'message');
  };
  for (const node of [root, ...descendants(root)]) {
    const { parent, path, children: _, ...own } = node;
    nodes.push({ ...own, parent: parent ? (positions.get(parent) ?? 0) : -1, key: path.at(-1) ?? '' });
    positions.set(node, positions.size);
    if (nodes.length === NODES_PER_MESSAGE) await sendNodes();
  }
  await sendNodes();
  send({ defaultProviders, scope: scope.flatMap((node) => positions.get(node) ?? []) });
}

function messageOf(error: unknown): ThreadMessage {
  if (error instanceof SeedError) {
    const { line, pointer, reason } = error;
    return { fault: { line, pointer, reason } };
  }
  if (error instanceof PlatformError) return { refusal: { status: error.status, message: error.message } };
  throw error;
}

const port = parentPort;
if (port) {
  // Keeps the thread alive until the platform ends it, because the last message of a thread that exits can be lost.
  port.on('message', () => undefined);
  read(port, workerData).catch((error) => port.postMessage(messageOf(error)));
}
