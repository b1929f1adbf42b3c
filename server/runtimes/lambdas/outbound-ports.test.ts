import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '../../mocks/certificate.ts';
import { resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

/* A mock that greets first, as SMTP servers do, and starts TLS on request. */

const receivedLines: string[] = [];
let mock: Server;
let service: TestLambdaService;

beforeAll(async () => {
  const { certPem: cert, keyPem: key } = await makeCertificate(Date.now());
  const secureContext = createSecureContext({ cert, key });
  const serve = (socket: Socket): void => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const line = String(bytes);
      receivedLines.push(line);
      socket.write(`got ${line}`);
      if (line !== 'STARTTLS') return;
      socket.removeAllListeners('data');
      serve(new TLSSocket(socket, { isServer: true, secureContext }));
    });
  };
  mock = createServer((socket) => {
    socket.write('220 mock');
    serve(socket);
  });
  await new Promise<void>((resolve) => mock.listen(0, '127.0.0.1', resolve));
  // As: a listening TCP server has such an address.
  const { port } = mock.address() as AddressInfo;
  const portRoutes = [{ ports: [25, 2525], address: { host: '127.0.0.1', port, caPem: cert }, mock: 'mail' as const }];
  service = await TestLambdaService.start({
    outbound: { crm: 'catch', crmAddress: () => undefined, portRoutes: () => portRoutes },
  });
});
afterAll(async () => {
  await service.stop();
  mock.close();
});
beforeEach(async () => {
  receivedLines.length = 0;
  await service.setOutboundRules();
});

/** A lambda that connects, sends a line after the greeting, and returns all that it received. */
const talk = (connect: string, next = "socket.end('EHLO')"): string => `exports.run = () => new Promise((resolve) => {
  const texts = [];
  const socket = ${connect};
  socket.on('error', (error) => resolve('error ' + error.message));
  socket.on('data', (bytes) => { texts.push(String(bytes)); if (texts.length === 1) { ${next} } else if (texts.length === 2) resolve(texts.join(', ')); });
})`;

describe('a connection to a port that a mock receives', () => {
  it.each([
    ["require('net').connect(25, 'smtp.example')", 'tcp://smtp.example:25'],
    ["require('net').connect({ host: '192.0.2.1', port: 2525 })", 'tcp://192.0.2.1:2525'],
    ["require('tls').connect(2525, 'smtp.example')", 'tls://smtp.example:2525'],
  ])('by %s reaches the mock and is recorded', async (connect, url) => {
    const invocation = await service.run(talk(connect));
    expect(resultOf(invocation)).toBe('220 mock, got EHLO');
    expect(receivedLines).toEqual(['EHLO']);
    expect(invocation.outbound).toMatchObject([
      { method: url.slice(0, 3).toUpperCase(), url, caughtBy: 'mail', connection: { sentBytes: 4 } },
    ]);
  });

  it('reaches the mock at a name that does not exist and was looked up before, and nothing at other ports', async () => {
    const code = (port: number) => `exports.run = async () => {
      const [address] = await require('dns').promises.resolve4('SMTP.missing.invalid.');
      return await new Promise((resolve) => {
        const socket = require('net').connect(${port}, address);
        socket.on('error', ({ message }) => resolve(message)).on('data', (bytes) => resolve(String(bytes)));
      });
    }`;
    const invocation = await service.run(code(25));
    expect(resultOf(invocation)).toBe('220 mock');
    expect(invocation.outbound).toMatchObject([{ url: 'tcp://smtp.missing.invalid:25', caughtBy: 'mail' }]);
    const other = resultOf(await service.run(code(5432)));
    expect(other).toMatch(/^getaddrinfo ENOTFOUND smtp.missing.invalid [(]the host name does not exist/);
    await service.setOutboundRules({ host: '*', action: 'pass' });
    expect(resultOf(await service.run(code(25)))).toMatch(/^getaddrinfo ENOTFOUND smtp.missing.invalid/);
  });

  it('fails as without a mock when a client looks up one address where several are to be returned', async () => {
    const code = `exports.run = () => new Promise((resolve) => require('net').connect({
      host: 'shop.example', port: 443, autoSelectFamily: true, lookup: (name, options, done) => done(null, '127.0.0.1', 4),
    }).on('error', ({ code }) => resolve(code)))`;
    expect(resultOf(await service.run(code))).toBe('ERR_INVALID_IP_ADDRESS');
  });

  it.each([true, false])(
    'does not take the place of a host that a client looks up while it connects (autoSelectFamily: %s)',
    async (autoSelectFamily) => {
      const code = `exports.run = () => new Promise((resolve) => require('net').connect({
      host: 'shop.missing.invalid', port: 443, autoSelectFamily: ${autoSelectFamily},
      lookup: (name, { all }, done) => require('dns').resolve4(name, (error, [address]) => all ? done(error, [{ address, family: 4 }]) : done(error, address, 4)),
    }).on('error', ({ code, message }) => resolve(code + ': ' + message)))`;
      const invocation = await service.run(code);
      const error = expect.stringMatching(/getaddrinfo ENOTFOUND shop.missing.invalid [(]the host name does not exist/);
      expect(resultOf(invocation)).toEqual(error);
      expect(invocation.outbound).toMatchObject([{ url: 'tcp://shop.missing.invalid:443', error }]);
    },
  );

  it('at a name of this machine that DNS does not know is left to the usual lookup', async () => {
    const code = `exports.run = async () => String(await require('dns').promises.resolve4('localhost').catch(({ code }) => code))`;
    expect(resultOf(await service.run(code))).toMatch(/^(127\.0\.0\.1|E[A-Z]+)$/);
  });

  it('can start TLS, which trusts the certificate of the mock', async () => {
    const next = `socket.write('STARTTLS'); socket.removeAllListeners('data'); socket.once('data', () => {
      const secure = require('tls').connect({ socket, servername: 'smtp.example' }, () => secure.write('secret'));
      secure.on('data', (bytes) => resolve(secure.authorized + ' ' + bytes)).on('error', (error) => resolve('error ' + error.message));
    })`;
    const invocation = await service.run(talk("require('net').connect(25, 'smtp.example')", next));
    expect(resultOf(invocation)).toBe('true got secret');
    expect(receivedLines).toEqual(['STARTTLS', 'secret']);
    expect(invocation.outbound).toMatchObject([{ url: 'tcp://smtp.example:25', caughtBy: 'mail' }]);
  });

  it('is in the record of each invocation that uses it, also once it has started TLS', async () => {
    const id = service.lambda(`let secure;
      const reply = (socket, line) => new Promise((resolve) => { socket.once('data', resolve); if (line) socket.write(line); });
      exports.run = async () => {
        if (!secure) {
          const socket = require('net').connect(25, 'smtp.example');
          await reply(socket);
          await reply(socket, 'STARTTLS');
          secure = require('tls').connect({ socket });
        }
        await reply(secure, 'EHLO me\\r\\n');
      }`);
    for (const count of [1, 2, 3]) {
      const { outbound } = await service.invoke(id);
      expect([count, outbound]).toMatchObject([count, [{ url: 'tcp://smtp.example:25', caughtBy: 'mail' }]]);
    }
  });

  it('follows the first rule that matches', async () => {
    const code = talk("require('net').connect(25, 'smtp.example')");
    await service.setOutboundRules({ host: 'smtp.example', action: 'block' });
    expect(resultOf(await service.run(code))).toMatch(
      /^error connect ECONNREFUSED smtp.example:25 \(outbound rule: block/,
    );
    await service.setOutboundRules({ host: 'smtp.example', action: 'delay', delayMs: 1 });
    expect(resultOf(await service.run(code))).toBe('220 mock, got EHLO');
  });

  it.each([{ action: 'fail', status: 503 } as const, { action: 'answer', body: 'x' } as const])(
    'fails at once, and says why, when a rule has only a response in HTTP: %j',
    async (rule) => {
      await service.setOutboundRules({ host: 'smtp.example', ...rule });
      for (const module of ['net', 'tls']) {
        const result = resultOf(await service.run(talk(`require('${module}').connect(25, 'smtp.example')`)));
        expect(result).toMatch(/^error connect ECONNREFUSED smtp.example:25 .* is in HTTP, .*block/);
      }
    },
  );

  it.each(['localhost', '127.0.0.1', '::1'])(
    'of %s goes to that port, on which the developer may have a server',
    async (host) => {
      expect(resultOf(await service.run(talk(`require('net').connect(25, '${host}')`)))).toMatch(/^error /);
      expect(receivedLines).toEqual([]);
    },
  );
});
