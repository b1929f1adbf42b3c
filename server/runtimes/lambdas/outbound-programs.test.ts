import { spawnSync } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../mocks/certificate.ts';
import { EXECUTION_HEADER } from '../../model/execution-header.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/* Programs that a lambda starts reach the network by a proxy, where the rules apply (D-217). */

/** More than the buffers of a connection hold. */
const LARGE_SIZE = 16_000_000;

const servers: (Server | TcpServer)[] = [];
let host: string;
let secureHost: string;
let service: TestLambdaService;
let blocking: TestLambdaService;

async function listen(server: Server | TcpServer): Promise<AddressInfo> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  return server.address() as AddressInfo;
}

beforeAll(async () => {
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.setHeader('X-Sent', String(request.headers['x-sent']));
      response.end(`${request.method} ${request.url} ${Buffer.concat(parts)}`);
    });
  };
  const changeProtocol = ({ url }: IncomingMessage, socket: Duplex): void => {
    const large = `200 OK\r\nConnection: close\r\n\r\n${'a'.repeat(LARGE_SIZE)}`;
    const changed = '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
    socket.end(`HTTP/1.1 ${url === '/large' ? large : changed}`);
  };
  host = `127.0.0.1:${(await listen(createServer(serve).on('upgrade', changeProtocol))).port}`;
  const { certPem: cert, keyPem: key } = await makeCertificate(Date.now());
  const secureServer = createTlsServer({ cert, key }, serve).on('upgrade', changeProtocol);
  secureHost = `127.0.0.1:${(await listen(secureServer)).port}`;
  const crm = await listen(
    createServer((request, response) => response.end(`mock CRM of ${request.headers[EXECUTION_HEADER]}`)),
  );
  const crmAddress = () => ({ host: '127.0.0.1', port: crm.port });
  const mail = await listen(createTcpServer((socket) => socket.end('220 mock\r\n421 closing\r\n')));
  const mailRoute = { ports: [25, 465], address: { host: '127.0.0.1', port: mail.port }, mock: 'mail' as const };
  service = await TestLambdaService.start({ outbound: { crm: 'catch', crmAddress, portRoutes: () => [mailRoute] } });
  blocking = await TestLambdaService.start({ outbound: { crm: 'catch', crmAddress, default: 'block' } });
});
afterAll(async () => {
  await Promise.all([service.stop(), blocking.stop()]);
  for (const server of servers) {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  }
});
beforeEach(() => service.setOutboundRules());

/** A lambda that runs a program, whose arguments are the JSON of the event; its result is the exit code and the output. */
const RUN = `const { spawnSync } = require('child_process');
  exports.run = (event) => {
    const [program, ...args] = JSON.parse(event);
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
    return status + ' ' + stdout + stderr;
  }`;

/** The start of a program in Python that opens a tunnel. */
const TUNNEL_CLIENT = `
import base64, os, socket, ssl, struct, time, urllib.parse
proxy = urllib.parse.urlsplit(os.environ['HTTPS_PROXY'])
tunnel = socket.create_connection((proxy.hostname, proxy.port))
password = base64.b64encode(f'{proxy.username}:{proxy.password}'.encode()).decode()
tunnel.sendall(f'CONNECT api.example:443 HTTP/1.1\\r\\nProxy-Authorization: Basic {password}\\r\\n\\r\\n'.encode())
tunnel.recv(1000)`;

/** Reads certificates for a second before it starts TLS in its tunnel. */
const SLOW_CLIENT = `${TUNNEL_CLIENT}
time.sleep(1)
client = ssl.create_default_context().wrap_socket(tunnel, server_hostname='api.example')
client.sendall(b'GET / HTTP/1.1\\r\\nHost: api.example\\r\\nConnection: close\\r\\n\\r\\n')
print(b''.join(iter(lambda: client.recv(1000), b'')).decode())`;

/** Closes the connection at a certificate that it does not trust, without a word, as wget with GnuTLS does. */
const QUIET_CLIENT = `${TUNNEL_CLIENT}
received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
try:
  ssl.create_default_context().wrap_bio(received, sent, server_hostname='api.example').do_handshake()
except ssl.SSLWantReadError:
  tunnel.sendall(sent.read())
tunnel.recv(1)
tunnel.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
tunnel.close()`;

const run = (command: readonly string[], env: Record<string, string> = {}, lambdas = service) =>
  lambdas.run(RUN, { env }, JSON.stringify(command));
const curl = (...args: string[]) => ['curl', '-sS', ...args];

describe('the calls of a program', () => {
  it('are recorded with their bodies, and reach their host as they were sent', async () => {
    const invocation = await run(curl('-i', '-d', 'a=1', '-H', 'X-Sent: yes', `http://${host}/form?x=%2F`));
    expect(resultOf(invocation)).toMatch(/^0 HTTP\/1\.1 200 OK[\s\S]*X-Sent: yes[\s\S]*POST \/form\?x=%2F a=1$/);
    expect(invocation.outbound).toMatchObject([
      { method: 'POST', url: `http://${host}/form?x=%2F`, status: 200, request: { sizeBytes: 3 } },
    ]);
    expect(invocation.logs).toEqual([]);
  });

  it.each(['http', 'https'])('by %s follow the rules for their host', async (protocol) => {
    await service.setOutboundRules({ host: 'api.example', action: 'answer', status: 201, body: 'own' });
    const invocation = await run(curl('-w', ' %{http_code}', `${protocol}://api.example/x`));
    expect(resultOf(invocation)).toBe('0 own 201');
    expect(invocation.outbound).toMatchObject([
      {
        method: 'GET',
        url: `${protocol}://api.example/x`,
        status: 201,
        rules: [{ text: 'answer with 201 for api.example' }],
      },
    ]);
  });

  it('for the CRM go to its mock', async () => {
    const form = curl('-d', 'oid=1&last_name=a', 'https://crm.example/servlet/servlet.WebToLead');
    const id = service.lambda(RUN, { env: { CRM_API_BASEPATH: 'crm.example' } });
    // The proxy is the same for both.
    for (let count = 0; count < 2; count += 1) {
      const invocation = await service.invoke(id, JSON.stringify(form));
      expect(resultOf(invocation)).toBe(`0 mock CRM of ${invocation.executionId}`);
      expect(invocation.outbound).toMatchObject([{ method: 'POST', caughtBy: 'crm', status: 200 }]);
      expect(invocation.logs).toEqual([]);
    }
  });

  it('of git, which sends its password only when it is required, follow the rules', async () => {
    await service.setOutboundRules({ host: 'git.example', action: 'answer', status: 404 });
    const invocation = await run(['git', 'ls-remote', 'https://git.example/shop.git']);
    expect(resultOf(invocation)).toMatch(/^128 [\s\S]*not found/);
    expect(invocation.outbound).toMatchObject([
      { url: expect.stringMatching(/^https:\/\/git\.example\/shop\.git/), status: 404 },
    ]);
  });

  it('fail when the policy blocks them, and the response names the rule that allows them', async () => {
    const invocation = await run(curl('-w', '%{http_code}', 'https://api.example/'), {}, blocking);
    expect(resultOf(invocation)).toMatch(/^0 connect ECONNREFUSED api\.example:443 \(.*"action": "pass".*\)\n403$/);
    expect(invocation.outbound).toMatchObject([{ url: 'https://api.example/', blocked: true }]);
    expect(invocation.logs).toEqual([]);
  });

  it('get no response when a rule resets the connection', async () => {
    await service.setOutboundRules({ host: 'api.example', action: 'fail', error: 'ECONNRESET' });
    expect(resultOf(await run(curl('http://api.example/')))).toMatch(/^52 .*Empty reply/);
  });

  it('are recorded once each when a shell starts Node as well', async () => {
    const fetching = `node -e "fetch('http://${host}/by-node')"`;
    const { outbound } = await run(['sh', '-c', `curl -sS http://${host}/by-curl && ${fetching}`]);
    expect(outbound.map(({ url }) => url)).toEqual([`http://${host}/by-curl`, `http://${host}/by-node`]);
  });

  it('without HTTP are recorded as connections', async () => {
    const invocation = await run(['sh', '-c', `echo x | curl -sS telnet://db.example:5432; true`], {}, blocking);
    expect(invocation.outbound).toMatchObject([{ url: 'tcp://db.example:5432', blocked: true }]);
  });

  it.each([
    ['smtp://mail.example:25', 'tcp://mail.example:25'],
    ['smtps://mail.example:465', 'tls://mail.example:465'],
  ])('to a mail server by %s go to the mock mail server', async (server, url) => {
    const mail = await run(curl(server, '--mail-from', 'a@b.example', '--mail-rcpt', 'c@d.example'));
    expect(mail.outbound).toMatchObject([{ url, caughtBy: 'mail' }]);
  });

  it.each([
    ['ws', () => `http://${host}/socket`],
    ['wss', () => `https://${secureHost}/socket`],
  ])('by %s change the protocol, and are recorded with status 101', async (_protocol, url) => {
    const headers = ['Connection: Upgrade', 'Upgrade: echo'].flatMap((header) => ['-H', header]);
    const invocation = await run(curl('-p', '-i', ...headers, url()), { NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect(resultOf(invocation)).toMatch(
      /HTTP\/1\.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n/,
    );
    expect(invocation.outbound).toMatchObject([{ method: 'GET', url: url(), status: 101 }]);
    expect(invocation.outbound[0]?.error).toBeUndefined();
  });

  it('that ask for another protocol in vain have the whole response', async () => {
    const headers = ['Connection: Upgrade', 'Upgrade: echo'].flatMap((header) => ['-H', header]);
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const large = await run(
      curl(...headers, '-o', '/dev/null', '-w', '%{size_download}', `https://${secureHost}/large`),
      env,
    );
    expect(resultOf(large)).toBe(`0 ${LARGE_SIZE}`);
    const withBody = await run(curl(...headers, '-d', 'a', '-w', '%{http_code}', `https://${secureHost}/`), env);
    expect(resultOf(withBody)).toContain('501');
  });

  it('of Python follow the rules', async ({ skip }) => {
    skip(spawnSync('python3', ['-c', '']).status !== 0, 'python3 is not installed');
    await service.setOutboundRules({ host: 'api.example', action: 'answer', body: 'own' });
    const code = `import urllib.request; print(urllib.request.urlopen('https://api.example/').read().decode())`;
    expect(resultOf(await run(['python3', '-c', code]))).toBe('0 own\n');
  });

  it('follow the rules also if a program takes a while to start its TLS', async ({ skip }) => {
    skip(spawnSync('python3', ['-c', '']).status !== 0, 'python3 is not installed');
    await service.setOutboundRules({ host: 'api.example', action: 'answer', body: 'own' });
    expect(resultOf(await run(['python3', '-c', SLOW_CLIENT]))).toMatch(/^0 HTTP\/1\.1 200 OK[\s\S]*\nown\r?\n/);
  });
});

it('a program that does not accept the certificate of the proxy sends nothing, and its record says why', async () => {
  const distrusting = ['env', '-u', 'CURL_CA_BUNDLE', '-u', 'SSL_CERT_FILE', ...curl('https://api.example/')];
  const invocation = await run(distrusting);
  expect(resultOf(invocation)).toMatch(/^60 /);
  await expect
    .poll(() => invocation.outbound)
    .toMatchObject([{ method: 'TLS', url: 'tls://api.example:443', error: expect.stringContaining('HTTPS_PROXY') }]);
});

it('a program that expects another certificate closes the connection, and its record says why', async () => {
  const invocation = await run(
    curl('--pinnedpubkey', `sha256//${Buffer.alloc(32).toString('base64')}`, 'https://api.example/'),
  );
  expect(resultOf(invocation)).toMatch(/^90 /);
  await expect
    .poll(() => invocation.outbound)
    .toMatchObject([{ method: 'TLS', url: 'tls://api.example:443', error: expect.stringContaining('HTTPS_PROXY') }]);
});

it('a program that closes the connection at the certificate of the proxy has the reason in its record', async ({
  skip,
}) => {
  skip(spawnSync('python3', ['-c', '']).status !== 0, 'python3 is not installed');
  const invocation = await run(['python3', '-c', QUIET_CLIENT]);
  await expect
    .poll(() => invocation.outbound)
    .toMatchObject([{ url: 'tls://api.example:443', error: expect.stringContaining('HTTPS_PROXY') }]);
});

it("a lambda's own proxy variable leaves its programs alone", async () => {
  const invocation = await run(curl(`http://${host}/`), { HTTPS_PROXY: '' });
  expect(resultOf(invocation)).toBe('0 GET / ');
  expect(invocation.outbound).toEqual([]);
});

it('the proxy serves only who has its password', async () => {
  const proxy = resultOf(await run(['sh', '-c', 'echo $HTTP_PROXY']))
    .slice(2)
    .trim();
  const status = (address: string) =>
    spawnSync('curl', [
      '-sS',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      '-x',
      address,
      `http://${host}/`,
    ]).stdout.toString();
  expect(proxy).toMatch(/^http:\/\/[\w-]+:\w+@127\.0\.0\.1:\d+$/);
  expect(status(proxy.replace(/:\w+@/, ':wrong@'))).toBe('407');
  expect(status(proxy.replace(/\/\/.*@/, '//'))).toBe('407');
});

it('a NO_PROXY of the lambda, which is for another proxy, does not let calls past the rules', async () => {
  await service.setOutboundRules({ host: 'api.example', action: 'answer', body: 'own' });
  for (const name of ['NO_PROXY', 'no_proxy']) {
    const invocation = await run(curl('http://api.example/'), { [name]: 'api.example' });
    expect(resultOf(invocation)).toBe('0 own');
  }
});

it.each([
  [['echo', 'hello']],
  [['curl', '--noproxy', '*', 'http://127.0.0.1:1/']],
  [['git', 'ls-remote', 'ssh://127.0.0.1:1/x']],
  [['git', 'ls-remote', 'git@127.0.0.1:x']],
])('a program that may ignore the proxy is named in the log if all calls are blocked: %j', async (command) => {
  const invocation = await run(command, { GIT_SSH_COMMAND: 'false' }, blocking);
  expect(invocation.logs.map(({ text }) => text)).toContain(
    `[terrarium] a program was started whose calls are not recorded and follow no outbound rule, unless it uses the variable HTTP_PROXY: ${command.join(' ')}`,
  );
});
