import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LazyCertificate, makeCertificate } from './certificate.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW_MS = Date.UTC(2026, 0, 15);

describe('the certificate of the mocks', () => {
  let dir: string;
  let warnings: string[];

  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'terrarium-certificate-'));
    warnings = [];
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const load = async (nowMs = NOW_MS) => {
    const warn = (message: string) => warnings.push(message);
    const certificate = new LazyCertificate({ dir, check: () => {}, nowMs: () => nowMs, warn });
    await certificate.open();
    return certificate.get();
  };
  const theFile = async () => path.join(dir, String((await readdir(dir))[0]));

  it('names every way to reach this machine', async () => {
    const certificate = new X509Certificate((await load()).certPem);
    expect(certificate.checkHost('localhost')).toBe('localhost');
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.checkIP('::1')).toBe('::1');
    expect(certificate.checkHost('crm.example.com')).toBeUndefined();
  });

  it('is made once and kept for its owner alone', async () => {
    const first = await load();
    expect(await load(NOW_MS + 300 * DAY_MS)).toEqual(first);
    expect(await readdir(dir)).toHaveLength(1);
    expect((await stat(await theFile())).mode & 0o777).toBe(0o600);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['ends within 30 days', 340],
    ['has ended', 400],
    ['is not valid yet, because the clock went back', -3],
  ])('is renewed silently when it %s', async (_case, days) => {
    const first = await load();
    const second = await load(NOW_MS + days * DAY_MS);
    expect(second).not.toEqual(first);
    expect(await load(NOW_MS + days * DAY_MS)).toEqual(second);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['empty', () => ''],
    ['cut off', (text: string) => text.slice(0, text.length / 2)],
    ['no certificate', () => 'hello'],
    [
      'with a damaged certificate',
      (text: string) => text.replace(/CERTIFICATE-----\n...../, 'CERTIFICATE-----\nAAAAA'),
    ],
  ])('is replaced with a warning when its file is %s', async (_case, damage) => {
    const first = await load();
    await writeFile(await theFile(), damage(await readFile(await theFile(), 'utf8')));
    const second = await load();
    expect(second).not.toEqual(first);
    expect(warnings).toEqual([expect.stringContaining(await theFile())]);
    expect(await load()).toEqual(second);
  });

  it('is replaced with a warning when its key belongs to another one', async () => {
    const stranger = await makeCertificate(NOW_MS);
    const first = await load();
    await writeFile(await theFile(), `${first.certPem}\n${stranger.keyPem}\n`);
    expect((await load()).certPem).not.toBe(first.certPem);
    expect(warnings).toHaveLength(1);
  });

  it('says which file it cannot read, and what to do', async () => {
    await load();
    const file = await theFile();
    await rm(file);
    await mkdir(file);
    await expect(load()).rejects.toMatchObject({ name: 'StoreError', path: file });
  });
});

describe('the certificate of the mocks, on use', () => {
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
});
