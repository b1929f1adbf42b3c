import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Entry, openPromise } from 'yauzl';
import { rootPairOf } from './account.ts';
import { type Reply, send } from './checked-client.ts';
import { type Platform, startPlatform } from './platform.ts';
import { createTenant, lambdaBody, type Tenant } from './tenant.ts';
import { zipOf } from './zip.ts';

/** A platform with resources of all kinds, and its archive. */
export interface ArchiveFixture {
  platform: Platform;
  acme: Tenant;
  /** Folder for files of a test. */
  folder: string;
  archive: Buffer;
  /** The files in the archive by name. */
  files: Record<string, string>;
  /** A ZIP archive of these files with a matching manifest. */
  zipWithManifest(changed: Record<string, string>): Buffer;
  end(): Promise<void>;
}

export const importInto = (target: Platform, body: Uint8Array): Promise<Reply> => {
  const headers = { 'Content-Type': 'application/zip' };
  return send('POST', `${target.emulator.baseUrl}/inspect/archive`, { auth: rootPairOf(target), body, headers });
};

export const seqOf = async (target: Platform): Promise<number> => {
  const url = `${target.emulator.baseUrl}/inspect/history?limit=1`;
  return (await send('GET', url, { auth: rootPairOf(target) })).body.commits[0].seq;
};

export async function exportFrom(target: Platform): Promise<Buffer> {
  const headers = { Authorization: rootPairOf(target) };
  const response = await fetch(`${target.emulator.baseUrl}/inspect/archive`, { headers });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip']);
  return Buffer.from(await response.arrayBuffer());
}

async function unzipped(zip: Buffer, path: string): Promise<Record<string, string>> {
  await writeFile(path, zip);
  const opened = await openPromise(path, { autoClose: false });
  const texts: Record<string, string> = {};
  const textOf = async (entry: Entry) => {
    let text = '';
    for await (const chunk of await opened.openReadStreamPromise(entry)) text += chunk;
    return text;
  };
  for await (const entry of opened.eachEntry()) texts[entry.fileName] = await textOf(entry);
  opened.close();
  return texts;
}

export async function archiveFixture(): Promise<ArchiveFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium archive '));
  const platform = await startPlatform();
  const { root, emulator } = platform;
  const acme = await createTenant(root, 'acme');
  await root.create('/root/users', { name: 'ada', properties: { password: 'sesame-1' } });
  const properties = { provider: { id: acme.docker }, items: [{ key: 'k', value: 'sesame-2' }] };
  await root.create(`${acme.environment}/secrets`, { name: 'keys', properties });
  const code = 'exports.run = (event, context, callback) => callback(null, "later");';
  const lambda = await root.create(`${acme.environment}/lambdas`, lambdaBody(acme, 'slow', { code }));
  const auth = rootPairOf(platform);
  const accepted = await send('POST', `${emulator.gatewayUrl}/api/async`, { auth, body: { lambdaId: lambda.id } });
  expect(accepted.status).toBe(200);
  await new Promise<void>((resolve, reject) => {
    const outgoing = https.request(`${emulator.crmUrl}/servlet/servlet.WebToLead?encoding=UTF-8`, {
      method: 'POST',
      rejectUnauthorized: false, // the certificate of the mock is self-signed
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    outgoing.once('response', (answer) => answer.resume().once('end', resolve)).once('error', reject);
    outgoing.end('oid=00D&email=ada%40example.com');
  });
  const archive = await exportFrom(platform);
  const files = await unzipped(archive, join(folder, 'read.zip'));
  return {
    platform,
    acme,
    folder,
    archive,
    files,
    zipWithManifest(changed) {
      const manifest = JSON.parse(files['manifest.json'] ?? '');
      for (const [name, text] of Object.entries(changed)) {
        const sha256 = createHash('sha256').update(text).digest('hex');
        manifest.files[name] = { sizeBytes: Buffer.byteLength(text), sha256 };
      }
      return zipOf({ ...files, ...changed, 'manifest.json': JSON.stringify(manifest) });
    },
    async end() {
      await platform.stop();
      await rm(folder, { recursive: true });
    },
  };
}
