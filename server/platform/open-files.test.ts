import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { rootPairOf } from '../testing/account.ts';
import { send } from '../testing/client.ts';
import { startPlatform } from '../testing/platform.ts';

it.runIf(process.platform === 'linux')('requests that fail leave no file open', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-open-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const platform = await startPlatform({ data: join(folder, 'data'), records: { keep: 'memory' } });
  onTestFinished(() => platform.stop());
  const { baseUrl } = platform.emulator;
  const auth = rootPairOf(platform);
  const zip = { 'content-type': 'application/zip' };
  /** Files, not connections. */
  const openFiles = async () => {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    return links.filter((path) => path.includes('terrarium-')).sort();
  };
  const fail = async () => {
    const refused = [
      await send('POST', `${baseUrl}/inspect/archive`, { auth, headers: zip, body: 'no archive' }),
      await send('POST', `${baseUrl}/inspect/apply`, {
        auth,
        headers: { 'content-type': 'application/yaml' },
        body: '[',
      }),
      await send('GET', `${baseUrl}/inspect/snapshots/none/diff`, { auth }),
      await send('GET', `${baseUrl}/inspect/history/99999`, { auth }),
      await send('GET', `${baseUrl}/docs/none.js`, { auth }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 404, 404, 404]);
    // Clients that leave while an archive is sent or received.
    for (const head of ['POST /inspect/archive', 'GET /inspect/archive']) {
      const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1');
      await once(socket, 'connect');
      const body = head.startsWith('POST')
        ? 'Content-Length: 100000\r\nContent-Type: application/zip\r\n\r\nPK'
        : '\r\n';
      socket.write(`${head} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${auth}\r\n${body}`);
      await send('GET', `${baseUrl}/meta/health`);
      socket.destroy();
    }
  };
  await fail();
  await send('GET', `${baseUrl}/inspect/archive`, { auth });
  const before = await openFiles();
  for (let times = 0; times < 10; times += 1) await fail();
  await expect.poll(openFiles).toEqual(before);
});
