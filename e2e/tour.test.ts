import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { packageFile } from '../server/package-file.ts';

/** The tour, pasted as it stands into a shell beside the command that a user starts. */
const READY_TIMEOUT_MS = 60_000;

let folder: string;
let server: ReturnType<typeof spawn>;
let addresses: { baseUrl: string; gatewayUrl: string };

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-tour-'));
  const readyFile = path.join(folder, 'ready.json');
  const ports = ['--base-port', '0', '--gateway-port', '0', '--headless'];
  server = spawn(process.execPath, [packageFile('dist/server/cli.js'), 'start', ...ports, '--ready-file', readyFile], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await vi.waitFor(() => readFile(readyFile, 'utf8'), { timeout: READY_TIMEOUT_MS, interval: 50 });
  addresses = JSON.parse(await readFile(readyFile, 'utf8'));
});

afterAll(async () => {
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  await rm(folder, { recursive: true });
});

it('does in a minute what the tour says', async () => {
  const readme = await readFile(packageFile('docs/tour.md'), 'utf8');
  const blocks = [...readme.matchAll(/^```bash\n([\s\S]*?)^```/gm)].map(([, commands]) => commands);
  expect(blocks.length).toBeGreaterThan(3);
  const script = blocks
    .join('\n')
    .replaceAll('http://localhost:4700', addresses.baseUrl)
    .replaceAll('http://localhost:4701', addresses.gatewayUrl);
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], { cwd: folder });
  const [first, leads, broken, log, mended, laterLog, result] = stdout.trim().split('\n');
  expect(first).toBe('SUCCESS');
  expect(JSON.parse(leads ?? '')).toMatchObject([
    { mapped: { email: 'ada@example.com' }, source: { host: 'crm.example.com' } },
  ]);
  expect(broken).toBe('SUCCESS');
  expect(JSON.parse(log ?? '')).toEqual(['CRM answered 200', 'CRM answered 400']);
  expect(mended).toBe('SUCCESS');
  expect(JSON.parse(laterLog ?? '')).toEqual(['CRM answered 200', 'CRM answered 400', 'CRM answered 200']);
  const summary = JSON.parse(JSON.parse(result ?? '').result);
  expect(summary).toMatchObject({ orders: 2, regions: { north: { total: 12 }, south: { total: 30 } } });
});
