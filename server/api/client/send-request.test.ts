import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { lookUpSafely, requestText, sendRequest } from './send-request.ts';

/* Reads from servers that misbehave: each fails with a reason, within a limit of time or size. */

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => server.close());
  return (server.address() as AddressInfo).port; // it listens on TCP
}

/** Address of an HTTP server. */
async function serve(
  answer: (response: ServerResponse, path: string) => void,
  onConnection: (socket: Socket) => void = () => {},
): Promise<string> {
  const server = createServer((request, response) => answer(response, request.url ?? '')).on(
    'connection',
    onConnection,
  );
  ends.push(() => server.closeAllConnections());
  return `http://127.0.0.1:${await listen(server)}`;
}

const redirectTo = (location: string) => serve((response) => response.writeHead(302, { location }).end());

it('gives up a head that never ends', async () => {
  const server = createTcpServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x: y\r\n'), 5);
    socket.on('error', () => {}).on('close', () => clearInterval(timer));
  });
  const url = `http://127.0.0.1:${await listen(server)}/`;
  await expect(requestText(url, { limits: { headMs: 100 } })).rejects.toThrow(/^no response within 0.1 s$/);
});

it('gives up a server that accepts and never responds', async () => {
  const url = await serve(() => {});
  await expect(requestText(url, { limits: { headMs: 50 } })).rejects.toThrow(/^no response within 0.05 s$/);
});

it('gives up a body that never ends, and closes its connection', async () => {
  let closed = () => {};
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const dripForever = (response: ServerResponse) => {
    const timer = setInterval(() => response.write('x'), 5);
    response.on('close', () => clearInterval(timer));
  };
  const url = await serve(dripForever, (socket) => socket.once('close', closed));
  await expect(requestText(url, { limits: { totalMs: 200 } })).rejects.toThrow(
    /^the response is not complete after 0.2 s$/,
  );
  await isClosed;
});

it('gives up a body that is larger than allowed, and closes its connection', async () => {
  let sentBytes = 0;
  const block = Buffer.alloc(1_000_000);
  const url = await serve((response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(block)) sentBytes += block.length;
    };
    response.on('drain', more);
    more();
  });
  await expect(requestText(url, { limits: { bytes: 5_000_000 } })).rejects.toThrow(
    /^the response has more than 5 MB, which is the limit$/,
  );
  expect(sentBytes).toBeLessThan(100_000_000);
});

it('gives up a response that stops', async () => {
  const url = await serve((response) => response.write('half'));
  await expect(requestText(url, { limits: { silenceMs: 50 } })).rejects.toThrow(/^the response stopped for 0.05 s$/);
});

it('waits for a reader that is slower than the limit of silence', async () => {
  const body = 'x'.repeat(3_000_000);
  const url = await serve((response) => response.end(body));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const response = await sendRequest(url, { limits: { silenceMs: 700 } });
  let length = 0;
  for await (const chunk of response.body) {
    if (length === 0) {
      await expect.poll(() => response.body.readableLength).toBeGreaterThan(0);
      vi.advanceTimersByTime(2_000);
    }
    length += chunk.length;
  }
  expect(length).toBe(body.length);
});

it('says that a response is incomplete', async () => {
  const url = await serve((response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('half');
    setImmediate(() => response.destroy());
  });
  await expect(requestText(url, {})).rejects.toThrow(/^the response is missing or incomplete: aborted$/);
});

it.each([
  ['file:///etc/passwd', 'it redirects to file:///etc/passwd, and redirects to another scheme are not followed.'],
  ['https://example.com/', 'it redirects to https://example.com/, and redirects to another scheme are not followed.'],
  ['http://169.254.169.254/latest/', '169.254.169.254 is a link-local or metadata address'],
  ['http://[fe80::1]/', 'fe80::1 is a link-local or metadata address'],
  ['http://[::ffff:169.254.169.254]/', '::ffff:a9fe:a9fe is a link-local or metadata address'],
  ['http://2852039166/', '169.254.169.254 is a link-local or metadata address'],
  ['http://', "it redirects to 'http://', which is not a URL"],
])('does not follow a redirect to %s', async (location, reason) => {
  await expect(requestText(await redirectTo(location), { redirects: 5 })).rejects.toThrow(reason);
});

it('follows redirects up to a number, without credentials for another origin', async () => {
  const receivedCredentials: unknown[] = [];
  const server = createServer((request, response) => {
    receivedCredentials.push(request.headers.authorization);
    response.end('here');
  });
  const last = `http://127.0.0.1:${await listen(server)}/`;
  const first = await redirectTo(await redirectTo(last));
  const headers = { Authorization: 'Basic x' };
  expect(await requestText(first, { redirects: 5, headers })).toMatchObject({ status: 200, text: 'here' });
  expect(receivedCredentials).toEqual([undefined]);
  await expect(requestText(first, { redirects: 1 })).rejects.toThrow('it redirects too often');
  expect(await requestText(first, {})).toMatchObject({ status: 302 });
});

it.each([['http://169.254.169.254/'], ['http://[fd00:ec2::254]/'], ['http://100.100.100.200/']])(
  'does not ask %s',
  async (url) => {
    await expect(requestText(url, {})).rejects.toThrow('link-local or metadata address');
  },
);

it.each([[['169.254.169.254']], ['all' as const]])('asks a link-local address that %s names', async (linkLocal) => {
  // Canceled before anything is sent: there is such a server on some machines.
  const request = { linkLocal, signal: AbortSignal.abort() };
  await expect(requestText('http://169.254.169.254/', request)).rejects.toThrow('the request was canceled');
});

it('refuses a name with a link-local address, and resolves others', async () => {
  const resolved = (host: string) =>
    new Promise((resolve, reject) => {
      lookUpSafely(host, {}, (failure, address) => (failure ? reject(failure) : resolve(address)));
    });
  await expect(resolved('169.254.169.254')).rejects.toThrow('link-local or metadata address');
  expect(await resolved('127.0.0.1')).toBe('127.0.0.1');
});

it.each([['file:///etc/passwd'], ['ftp://example.com/']])('does not request %s', async (url) => {
  await expect(requestText(url, {})).rejects.toThrow('addresses cannot be requested');
});

it('ends with its signal, before and after the head', async () => {
  const url = await serve((response) => response.write('half'));
  await expect(requestText(url, { signal: AbortSignal.abort() })).rejects.toThrow('the request was canceled');
  const stop = new AbortController();
  const { body } = await sendRequest(url, { signal: stop.signal });
  stop.abort();
  await expect(body.toArray()).rejects.toThrow('the request was canceled');
});
