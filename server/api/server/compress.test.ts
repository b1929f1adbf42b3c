import { once } from 'node:events';
import { get, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { basic } from '../../testing/client.ts';
import { sharedPlatform } from '../../testing/platform.ts';

const { root, emulator } = lazily();

/** The platform starts after the tests are collected. */
function lazily() {
  const platform = sharedPlatform({ corsOrigins: ['https://app.example.com'] });
  return { root: () => platform.root, emulator: () => platform.emulator };
}

const LIST = '/meta/root/providers?expand=true';

async function ask(path: string, encodings?: string, method = 'GET') {
  const { apiKey, apiSecret = '' } = emulator().rootCredentials;
  const accepted = encodings !== undefined && { 'accept-encoding': encodings };
  const headers = { authorization: basic(apiKey, apiSecret), ...accepted };
  const outgoing = request(emulator().baseUrl + path, { method, headers }).end();
  const [response]: [IncomingMessage] = await once(outgoing, 'response').then(([argument]) => [argument]);
  return { headers: response.headers, body: await buffer(response) };
}

describe('a response of the control plane', () => {
  beforeAll(() => root().post('/root/providers/initialize'));

  it.each(['gzip, deflate', '*'])('over 1 kB is compressed with gzip for "Accept-Encoding: %s"', async (accepted) => {
    const plain = await ask(LIST);
    const { headers, body } = await ask(LIST, accepted);
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers['content-type']).toBe(plain.headers['content-type']);
    expect(Number(headers['content-length'] ?? body.length)).toBe(body.length);
    expect(body.length).toBeLessThan(plain.body.length);
    expect(gunzipSync(body)).toEqual(plain.body);
  });

  it.each([
    ['without Accept-Encoding', LIST, undefined],
    ['for a client that excludes it', LIST, 'gzip;q=0, identity'],
    ['for other encodings', LIST, 'br, zstd'],
    ['when it is small', '/meta/sync', 'gzip'],
  ])('is not compressed %s', async (_case, path, accepted) => {
    const { headers, body } = await ask(path, accepted);
    expect(headers['content-encoding']).toBeUndefined();
    expect(body).toEqual((await ask(path)).body);
  });

  it('to HEAD has the length of the plain body', async () => {
    const { headers, body } = await ask(LIST, 'gzip', 'HEAD');
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['content-length']).toBe(String((await ask(LIST)).body.length));
    expect(body.length).toBe(0);
    expect((await ask('/inspect/export', 'gzip', 'HEAD')).headers['content-encoding']).toBeUndefined();
  });

  it('names everything that it depends on', async () => {
    expect((await ask(LIST)).headers.vary).toBe('Accept-Encoding, Origin');
    expect((await ask('/inspect/export', 'gzip')).headers.vary).toBe('Accept-Encoding, Origin, Accept');
  });

  it('that is streamed is compressed as a whole', async () => {
    const { headers, body } = await ask('/inspect/export', 'gzip');
    expect(headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(body)).toEqual((await ask('/inspect/export')).body);
  });

  it('with live events is sent as it comes', async () => {
    const { apiKey, apiSecret = '' } = emulator().rootCredentials;
    const headers = { authorization: basic(apiKey, apiSecret), 'accept-encoding': 'gzip' };
    const outgoing = get(`${emulator().baseUrl}/inspect/events`, { headers });
    const [response] = await once(outgoing, 'response');
    const [first] = await once(response, 'data');
    expect(String(first)).toContain('retry:');
    expect(response.headers['content-encoding']).toBeUndefined();
    outgoing.destroy();
  });
});
