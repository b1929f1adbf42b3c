/*
 * A small platform in a separate process. Arguments: the bundled bootstrap and a scratch folder. Starts a busy, an idle and a spare process
 * and prints their ids and the ids of their children as JSON, for tests that kill it. With `stop` as the third argument it invokes a lambda
 * that leaves an orphan behind, prints the id of the orphan, and stops.
 */
import { LambdaService } from '../runtimes/lambdas/lambda-service.ts';
import { WorldIndex } from '../storage/world/world-index.ts';
import { record, smallWorld } from './small-world.ts';

const [childFile = '', scratchDir = '', task = ''] = process.argv.slice(2);

/**
 * The orphan has a separate session, no environment that identifies it and a parent that has ended. It keeps the outputs of the lambda's
 * process open.
 */
const ORPHAN = `exports.run = () => new Promise((resolve) => {
  const script = 'sleep 600 5>&- & echo $! >&5';
  const stdio = ['ignore', 1, 2, 3, 4, 'pipe'];
  const parent = require('child_process').spawn('env', ['-i', 'sh', '-c', script], { stdio, detached: true });
  let pid;
  parent.stdio[5].on('data', (text) => { pid = Number(text); });
  parent.once('close', () => resolve([pid]));
})`;

const inlineLambda = (id: string, code: string) =>
  record('lambdas', id, {
    id,
    properties: { runtime: 'nodejs', code_type: 'inline', code, handler: 'run', timeout: 60 },
  });

const view = WorldIndex.indexOf([
  ...Object.values(smallWorld().resources),
  // What it starts can be known by its parent only.
  inlineLambda(
    'busy',
    `exports.run = () => {
      const child = require("child_process").spawn("sleep", ["600"], { stdio: "ignore", detached: true, env: {} });
      child.once('spawn', () => {
        console.log(JSON.stringify([process.pid, child.pid]));
        setImmediate(() => { for (;;); });
      });
      return new Promise(() => {});
    }`,
  ),
  inlineLambda(
    'idle',
    `exports.run = () => [false, true].reduce((pids, detached) =>
      [...pids, require("child_process").spawn("sleep", ["600"], { stdio: "ignore", detached }).pid], [process.pid])`,
  ),
  inlineLambda('orphan', ORPHAN),
]);

const service = new LambdaService({
  view,
  addresses: () => ({ metaUrl: '', securityUrl: '', gatewayUrl: '' }),
  nowMs: Date.now,
  childFile,
  scratchDir,
  outbound: { crm: 'pass', crmAddress: () => undefined },
  onLog: (_lambdaId, { text }) => {
    process.stdout.write(`${JSON.stringify([...idle, ...JSON.parse(text)])}\n`);
  },
});

async function call(id: string): Promise<Uint8Array> {
  const context = { method: 'GET', path: '', params: {}, headers: {}, creds: '', user: null, httpAware: false };
  const { outcome } = await service.invoke(id, { executionId: id, trigger: 'manual', body: new Uint8Array(), context });
  return 'bytes' in outcome.value ? outcome.value.bytes : new Uint8Array();
}

await service.start();
const idle: number[] = JSON.parse(Buffer.from(await call(task === 'stop' ? 'orphan' : 'idle')).toString());
if (task === 'stop') {
  process.stdout.write(`${JSON.stringify(idle)}\n`);
  await service.stop();
} else void call('busy');
