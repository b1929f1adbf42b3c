import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LazyCertificate } from './lazy-certificate.ts';

let dir: string;
const warnings: string[] = [];
const options = () => ({
  dir,
  nowMs: Date.now,
  warn: (message: string) => void warnings.push(message),
  check: () => {},
});

beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'terrarium-certificate-'));
  warnings.length = 0;
});
afterEach(() => rm(dir, { recursive: true, force: true }));

it('makes one when it is asked for, once, and keeps it', async () => {
  const first = new LazyCertificate(options());
  await first.open();
  expect(await readdir(dir)).toEqual([]);
  const certificate = await first.get();
  expect(await first.get()).toBe(certificate);
  await first.stop();
  const next = new LazyCertificate(options());
  await next.open();
  expect(await next.get()).toEqual(certificate);
  expect(warnings).toEqual([]);
});

it('makes one a moment after the start, unasked', async () => {
  const certificate = new LazyCertificate(options());
  await certificate.open();
  certificate.makeSoon();
  await expect.poll(() => readdir(dir), { timeout: 30_000 }).toEqual(['crm-certificate.pem']);
  await certificate.stop();
});

it('writes nothing once it has stopped', async () => {
  const certificate = new LazyCertificate(options());
  await certificate.open();
  const request = certificate.get();
  await certificate.stop();
  await request;
  expect(await readdir(dir)).toEqual([]);
});

it('is good without being kept, and says so', async () => {
  const certificate = new LazyCertificate({
    ...options(),
    check: () => {
      throw new Error('the folder is another one');
    },
  });
  await certificate.open();
  expect((await certificate.get()).certPem).toMatch(/^-----BEGIN CERTIFICATE-----/);
  expect(warnings).toEqual([
    'the certificate of the mock CRM cannot be saved, so the next start creates another one: the folder is another one',
  ]);
  expect(await readdir(dir)).toEqual([]);
});
