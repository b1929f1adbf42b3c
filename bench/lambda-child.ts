// What it costs to read along what lambdas send (server/lambdas/child/wire-tap.ts): a process from fork to its first answer, a warm call,
// and a warm call that makes one of its own to a server on this machine. The child is bundled twice, with the tap and with one that
// reads nothing; both take short turns in one run.
//
//   node bench/run.mjs lambda-child          [ROUNDS, 21 unless said]
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LambdaService } from '../server/lambdas/lambda-service.ts';
import { inlineLambda, worldOf } from '../server/lambdas/lambda-world-for-tests.ts';
import { packageFile } from '../server/package-file.ts';

const ROUNDS = Number(process.argv[2] ?? 21);
const FORKS = 2;
const WARM_CALLS = 200;
const SENDING_CALLS = 100;

const SENDING = `const http = require('http'); const agent = new http.Agent({ keepAlive: true });
  exports.run = () => new Promise((ok, no) => http.request(process.env.THERE, { method: 'POST', agent },
    (r) => { let t = ''; r.on('data', (d) => { t += d }).on('end', () => ok(t.length)) }).on('error', no).end('x'.repeat(1000)))`;

/** Bundles the child; without the tap it reads nothing of what goes over connections. */
async function childFile(folder: string, hasTap: boolean): Promise<string> {
  const outFile = join(folder, hasTap ? 'with.cjs' : 'without.cjs');
  const { buildChild } = await import(/* @vite-ignore */ pathToFileURL(packageFile('scripts/build-child.mjs')).href);
  const without = {
    name: 'without-tap',
    load: (id: string) => (id.endsWith('/wire-tap.ts') ? 'export function tapWire() {}' : null),
  };
  await buildChild({ outFile, plugins: hasTap ? [] : [without] });
  return outFile;
}

class Variant {
  readonly times: Record<string, number[]> = {
    'fork to first answer': [],
    'warm call': [],
    'warm call that sends': [],
  };
  readonly #service: LambdaService;

  constructor(file: string, scratchDir: string, there: string) {
    this.#service = new LambdaService({
      view: worldOf(
        inlineLambda('fresh', 'exports.run = () => 1', { isolate: true }),
        inlineLambda('warm', 'exports.run = () => 1'),
        inlineLambda('sending', SENDING, { env: { THERE: there } }),
      ),
      addresses: () => ({ metaUrl: '', securityUrl: '', gatewayUrl: '' }),
      nowMs: Date.now,
      childFile: file,
      scratchDir,
      limits: { spares: 0 },
      outbound: { crm: 'catch', crmAddress: () => undefined },
    });
  }

  start = (): Promise<void> => this.#service.start();
  stop = (): Promise<void> => this.#service.stop();

  async round(): Promise<void> {
    await this.#time('fork to first answer', 'fresh', FORKS);
    await this.#time('warm call', 'warm', WARM_CALLS);
    await this.#time('warm call that sends', 'sending', SENDING_CALLS);
  }

  async #time(what: string, id: string, calls: number): Promise<void> {
    const from = performance.now();
    for (let n = 0; n < calls; n += 1) await this.#call(id, `${what} ${n}`);
    this.times[what]?.push((performance.now() - from) / calls);
  }

  async #call(id: string, executionId: string): Promise<void> {
    const context = { method: 'GET', path: '', params: {}, headers: {}, creds: '', user: null, httpAware: false };
    const call = { executionId, trigger: 'manual' as const, body: new Uint8Array(), context };
    const { outcome } = await this.#service.invoke(id, call);
    if (!outcome.ok) throw new Error(outcome.message);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'terrarium-bench-'));
const server = createServer((request, response) => request.resume().on('end', () => response.end('y'.repeat(1_000))));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
// As: a listening TCP server has such an address.
const there = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const make = async (hasTap: boolean) =>
  new Variant(await childFile(folder, hasTap), join(folder, String(hasTap)), there);
const variants = { without: await make(false), with: await make(true) };
try {
  for (const variant of Object.values(variants)) await variant.start();
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const turns = round % 2 === 0 ? [variants.without, variants.with] : [variants.with, variants.without];
    for (const variant of turns) await variant.round();
  }
  for (const what of Object.keys(variants.with.times)) {
    const [without, tapped] = [variants.without, variants.with].map(({ times }) => (times[what] ?? []).slice(1));
    const ratios = (tapped ?? []).map((ms, at) => ms / (without?.[at] ?? ms));
    console.log(
      `${what.padEnd(22)} without ${median(without).toFixed(3)} ms   with ${median(tapped).toFixed(3)} ms   median of the pairs' ratios ${median(ratios).toFixed(3)}`,
    );
  }
} finally {
  for (const variant of Object.values(variants)) await variant.stop();
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}

function median(values: readonly number[] = []): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
