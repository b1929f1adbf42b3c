/*
 * A small emulator in a process of its own, for tests that end it the hard way. Arguments: the bundled bootstrap and a
 * scratch folder. Starts a busy, an idle and a spare process and prints their numbers, and that of what they started, as JSON.
 */
import { LambdaService } from './lambda-service.ts';
import { inlineLambda, worldOf } from './lambda-world-for-tests.ts';

const [childFile = '', scratchDir = ''] = process.argv.slice(2);

const view = worldOf(
  inlineLambda('busy', 'exports.run = () => { console.log(process.pid); for (;;); }'),
  inlineLambda(
    'idle',
    `exports.run = () => [false, true].reduce((pids, detached) =>
      [...pids, require("child_process").spawn("sleep", ["600"], { stdio: "ignore", detached }).pid], [process.pid])`,
  ),
);

const service = new LambdaService({
  view,
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
