/*
 * A small emulator in a process of its own, for tests that end it the hard way. Arguments: the bundled bootstrap and a
 * scratch folder. Starts a busy, an idle and a spare process and prints their numbers, and that of what they started, as JSON.
 */
import type { StoredResource } from '../model/record.ts';
import { LambdaService } from './lambda-service.ts';

const [childFile = '', scratchDir = ''] = process.argv.slice(2);
const at = new Date(0).toISOString();

function lambda(id: string, code: string): StoredResource {
  const properties = { runtime: 'nodejs', code_type: 'inline', code, handler: 'run', timeout: 60 };
  const by = { by: 'root', at };
  const modified = { action: 'create' as const, ...by };
  const rest = { parent: null, state: 'Active' as const, owner: 'root', created: by, modified, properties };
  return { id, type: 'Resource::Node::Lambda', name: id, ...rest };
}

const world = new Map(
  [
    lambda('busy', 'exports.run = () => { console.log(process.pid); for (;;); }'),
    lambda(
      'idle',
      `exports.run = () => [false, true].reduce((pids, detached) =>
        [...pids, require("child_process").spawn("sleep", ["600"], { stdio: "ignore", detached }).pid], [process.pid])`,
    ),
  ].map((record) => [record.id, record]),
);
const none = (): never[] => [];

const service = new LambdaService({
  view: {
    root: lambda('root', ''),
    find: (id) => world.get(id),
    all: none,
    children: none,
    ownedBy: none,
    named: none,
    referrers: none,
  },
  addresses: () => ({ metaUrl: '', securityUrl: '', gatewayUrl: '' }),
  nowMs: Date.now,
  childFile,
  scratchDir,
  outbound: { crm: 'pass', crmAddress: () => undefined },
  onLog: (_lambdaId, { text }) => {
    process.stdout.write(`${JSON.stringify([...idle, Number(text)])}\n`);
  },
});

async function call(id: string): Promise<Uint8Array> {
  const context = { method: 'GET', path: '', params: {}, headers: {}, creds: '', user: null, httpAware: false };
  const { outcome } = await service.invoke(id, { executionId: id, trigger: 'manual', body: new Uint8Array(), context });
  return 'bytes' in outcome.value ? outcome.value.bytes : new Uint8Array();
}

await service.start();
const idle: number[] = JSON.parse(Buffer.from(await call('idle')).toString());
void call('busy');
