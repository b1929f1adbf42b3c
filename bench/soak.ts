// Uses one data folder as in a working week, in several lives of the platform that end cleanly or are killed. At the start of each life,
// checks that everything acknowledged is there. Prints what grows, for each life and per 1,000 operations. Exits
// with 1 when something acknowledged is missing, a response is a fault, or a figure grows that has a bound.
//
//   npm run soak -- --minutes 30 [--nights 2]
//
// In the middle of as many lives as there are nights, the wall clock moves ahead as if the machine had slept (needs faketime).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printTable } from './speed/goals.ts';
import { CLI } from './speed/harness.ts';
import { ownProcessorMs, usageOf } from './speed/memory.ts';
import { AUTHORIZATION, Terrarium } from './speed/terrarium.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '2' }, nights: { type: 'string', default: '0' } },
});
const [minutes, nights] = [Number(values.minutes), Number(values.nights)];
if (!(minutes > 0)) throw new Error(`--minutes must be a number above 0, not '${values.minutes}'`);
if (!(nights >= 0)) throw new Error(`--nights must be a number of at least 0, not '${values.nights}'`);
if (nights > 0 && spawnSync('sh', ['-c', 'command -v faketime']).status !== 0)
  throw new Error('--nights needs faketime. Install it.');

const LIFE_MS = Math.min(5 * 60_000, (minutes * 60_000) / 4);
const ENDINGS = ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGKILL'] as const;
const ANSWER_LIMIT_MS = 60_000;
/** A developer pauses, too; without pauses, a week of operations passes in minutes. */
const PAUSE_MS = 20;
/** Growth from the first to the last life that has an explanation. */
const ALLOWED = [
  { figure: 'megabytes', allowed: 80 },
  { figure: 'descriptors', allowed: 20 },
  { figure: 'processes', allowed: 5 },
  { figure: 'startMs', allowed: 1_500 },
] as const;

const folder = mkdtempSync(join(tmpdir(), 'terrarium-soak-'));
const data = join(folder, 'data');
const NIGHT_S = 10 * 60 * 60;
const clockFile = join(folder, 'clock');
const clockEnv = {
  LD_PRELOAD: '/usr/$LIB/faketime/libfaketimeMT.so.1',
  FAKETIME_TIMESTAMP_FILE: clockFile,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
};
const setNights = (count: number) => writeFileSync(clockFile, `+${count * NIGHT_S}\n`);
setNights(0);
const ledger = { organizations: new Set<string>(), leads: new Set<string>(), variable: 0 };
const counts = { operations: 0, lost: 0, faults: 0 };

interface Life {
  operations: number;
  /** Processor time until it is ready: by the clock, a busy machine would make it longer. */
  startMs: number;
  megabytes: number;
  descriptors: number;
  processes: number;
  folderMegabytes: number;
  files: number;
}

type Operation = (server: Terrarium, number: number) => Promise<void>;

/** Undefined without a response. A fault is a 5xx other than a 503 with its reason. */
async function send(
  url: string,
  method = 'GET',
  content?: unknown,
): Promise<{ status: number; text: string } | undefined> {
  counts.operations += 1;
  try {
    const body = content === undefined ? undefined : JSON.stringify(content);
    const headers = { Authorization: AUTHORIZATION, 'Content-Type': 'application/json' };
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const response = await fetch(url, { method, headers, signal, ...(body !== undefined && { body }) });
    if (response.status >= 500 && response.status !== 503) {
      counts.faults += 1;
      console.log(`${method} ${url}: ${response.status} ${await response.text()}`);
      return undefined;
    }
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}

let lambdaUrl = '';
const CODE = Buffer.from('exports.run = (event, context, done) => done(null, process.env.NUMBER);').toString('base64');

const operations: readonly Operation[] = [
  async ({ baseUrl }, number) => {
    const name = `organization-${number}`;
    const created = await send(`${baseUrl}/meta/root`, 'POST', { name });
    if (created?.status !== 201) return;
    ledger.organizations.add(name);
    const { id } = JSON.parse(created.text);
    const patch = [{ op: 'replace', path: '/description', value: `changed ${number}` }];
    await send(`${baseUrl}/meta/${name}`, 'PATCH', patch);
    if (number % 3 === 0) return;
    ledger.organizations.delete(name);
    await send(`${baseUrl}/meta/${name}?force=true&id=${id}`, 'DELETE');
  },
  async ({ baseUrl, gatewayUrl }, number) => {
    const patch = [{ op: 'replace', path: '/properties/env/NUMBER', value: String(number) }];
    const edited = await send(`${baseUrl}${lambdaUrl}`, 'PATCH', patch);
    if (edited?.status === 200) ledger.variable = number;
    await send(`${gatewayUrl}/website/orders/1001`);
  },
  async ({ gatewayUrl }, number) => {
    const email = `person-${number}@example.com`;
    const answer = await send(`${gatewayUrl}/website/lead`, 'POST', { payload: { firstName: 'Ada', email } });
    if (answer?.text.includes('SUCCESS')) ledger.leads.add(email);
  },
  async ({ gatewayUrl }) => void (await send(`${gatewayUrl}/api/async`, 'POST', { payload: { orders: [] } })),
  async ({ baseUrl }) => {
    for (const path of ['history?limit=20', 'failures', 'invocations', 'traffic', 'leads'])
      await send(`${baseUrl}/inspect/${path}`);
  },
  async ({ baseUrl }, number) => {
    if (number % 20 > 0) return;
    await send(`${baseUrl}/inspect/snapshots`, 'POST', { name: `snapshot-${number}` });
    await send(`${baseUrl}/inspect/snapshots/snapshot-${number}`, 'DELETE');
  },
];

/** Counts what the ledger has and the platform has not. */
async function check({ baseUrl }: Terrarium): Promise<void> {
  const list = async (path: string) => JSON.parse((await send(`${baseUrl}${path}`))?.text ?? '[]');
  const names = new Set((await list('/meta/orgs')).map(({ name }: { name: string }) => name));
  const emails = new Set(
    (await list('/inspect/leads')).map((lead: { mapped: { email: string } }) => lead.mapped.email),
  );
  const { properties } = JSON.parse((await send(`${baseUrl}${lambdaUrl}`))?.text ?? '{}');
  const missing = [
    ...[...ledger.organizations].filter((name) => !names.has(name)),
    // The mock CRM keeps the newest 10,000.
    ...[...ledger.leads].slice(-10_000).filter((email) => !emails.has(email)),
    ...(Number(properties.env.NUMBER) < ledger.variable ? [`edit ${ledger.variable}`] : []),
  ];
  counts.lost += missing.length;
  if (missing.length > 0) console.log(`lost: ${missing.slice(0, 10).join(', ')}`);
}

function sizeOfData(): Pick<Life, 'folderMegabytes' | 'files'> {
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.map((file) => statSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0);
  return { folderMegabytes: Math.round(bytes.reduce((sum, size) => sum + size, 0) / 1024 ** 2), files: files.length };
}

async function live(index: number): Promise<Life> {
  const server = await Terrarium.start(CLI, folder, { data, seed: 'demo', ...(nights > 0 && { env: clockEnv }) });
  const startMs = ownProcessorMs(server.child.pid);
  if (lambdaUrl === '') {
    const { id } = await server.publish({ code: CODE, env: { NUMBER: '0' } });
    lambdaUrl = `/meta/root/lambdas/${id}`;
  }
  await check(server);
  const countBefore = counts.operations;
  const night = setTimeout(() => setNights(Math.min(nights, index + 1)), LIFE_MS / 2);
  const untilMs = performance.now() + LIFE_MS;
  const workers = operations.map(async (operation) => {
    for (let number = countBefore; performance.now() < untilMs; number++) {
      await operation(server, number);
      await wait(PAUSE_MS);
    }
  });
  await Promise.all(workers);
  clearTimeout(night);
  const usage = usageOf(server.child.pid) ?? { megabytes: 0, descriptors: 0, processes: 0 };
  await server.end(ENDINGS[index % ENDINGS.length]);
  return { operations: counts.operations - countBefore, startMs, ...usage, ...sizeOfData() };
}

const lives: Life[] = [];
const untilMs = performance.now() + minutes * 60_000;
while (performance.now() < untilMs) lives.push(await live(lives.length));
const last = await Terrarium.start(CLI, folder, { data });
await check(last);
await last.end();
rmSync(folder, { recursive: true });

const figures = ['operations', 'startMs', 'megabytes', 'descriptors', 'processes', 'folderMegabytes', 'files'] as const;
const growthOf = (figure: keyof Life) => (lives.at(-1)?.[figure] ?? 0) - (lives[0]?.[figure] ?? 0);
const perThousand = (growth: number) => ((1_000 * growth) / Math.max(1, counts.operations)).toFixed(2);
printTable(
  ['life', ...figures],
  [
    ...lives.map((life, number) => [String(number + 1), ...figures.map((figure) => String(life[figure]))]),
    ['growth per 1,000 operations', '', ...figures.slice(1).map((figure) => perThousand(growthOf(figure)))],
  ],
);
for (const { figure, allowed } of ALLOWED) {
  if (growthOf(figure) <= allowed) continue;
  process.exitCode = 1;
  console.log(`${figure} grew by ${growthOf(figure)}, more than ${allowed}`);
}
console.log(`${counts.operations} operations, ${counts.lost} lost, ${counts.faults} faults`);
if (counts.lost + counts.faults > 0) process.exitCode = 1;
